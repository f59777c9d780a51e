// Nodes of values in their table, isolated per tenant like all tables. A read is one round trip, however many nodes it asks for.

import { Buffer } from 'node:buffer'
import type { Values } from '../../ports/values.ts'
import type { Database } from './database.ts'

// Encoded as hex, because the server's own output format is a setting that a login may have changed. A range in key order, which only the
// unique index offers.
export const get = `
  select encode(t.body, 'hex') from generate_series(1, length($1::bytea) / 32) as a (n)
  cross join lateral (select substring($1::bytea from a.n * 32 - 31 for 32) as ref offset 0) w
  left join lateral (select b.body from inkfast.nodes b where b.ref between w.ref and w.ref order by b.ref limit 1) t on true
  order by a.n`

export const values = (db: Database): Values => ({
  get: async (tenant, refs) => {
    const [rows = []] = await db.read(tenant, { text: get, values: [Buffer.concat(refs)], prepared: true })
    return rows.map(([digits]) => (digits === null || digits === undefined ? undefined : new Uint8Array(Buffer.from(digits, 'hex'))))
  },
})
