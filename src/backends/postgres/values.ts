// Nodes of values in their table, isolated per tenant like all tables. A read is one round trip, however many nodes it asks for.

import { Buffer } from 'node:buffer'
import type { TenantId } from '../../model/ids.ts'
import type { Values } from '../../ports/values.ts'
import { numbers } from './arrays.ts'
import type { Cells, Step } from './connections.ts'
import type { Database } from './database.ts'
import { unpackNode } from './node-codec.ts'

// Bytes are encoded as hex, because the server's own output format is a setting that a login may have changed. A range in key order, which
// only the unique index offers.
export const get = `
  select encode(t.body, 'hex') from generate_series(1, length($1::bytea) / 32) as a (n)
  cross join lateral (select substring($1::bytea from a.n * 32 - 31 for 32) as ref offset 0) w
  left join lateral (select b.body from inkfast.nodes b where b.ref between w.ref and w.ref order by b.ref limit 1) t on true
  order by a.n`
const scan = `
  select n.id, encode(n.ref, 'hex'), greatest(n.at, m.at), length(n.body)
  from (select id, ref, at, body from inkfast.nodes where id <= $1 order by id desc limit $2) n
  left join lateral (select m.at from inkfast.named_nodes m where m.ref between n.ref and n.ref order by m.ref limit 1) m on true
  order by n.id desc`
const references = 'select seq, ref from inkfast.refs where (seq, ref) > ($1, $2) order by seq, ref limit $3'
// Commits of a tenant wait for each other at its head, and a collection waits there too.
const lock = 'select 1 from inkfast.heads for update'
const begin = `
  insert into inkfast.collections as t (tenant, number, top, active)
  select inkfast.tenant(), 1, coalesce((select max(id) from inkfast.nodes), 0), 1
  on conflict (tenant) do update set number = t.number + 1, top = excluded.top, active = 1
  returning t.number, t.top`
const end = 'update inkfast.collections set active = 0 where number = $1'
const named = `select encode(ref, 'hex') from inkfast.named_nodes where number = $1`
const state = `
  select coalesce((select case when active = 1 then number end from inkfast.collections), -1),
    (select count(*) from inkfast.named_nodes where number = $1)`
const held = `(select number from inkfast.collections where active = 1) = $1
  and (select count(*) from inkfast.named_nodes where number = $1) = $2`
const unname = `delete from inkfast.named_nodes m using inkfast.nodes n where m.ref = n.ref and n.id = any ($3::bigint[]) and ${held}`
const remove = `delete from inkfast.nodes n where n.id = any ($3::bigint[]) and ${held}`

export function values(db: Database): Values {
  const change = async (tenant: TenantId, ...steps: readonly Step[]): Promise<readonly (readonly Cells[])[]> => {
    db.checkWritable()
    return db.run([db.enter(db.wall.tenant(tenant)), { text: lock, prepared: true }, ...steps], 'writing')
  }
  return {
    get: async (tenant, refs) => {
      const [rows = []] = await db.read(tenant, { text: get, values: [Buffer.concat(refs)], prepared: true })
      return rows.map(([digits]) => (typeof digits === 'string' ? unpackNode(bytesOf(digits)) : undefined))
    },
    scan: async (tenant, upTo, limit) => {
      const [rows = []] = await db.read(tenant, { text: scan, values: [upTo, limit], prepared: true })
      return rows.map(([id, ref, at, bytes]) => ({ id: Number(id), ref: bytesOf(ref as string), at: Number(at), bytes: Number(bytes) }))
    },
    references: async (tenant, after, limit) => {
      const [rows = []] = await db.read(tenant, { text: references, values: [after?.seq ?? 0, after?.ref ?? '', limit], prepared: true })
      return rows.map(([seq, ref]) => ({ seq: Number(seq), ref: ref as string }))
    },
    begin: async (tenant) => {
      const [number, top] = (await change(tenant, { text: begin }))[2]?.[0] ?? []
      return { number: Number(number), top: Number(top) }
    },
    named: async (tenant, number) => {
      const [rows = []] = await db.read(tenant, { text: named, values: [number], prepared: true })
      return rows.map(([ref]) => bytesOf(ref as string))
    },
    remove: async (tenant, number, ids, seen) => {
      const list = numbers(ids)
      const results = await change(
        tenant,
        { text: state, values: [number] },
        { text: unname, values: [number, seen, list] },
        { text: remove, values: [number, seen, list] },
      )
      const [current, count] = results[2]?.[0] ?? []
      if (Number(current) !== number) return 'replaced'
      return Number(count) === seen ? 'removed' : 'named'
    },
    end: async (tenant, number) => void (await change(tenant, { text: end, values: [number] })),
  }
}

const bytesOf = (digits: string): Uint8Array => new Uint8Array(Buffer.from(digits, 'hex'))
