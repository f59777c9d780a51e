// A store with many tenants, written with SQL: through the API a million of them would take hours. Each has a head and one item, most of them
// due in the far future.

import { DatabaseSync } from 'node:sqlite'
import { query } from '../../test/support/postgres-database.ts'

/** The queue of the items. */
export const QUEUE = 'busy'
/** How many items are due now. */
export const DUE_NOW = 100
const AHEAD_MS = 1000 * 3_600_000

export function fillFile(path: string, tenants: number): void {
  const db = new DatabaseSync(path)
  const numbered = `with recursive n (n) as (select 1 union all select n + 1 from n where n < ${tenants})`
  db.exec(`
    pragma synchronous = off; begin;
    ${numbered} insert into heads (tenant, seq, hash) select format('t%07d', n), 1, zeroblob(32) from n;
    ${numbered} insert into work (tenant, id, born, revision, queue, state, priority, at, body)
    select format('t%07d', n), 'i', 1, 1, '${QUEUE}', 'ready', 0, iif(n <= ${DUE_NOW}, n, ${Date.now() + AHEAD_MS} + n), '{}' from n;
    commit; pragma wal_checkpoint(truncate)`)
  db.close()
}

export async function fillDatabase(url: string, tenants: number): Promise<void> {
  const id = `'t' || lpad(n::text, 7, '0')`
  await query(url, `insert into inkfast.heads (tenant, seq, hash) select ${id}, 1, '' from generate_series(1, ${tenants}) n`)
  await query(
    url,
    `insert into inkfast.work (tenant, id, born, revision, queue, state, priority, at, body)
    select ${id}, 'i', 1, 1, '${QUEUE}', 'ready', 0, case when n <= ${DUE_NOW} then n else ${Date.now() + AHEAD_MS} + n end, '{}'
    from generate_series(1, ${tenants}) n`,
  )
  await query(url, 'vacuum')
}
