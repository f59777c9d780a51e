// Blobs in their own tables, isolated per tenant like all tables: a row for each, and their pieces. Each call is one round trip. The server
// deletes a row and its pieces together, so no blob is ever `deleting` here: a put waits for the deletion, and then stores the bytes again.

import { Buffer } from 'node:buffer'
import { randomUUID } from 'node:crypto'
import { BLOB_NAMED_AGAIN_MS, type BlobState, checkDigest } from '../../model/blob.ts'
import { refuse } from '../../model/errors.ts'
import type { TenantId } from '../../model/ids.ts'
import type { Blobs } from '../../ports/blobs.ts'
import type { ProcessMark } from '../../ports/environment.ts'
import { texts } from './arrays.ts'
import { decodePiece, encodePiece } from './codec.ts'
import type { Cells, Step } from './connections.ts'
import type { Database } from './database.ts'

// A blob that is there already is named again, if the last time is long ago or a collection runs. Pieces are found by their place, which is
// new for every put: only the put that made the row adds pieces to it.
const enter = (from: string): string => `
  insert into inkfast.blobs as t (tenant, digest, bytes, stored, storage, place, state, at, number)
  select $1::text, $2::text, $3::bigint, $4::bigint, 'database', $5::text, 'present', inkfast.now_v1(),
    coalesce((select number from inkfast.collections where active = 1), 0) ${from}
  on conflict (tenant, digest) do update set state = 'present', at = excluded.at,
    number = case when excluded.number > 0 then excluded.number else t.number end
  where t.state <> 'present' or excluded.at - t.at > ${BLOB_NAMED_AGAIN_MS} or (excluded.number > 0 and t.number <> excluded.number)
  returning t.place`
const put = `
  with b as (${enter('')})
  insert into inkfast.blob_pieces (tenant, place, n, codec, sha256, start, size, at, body)
  select $1, $5, 0, $6::text, decode($2, 'hex'), 0, $4, inkfast.now_v1(), $7::bytea from b where b.place = $5
  on conflict (tenant, place, n) do nothing`
const addPiece = (from: string): string => `
  insert into inkfast.blob_pieces (tenant, place, n, codec, sha256, start, size, at, body)
  select $1::text, $2::text, $3::bigint, $4::text, $5::bytea, 0, $6::bigint, inkfast.now_v1(), $7::bytea ${from}
  on conflict (tenant, place, n) do nothing`
// An upload has a note of who is uploading, as piece -1, until it is finished. `finish` and `sweep` both delete it first, so that one of them waits
// for the other and then finds it gone. Pieces that a dying process sent are not added behind a sweep.
const addFirst = `
  with note as (
    insert into inkfast.blob_pieces (tenant, place, n, codec, sha256, start, size, at, body)
    values ($1::text, $2::text, -1, 'mark', '', 0, 0, inkfast.now_v1(), $8::bytea)
    on conflict (tenant, place, n) do nothing
  )
  ${addPiece('')}`
const addNext = addPiece('where exists (select from inkfast.blob_pieces where place = $2 and n = -1)')
const place = `(select t.place from inkfast.blobs t where t.digest between $2 and $2 order by t.digest limit 1)`
// The pieces are dropped if another put was first; a finish that is sent again finds its own row and leaves them.
const finish = `
  with note as (delete from inkfast.blob_pieces where place = $5 and n = -1 returning place),
  b as (${enter('where exists (select from note) and (select count(*) from inkfast.blob_pieces where place = $5 and n >= 0) = $6::bigint')})
  delete from inkfast.blob_pieces p
  where p.place = $5 and p.n >= 0 and not exists (select from b where b.place = $5) and ${place} is distinct from $5`
const abandon = 'delete from inkfast.blob_pieces where place = $1'
// Bytes are encoded as hex, because the server's own output format is a setting that a login may have changed. A range in key order, which
// only the primary key offers.
export const get = `
  select encode(p.body, 'hex'), encode(p.sha256, 'hex'), p.codec, b.bytes
  from (select b.place, b.bytes from inkfast.blobs b where b.digest between $1 and $1 order by b.digest limit 1) b
  cross join lateral (
    select p.body, p.sha256, p.codec from inkfast.blob_pieces p
    where p.place between b.place and b.place and p.n between $2 and $2 order by p.place, p.n limit 1
  ) p`
export const has = `
  select b.digest is not null from unnest($1::text[]) with ordinality as a (digest, n)
  left join lateral (select b.digest from inkfast.blobs b where b.digest between a.digest and a.digest order by b.digest limit 1) b on true
  order by a.n`
const list = 'select digest, bytes, stored, state, at from inkfast.blobs where digest > $1 order by digest limit $2'
// Commits of a tenant wait for each other at its head, and a collection waits there too.
const lock = 'select 1 from inkfast.heads for update'
const state = `
  select coalesce((select case when active = 1 then number end from inkfast.collections), -1),
    (select count(*) from inkfast.named_nodes where number = $1)`
const collecting = '(select number from inkfast.collections where active = 1) = $1'
const condemn = `
  update inkfast.blobs set state = 'condemned'
  where digest = any ($3::text[]) and state = 'present' and number <> $1 and at < $4::bigint
    and ${collecting} and (select count(*) from inkfast.named_nodes where number = $1) = $2`
const remove = `
  with gone as (
    delete from inkfast.blobs where digest = any ($2::text[]) and state = 'condemned' and ${collecting} returning digest, place
  ), pieces as (
    delete from inkfast.blob_pieces p using gone where p.place = gone.place
  )
  select digest from gone`
const unfinished = `
  select p.place, max(case when p.n = -1 then encode(p.body, 'hex') end), max(p.at) < inkfast.now_v1() - $1::bigint
  from inkfast.blob_pieces p left join inkfast.blobs b on b.place = p.place
  group by p.place having count(b.place) = 0`
const sweep = `
  with note as (
    delete from inkfast.blob_pieces where place = any ($1::text[]) and n = -1 returning place
  ), gone as (
    delete from inkfast.blob_pieces where n >= 0 and (place in (select place from note) or place = any ($2::text[])) returning size
  )
  select coalesce(sum(size), 0) from gone`

export function blobs(db: Database, { durable }: { readonly durable: boolean }): Blobs {
  const flushed = { text: `select pg_catalog.set_config('synchronous_commit', '${durable ? 'on' : 'off'}', true)`, prepared: true }
  // Every write is idempotent, so it is retried like a read.
  const write = async (tenant: TenantId, ...steps: readonly Step[]): Promise<readonly (readonly Cells[])[]> => {
    db.checkWritable()
    const results = await db.run(
      [db.enter(db.wall.tenant(tenant)), flushed, ...steps.map((step) => ({ ...step, prepared: true }))],
      'reading',
    )
    return results.slice(2)
  }
  const collect = async (tenant: TenantId, ...steps: readonly Step[]): Promise<readonly (readonly Cells[])[]> => {
    db.checkWritable()
    return db.run([db.enter(db.wall.tenant(tenant)), { text: lock, prepared: true }, ...steps], 'writing')
  }
  return {
    put: async (tenant, digest, bytes, { compress = false } = {}) => {
      checkDigest(digest)
      const { codec, body } = await encodePiece(bytes, compress)
      await write(tenant, { text: put, values: [tenant, digest, bytes.length, body.length, randomUUID(), codec, body] })
    },
    write: async (tenant, { compress = false } = {}, mark) => {
      await db.read(tenant)
      db.checkWritable()
      const own = randomUUID()
      let [count, plain, stored] = [0, 0, 0]
      return {
        add: async (bytes, sha256) => {
          const { codec, body } = await encodePiece(bytes, compress)
          const piece = [tenant, own, count, codec, sha256, body.length, body]
          await write(
            tenant,
            count === 0
              ? { text: addFirst, values: [...piece, Buffer.from(JSON.stringify(mark ?? null))] }
              : { text: addNext, values: piece },
          )
          count++
          plain += bytes.length
          stored += body.length
        },
        finish: async (digest) => {
          checkDigest(digest)
          const [, found] = await write(
            tenant,
            { text: finish, values: [tenant, digest, plain, stored, own, count] },
            { text: has, values: [texts([digest])] },
          )
          if (found?.[0]?.[0] !== 't') throw refuse('BLOB_UNKNOWN', { digest, tenant })
        },
        abandon: async () => void (await write(tenant, { text: abandon, values: [own] })),
      }
    },
    get: async (tenant, digest, n) => {
      checkDigest(digest)
      const [rows] = await db.read(tenant, { text: get, values: [digest, n], prepared: true })
      const [body, sha256, codec, bytes] = rows?.[0] ?? []
      if (typeof body !== 'string') return undefined
      return { body: await decodePiece(codec as string, bytesOf(body)), sha256: bytesOf(sha256 as string), bytes: Number(bytes) }
    },
    has: async (tenant, digests) => {
      for (const digest of digests) checkDigest(digest)
      const [rows = []] = await db.read(tenant, { text: has, values: [texts(digests)], prepared: true })
      return rows.map(([there]) => there === 't')
    },
    list: async (tenant, after, limit) => {
      const [rows = []] = await db.read(tenant, { text: list, values: [after ?? '', limit], prepared: true })
      return rows.map(([digest, bytes, stored, found, at]) => ({
        digest: digest as string,
        bytes: Number(bytes),
        stored: Number(stored),
        state: found as BlobState,
        at: Number(at),
      }))
    },
    condemn: async ({ tenant, number, digests, before, seen }) => {
      const last = Math.min(before, Number.MAX_SAFE_INTEGER)
      const results = await collect(
        tenant,
        { text: state, values: [number] },
        { text: condemn, values: [number, seen, texts(digests), last] },
      )
      const [current, count] = results[2]?.[0] ?? []
      if (Number(current) !== number) return 'replaced'
      return Number(count) === seen ? 'condemned' : 'named'
    },
    remove: async (tenant, number, digests) => {
      const results = await collect(tenant, { text: state, values: [number] }, { text: remove, values: [number, texts(digests)] })
      if (Number(results[2]?.[0]?.[0]) !== number) return 'replaced'
      return (results[3] ?? []).map(([digest]) => digest as string)
    },
    sweep: async (tenant, quietMs, fateOf = () => 'unknown') => {
      db.checkWritable()
      const [uploads = []] = await db.read(tenant, { text: unfinished, values: [quietMs] })
      const [begun, bare]: [string[], string[]] = [[], []]
      for (const [place, note, quiet] of uploads) {
        const mark = typeof note === 'string' ? markOf(note) : undefined
        const fate = mark ? fateOf(mark) : 'unknown'
        // Pieces without a note were added behind a sweep, or their first one never was: nobody can finish them.
        if (note === null) bare.push(place as string)
        else if (fate === 'gone' || (fate === 'unknown' && quiet === 't')) begun.push(place as string)
      }
      if (begun.length + bare.length === 0) return 0
      const results = await collect(tenant, { text: sweep, values: [texts(begun), texts(bare)] })
      return Number(results[2]?.[0]?.[0])
    },
  }
}

/** Undefined if the process had none, or its note cannot be read. */
function markOf(note: string): ProcessMark | undefined {
  try {
    const mark: unknown = JSON.parse(Buffer.from(note, 'hex').toString())
    return typeof mark === 'object' && mark !== null ? (mark as ProcessMark) : undefined
  } catch {
    return undefined
  }
}

/** Decodes into a new buffer with a native call. */
function bytesOf(digits: string): Uint8Array {
  const bytes = new Uint8Array(digits.length / 2)
  Buffer.from(bytes.buffer).write(digits, 'hex')
  return bytes
}
