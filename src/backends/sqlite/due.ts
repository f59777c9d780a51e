// The table `due`: the stored time of each queue in each tenant, which triggers lower and only `raiseDue` raises.

import type { StoredDue } from '../../model/due.ts'
import type { TenantId } from '../../model/ids.ts'
import type { DueTenant } from '../../model/queries.ts'
import { isTenantState } from '../../model/tenant.ts'
import type { Database } from './database.ts'

const firstItem = (tenant: string, queue: string): string =>
  `(select w.at from work as w indexed by work_by_due where w.tenant = ${tenant} and w.queue = ${queue} and w.at is not null order by w.at limit 1)`
// A tenant with an unknown state is left out; reading it reports the damage.
const storedDue = `
  select d.tenant, d.at, case when (select h.state from heads as h where h.tenant = d.tenant) = 'active' then
    ${firstItem('d.tenant', 'd.queue')} end as next
  from due as d indexed by due_by_time
  where d.queue = ? and (d.at, d.tenant) > (?, ?) order by d.at, d.tenant limit ?`
const firstOf = `select h.state, ${firstItem('h.tenant', '?2')} as at from heads as h where h.tenant = ?1`
const raise = 'update due set at = ?3 where tenant = ?1 and queue = ?2 and at <> ?3'
const drop = 'delete from due where tenant = ? and queue = ?'

const clear = 'delete from due where tenant = ?'
const remake = `
  insert into due (tenant, queue, at) select tenant, queue, min(at) from main.work indexed by work_by_due
  where tenant = ? and queue is not null and at is not null group by queue`

/** Exported for their tests. */
export const dueStatements = { storedDue, firstOf, raise, drop } as const

export const readDue = (db: Database, queue: string, after: Pick<DueTenant, 'at' | 'tenant'>, limit: number): readonly StoredDue[] =>
  db.all(storedDue, queue, after.at, after.tenant, limit).map((row) => ({
    tenant: row.tenant as TenantId,
    at: row.at as number,
    next: (row.next as number | null) ?? undefined,
  }))

/** Inside a write transaction, so that no item comes between the look and the write. */
export function raiseDue(db: Database, queue: string, tenants: readonly TenantId[]): void {
  for (const tenant of tenants) {
    const first = db.get(firstOf, tenant, queue)
    if (!isTenantState(first?.state)) continue
    if (first.state === 'active' && first.at !== null) db.run(raise, tenant, queue, first.at as number)
    else db.run(drop, tenant, queue)
  }
}

/** Inside a write transaction, too. */
export function remakeDue(db: Database, tenant: TenantId): void {
  db.run(clear, tenant)
  db.run(remake, tenant)
}
