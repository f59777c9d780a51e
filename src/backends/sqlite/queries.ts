// The named queries of model/queries.ts: one statement each, or a few in a loop.

import { findDue } from '../../model/due.ts'
import type { TenantId } from '../../model/ids.ts'
import { compareText } from '../../model/order.ts'
import type { DueTenant, Queries } from '../../model/queries.ts'
import type { Database } from './database.ts'
import { raiseDue, readDue } from './due.ts'
import { ifActive } from './heads.ts'
import { toStored } from './rows.ts'
import { reading } from './transaction.ts'

const usage = `
  select type, count(*) as events, coalesce(sum(octet_length(payload)), 0) as bytes, count(*) - count(payload) as erased
  from events where tenant = ? group by type order by bytes desc, type`

const STORED = 'w.id, w.born, w.revision, w.fence, w.body'
// All earlier items of its series are dead. Checked for every item returned, whatever its mark says.
const HEAD_OF_SERIES = `
    (w.series is null or (
      select e.id from work as e indexed by work_by_series
      where e.tenant = w.tenant and e.series = w.series and (e.born, e.id) < (w.born, w.id) and e.state is not 'dead'
      order by e.born, e.id limit 1) is null)`
const nextPriority = `
  select max(w.priority) as priority from work as w indexed by work_by_turn
  where w.tenant = ? and w.queue = ? and w.state = 'ready' and w.behind = 0 and w.priority < ?`
const readyOf = `
  select ${STORED}, w.priority, w.at from work as w indexed by work_by_turn
  where w.tenant = ? and w.queue = ? and w.state = 'ready' and w.behind = 0 and w.priority = ? and w.at <= ? and ${HEAD_OF_SERIES}
  order by w.at, w.born, w.id limit ?`
// There are only as many claims as workers, so they are checked one by one.
const lapsed = `
  select ${STORED}, w.priority, w.at from work as w indexed by work_by_ready
  where w.tenant = ?1 and w.queue = ?2 and w.state = 'claimed' and w.priority is not null and w.at <= ?3
    and not exists (select 1 from renewals as r where r.tenant = w.tenant and r.id = w.id and r.fence = w.fence and r.until > ?3)
    and ${HEAD_OF_SERIES}`
const nextTime = `
  select min(w.at) as at from work as w indexed by work_by_due where w.tenant = ? and w.queue = ? and w.at > ?`
const backlogs = `
  select queue,
    count(*) filter (where state = 'ready' and coalesce(at, 0) <= ?2) as ready, count(*) filter (where state = 'ready' and at > ?2) as delayed,
    count(*) filter (where state = 'claimed') as claimed, count(*) filter (where state = 'asleep') as asleep,
    count(*) filter (where state = 'dead') as dead
  from work indexed by work_by_ready where tenant = ?1 and queue is not null group by queue order by queue`

// Seeks from one name of a queue to the next, and to the earliest time in each: items are never scanned.
const overdueQueues = `
  with recursive names (queue) as (
    select min(w.queue) from work as w indexed by work_by_due where w.tenant = ?1 and w.queue is not null
    union all
    select (select min(w.queue) from work as w indexed by work_by_due where w.tenant = ?1 and w.queue > names.queue)
    from names where names.queue is not null
  ),
  found as (
    select queue, (
      select min(w.at) from work as w indexed by work_by_due where w.tenant = ?1 and w.queue = names.queue and w.at is not null
    ) as at
    from names where queue is not null
  )
  select queue, at from found where at <= ?2 limit ?3`

/** Exported for their tests. */
export const workStatements = { nextPriority, readyOf, lapsed, nextTime, backlogs, overdueQueues } as const

type Found = ReturnType<Database['all']>[number]

export interface QueryParts {
  readonly db: Database
  readonly now: () => number
  /** Runs inside a write transaction, once it has the write lock. */
  readonly write: (work: () => void) => Promise<void>
}

export function queries({ db, now, write }: QueryParts): Queries {
  const readyRows = (tenant: TenantId, queue: string, at: number, limit: number): readonly Found[] => {
    const found: Found[] = [...db.all(lapsed, tenant, queue, at)]
    // One seek per existing priority; items that are not due are never scanned.
    for (let below = Infinity, count = 0; count < limit; ) {
      const priority = db.get(nextPriority, tenant, queue, below)?.priority as number | null | undefined
      if (priority === null || priority === undefined) break
      const level = db.all(readyOf, tenant, queue, priority, at, limit)
      found.push(...level)
      count += level.length
      below = priority
    }
    return found.sort(inOrder).slice(0, limit)
  }

  return {
    usageByType: (tenant) =>
      reading(db, () =>
        ifActive(db, tenant as TenantId, () =>
          db.all(usage, tenant).map((row) => ({
            type: row.type as string,
            events: row.events as number,
            bytes: row.bytes as number,
            erased: row.erased as number,
          })),
        ),
      ),
    due: (queue, limit) => {
      const raise = async (early: readonly TenantId[]) => {
        await write(() => raiseDue(db, queue, early))
        // Other tasks run before the next thousand tenants.
        await new Promise((resolve) => setImmediate(resolve))
      }
      const read = (after: Pick<DueTenant, 'at' | 'tenant'>, most: number) => reading(db, () => readDue(db, queue, after, most))
      return findDue({ read, raise: db.readOnly ? undefined : raise }, limit)
    },
    ready: (tenant, queue, limit) =>
      reading(db, () =>
        ifActive(db, tenant, () => {
          const at = now()
          const next = db.get(nextTime, tenant, queue, at)?.at as number | null | undefined
          return { now: at, rows: readyRows(tenant, queue, at, limit).map(toStored), ...(typeof next === 'number' && { next }) }
        }),
      ),
    overdue: (tenant, ms, limit) =>
      reading(db, () =>
        ifActive(db, tenant, () =>
          db.all(overdueQueues, tenant, now() - ms, limit).map((row) => ({ queue: row.queue as string, at: row.at as number })),
        ),
      ),
    backlog: (tenant) =>
      reading(db, () =>
        ifActive(db, tenant, () =>
          db.all(backlogs, tenant, now()).map((row) => ({
            queue: row.queue as string,
            ready: row.ready as number,
            delayed: row.delayed as number,
            claimed: row.claimed as number,
            asleep: row.asleep as number,
            dead: row.dead as number,
          })),
        ),
      ),
  }
}

const inOrder = (a: Found, b: Found): number =>
  (b.priority as number) - (a.priority as number) ||
  (a.at as number) - (b.at as number) ||
  (a.born as number) - (b.born as number) ||
  compareText(a.id as string, b.id as string)
