// Nodes of values in their table, and what a garbage collection needs to know of them.

import type { TenantId } from '../../model/ids.ts'
import { checkActive } from '../../model/tenant.ts'
import { NAMED_AGAIN_MS } from '../../model/value.ts'
import type { Commit } from '../../ports/commit.ts'
import type { Values } from '../../ports/values.ts'
import type { Database } from './database.ts'
import { ifActive, readHead } from './heads.ts'
import { packNode, unpackNode } from './node-codec.ts'
import { reading } from './transaction.ts'

/** The index has the first bytes of a ref only, which is enough to find its row. */
const isNode = 'tenant = ?1 and substr(ref, 1, 8) = substr(?2, 1, 8) and ref = ?2'
const getNode = `select body from nodes where ${isNode}`
const hasNode = `select 1 from nodes where ${isNode}`
// Ids grow, also after a collection has removed the newest nodes.
const addNode = `
  insert into nodes (id, tenant, ref, at, body)
  values (
    1 + max(coalesce((select max(id) from nodes), 0), coalesce((select top from collections where tenant = ?1), 0)), ?1, ?2, ?3, ?4)`
const scanNodes = `
  select n.id, n.ref, max(n.at, coalesce(m.at, 0)) as at, length(n.body) as bytes
  from nodes n left join named_nodes m on m.tenant = n.tenant and m.ref = n.ref
  where n.tenant = ? and n.id <= ? order by n.id desc limit ?`
const scanReferences = 'select seq, ref from refs where tenant = ? and (seq, ref) > (?, ?) order by seq, ref limit ?'
const collectionOf = 'select number, top, active from collections where tenant = ?'
const beginCollection = `
  insert into collections (tenant, number, top, active) values (?1, 1, (select coalesce(max(id), 0) from nodes where tenant = ?1), 1)
  on conflict (tenant) do update set number = number + 1, top = excluded.top, active = 1`
const endCollection = 'update collections set active = 0 where tenant = ? and number = ?'
const nameNode = `
  insert into named_nodes (tenant, ref, at, number)
  select n.tenant, n.ref, ?3, case when c.active then c.number else 0 end
  from nodes n left join collections c on c.tenant = n.tenant left join named_nodes m on m.tenant = n.tenant and m.ref = n.ref
  where n.tenant = ?1 and substr(n.ref, 1, 8) = substr(?2, 1, 8) and n.ref = ?2
    and case when c.active and n.id <= c.top then m.number is not c.number else ?3 - max(n.at, coalesce(m.at, 0)) > ${NAMED_AGAIN_MS} end
  on conflict (tenant, ref) do update set at = excluded.at, number = excluded.number`
const namedNodes = 'select ref from named_nodes where tenant = ? and number = ?'
const countNamed = 'select count(*) as count from named_nodes where tenant = ? and number = ?'
const unname = 'delete from named_nodes where tenant = ?1 and ref = (select ref from nodes where tenant = ?1 and id = ?2)'
const removeNode = 'delete from nodes where tenant = ? and id = ?'

export interface ValueParts {
  readonly db: Database
  readonly write: <T>(work: () => T) => Promise<T>
}

export function values({ db, write }: ValueParts): Values {
  const read = <T>(tenant: TenantId, work: () => T): Promise<T> => reading(db, () => ifActive(db, tenant, work) as never)
  const change = async <T>(tenant: TenantId, work: () => T): Promise<T> => {
    const { state, answer } = await write(() => {
      const head = readHead(db, tenant)
      return { state: head.state, ...(head.state === 'active' && { answer: work() }) }
    })
    checkActive(tenant, state)
    return answer as T
  }
  return {
    get: async (tenant, refs) => {
      const stored = await read(tenant, () => refs.map((ref) => db.get(getNode, tenant, ref)?.body as Uint8Array | undefined))
      return stored.map((body) => body && unpackNode(body))
    },
    scan: (tenant, upTo, limit) =>
      read(tenant, () =>
        db
          .all(scanNodes, tenant, upTo, limit)
          .map((row) => ({ id: row.id as number, ref: row.ref as Uint8Array, at: row.at as number, bytes: row.bytes as number })),
      ),
    references: (tenant, after, limit) =>
      read(tenant, () =>
        db
          .all(scanReferences, tenant, after?.seq ?? 0, after?.ref ?? '', limit)
          .map((row) => ({ seq: row.seq as number, ref: row.ref as string })),
      ),
    begin: (tenant) =>
      change(tenant, () => {
        db.run(beginCollection, tenant)
        const row = db.get(collectionOf, tenant)
        return { number: row?.number as number, top: row?.top as number }
      }),
    named: (tenant, number) => read(tenant, () => db.all(namedNodes, tenant, number).map((row) => row.ref as Uint8Array)),
    remove: (tenant, number, ids, seen) =>
      change(tenant, () => {
        const row = db.get(collectionOf, tenant)
        if (row?.active !== 1 || row.number !== number) return 'replaced'
        if (db.get(countNamed, tenant, number)?.count !== seen) return 'named'
        for (const id of ids) {
          db.run(unname, tenant, id)
          db.run(removeNode, tenant, id)
        }
        return 'removed'
      }),
    end: (tenant, number) => change(tenant, () => void db.run(endCollection, tenant, number)),
  }
}

export const isThere = (db: Database, tenant: TenantId, ref: Uint8Array): boolean => db.get(hasNode, tenant, ref) !== undefined

/** Writes the nodes of a commit that are new, and notes the others it carries or names. Runs inside the caller's transaction. */
export function writeNodes(db: Database, { tenant, nodes = [], guards }: Commit, now: number): void {
  for (const { ref, body } of nodes)
    if (isThere(db, tenant, ref)) db.run(nameNode, tenant, ref, now)
    else db.run(addNode, tenant, ref, now, packNode(body))
  for (const guard of guards) if (guard.kind === 'value') db.run(nameNode, tenant, guard.ref, now)
}
