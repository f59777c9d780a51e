// The named queries of model/queries.ts, one statement each.

import { findDue, type StoredDue } from '../../model/due.ts'
import type { TenantId } from '../../model/ids.ts'
import type { Queries } from '../../model/queries.ts'
import type { Cells } from './connections.ts'
import type { Database } from './database.ts'
import { toStored } from './rows.ts'
import { STORE } from './wall.ts'

const usage = `
  select type, count(*), coalesce(sum(octet_length(payload)), 0), count(*) - count(payload)
  from inkfast.events group by type order by 3 desc, 1`
// A bigint beyond all numbers in use.
const ABOVE_ALL = '9223372036854775807::bigint'
// All earlier items of its series are dead. Checked for every item returned, whatever its mark says.
const HEAD_OF_SERIES = `(w.series is null or (
        select e.id from inkfast.work e
        where e.series = w.series and (e.born, e.id) < (w.born, w.id) and e.state is distinct from 'dead'
        order by e.series nulls first, e.born, e.id limit 1) is null)`
// One seek per existing priority, from the highest until enough items are found: items that are not due are never scanned. There are only
// as many claims as workers, so they are checked one by one. Each order exists in one index only, and each lookup is its own subquery, so
// that no plan scans a table. Every row contains the time, and a single row without an item does if nothing is ready.
export const readyWork = `
  with recursive clock as materialized (select inkfast.now_v1() as now),
  levels (priority, ids, found) as (
    select ${ABOVE_ALL}, null::text[] collate "C", 0
    union all
    select n.priority, n.ids, l.found + cardinality(n.ids)
    from levels l cross join clock c cross join lateral (
      select p.priority, array(
        select w.id from inkfast.work w
        where w.queue = $1 and w.state = 'ready' and not w.behind and w.priority = p.priority and w.at <= c.now and ${HEAD_OF_SERIES}
        order by w.at nulls first, w.born, w.id limit $2::integer) as ids
      from (
        select w.priority from inkfast.work w
        where w.queue = $1 and w.state = 'ready' and not w.behind and w.priority < l.priority
        order by w.priority desc nulls last limit 1) p
      offset 0) n
    where l.found < $2::integer
  ),
  found as (
    select w.id, w.born, w.revision, w.fence, w.body, w.priority, w.at
    from levels l cross join unnest(l.ids) i (id)
    cross join lateral (select * from inkfast.work w where w.id between i.id and i.id order by w.id limit 1) w
    union all
    select w.id, w.born, w.revision, w.fence, w.body, w.priority, w.at
    from clock c cross join lateral (
      select w.* from inkfast.work w
      where w.queue = $1 and w.state = 'claimed' and w.priority is not null and w.at <= c.now
      order by w.priority nulls first, w.at nulls first, w.born, w.id offset 0) w
    where not coalesce((
        select r.fence = w.fence and r.until > c.now from inkfast.renewals r where r.id between w.id and w.id order by r.id limit 1), false)
      and ${HEAD_OF_SERIES}
  )
  select c.now, c.next, f.id, f.born, f.revision, f.fence, f.body
  from (
    select c.now, (select w.at from inkfast.work w where w.queue = $1 and w.at > c.now order by w.at nulls first limit 1) as next
    from clock c offset 0) c
  left join lateral (select * from found order by priority desc, at, born, id limit $2::integer) f on true
  order by f.priority desc, f.at, f.born, f.id`
export const backlogs = `
  with clock as materialized (select inkfast.now_v1() as now)
  select w.queue,
    count(*) filter (where w.state = 'ready' and coalesce(w.at, 0) <= c.now), count(*) filter (where w.state = 'ready' and w.at > c.now),
    count(*) filter (where w.state = 'claimed'), count(*) filter (where w.state = 'asleep'), count(*) filter (where w.state = 'dead')
  from clock c cross join inkfast.work w where w.queue is not null group by w.queue order by w.queue nulls first`
const storedDue = 'select tenant, at, next from inkfast.due_v1($1, $2::bigint, $3, $4::integer)'
const raiseDue = 'select inkfast.raise_due_v1($1)'
// Writers of these tenants wait for each other's raise.
const RAISED_TOGETHER = 16
// A raise that is lost costs a seek.
const IN_PASSING = `select pg_catalog.set_config('synchronous_commit', 'off', true)`
// Seeks from one name of a queue to the next, and to the earliest time in each: items are never scanned.
export const overdueQueues = `
  with recursive clock as materialized (select inkfast.now_v1() as now),
  names (queue) as (
    (select w.queue from inkfast.work w where w.queue is not null order by w.queue nulls first limit 1)
    union all
    select n.queue from names m cross join lateral (
      select w.queue from inkfast.work w where w.queue > m.queue order by w.queue nulls first limit 1) n
  )
  select m.queue, f.at from clock c cross join names m
  cross join lateral (select w.at from inkfast.work w where w.queue = m.queue and w.at is not null order by w.at nulls first limit 1) f
  where f.at <= c.now - $1::bigint order by m.queue limit $2::integer`

export function queries(db: Database): Queries {
  const raise = async (queue: string, tenants: readonly TenantId[]): Promise<void> => {
    for (let from = 0; from < tenants.length; from += RAISED_TOGETHER) {
      const some = tenants.slice(from, from + RAISED_TOGETHER)
      const steps = some.flatMap((tenant) => [db.enter(db.wall.whatever(tenant)), { text: raiseDue, values: [queue], prepared: true }])
      await db.run([{ text: IN_PASSING }, ...steps], 'reading')
    }
  }
  return {
    usageByType: async (tenant) => {
      const [rows = []] = await db.read(tenant as TenantId, { text: usage })
      return rows.map(([type, events, bytes, erased]) => ({
        type: type as string,
        events: Number(events),
        bytes: Number(bytes),
        erased: Number(erased),
      }))
    },
    due: (queue, limit) =>
      findDue(
        {
          read: async ({ at, tenant }, most) => {
            const [rows = []] = await db.read(STORE, { text: storedDue, values: [queue, at, tenant, most], prepared: true })
            return rows.map(toStoredDue)
          },
          raise: db.readOnly ? undefined : (early) => raise(queue, early),
        },
        limit,
      ),
    ready: async (tenant, queue, limit) => {
      const [rows = []] = await db.readSmall(tenant, { text: readyWork, values: [queue, limit], prepared: true })
      const [now, next] = rows[0] ?? []
      return {
        now: Number(now),
        rows: rows.filter((row) => row[2] !== null).map((row) => toStored(row.slice(2))),
        ...(next !== null && next !== undefined && { next: Number(next) }),
      }
    },
    overdue: async (tenant, ms, limit) => {
      const [rows = []] = await db.readSmall(tenant, { text: overdueQueues, values: [ms, limit], prepared: true })
      return rows.map(([queue, at]) => ({ queue: queue as string, at: Number(at) }))
    },
    backlog: async (tenant) => {
      const [rows = []] = await db.read(tenant, { text: backlogs })
      return rows.map(([queue, ready, delayed, claimed, asleep, dead]) => ({
        queue: queue as string,
        ready: Number(ready),
        delayed: Number(delayed),
        claimed: Number(claimed),
        asleep: Number(asleep),
        dead: Number(dead),
      }))
    },
  }
}

const toStoredDue = ([tenant, at, next]: Cells): StoredDue => ({
  tenant: tenant as TenantId,
  at: Number(at),
  next: next === null ? undefined : Number(next),
})
