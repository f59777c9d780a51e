// Blobs in their own table, isolated per tenant like all tables. Each call is one round trip.

import { Buffer } from 'node:buffer'
import { checkDigest } from '../../model/blob.ts'
import { refuse } from '../../model/errors.ts'
import type { Blobs } from '../../ports/blobs.ts'
import { texts } from './arrays.ts'
import type { Database } from './database.ts'

const put = 'insert into inkfast.blobs (tenant, digest, bytes) values ($1, $2, $3) on conflict (tenant, digest) do nothing'
// Encoded as hex, because the server's own output format is a setting that a login may have changed. A range in key order, which only the
// primary key offers.
export const get = `select encode(b.bytes, 'hex') from inkfast.blobs b where b.digest between $1 and $1 order by b.digest limit 1`
export const has = `
  select b.digest is not null from unnest($1::text[]) with ordinality as a (digest, n)
  left join lateral (select b.digest from inkfast.blobs b where b.digest between a.digest and a.digest order by b.digest limit 1) b on true
  order by a.n`

export function blobs(db: Database, { durable }: { readonly durable: boolean }): Blobs {
  const flushed = { text: `select pg_catalog.set_config('synchronous_commit', '${durable ? 'on' : 'off'}', true)`, prepared: true }
  return {
    put: async (tenant, digest, bytes) => {
      checkDigest(digest)
      if (db.readOnly) throw refuse('DATABASE_READ_ONLY', { place: db.place, reason: 'it was opened with readOnly' })
      const steps = [db.enter(db.wall.tenant(tenant)), flushed, { text: put, values: [tenant, digest, bytes], prepared: true }]
      // A put is idempotent, so it is retried like a read.
      await db.run(steps, 'reading')
    },
    get: async (tenant, digest) => {
      checkDigest(digest)
      const [rows] = await db.read(tenant, { text: get, values: [digest], prepared: true })
      const digits = rows?.[0]?.[0]
      return typeof digits === 'string' ? bytesOf(digits) : undefined
    },
    has: async (tenant, digests) => {
      for (const digest of digests) checkDigest(digest)
      const [rows = []] = await db.read(tenant, { text: has, values: [texts(digests)], prepared: true })
      return rows.map(([there]) => there === 't')
    },
  }
}

/** Decodes into a new buffer with a native call: 64 MiB are too many to decode digit by digit. */
function bytesOf(digits: string): Uint8Array {
  const bytes = new Uint8Array(digits.length / 2)
  Buffer.from(bytes.buffer).write(digits, 'hex')
  return bytes
}
