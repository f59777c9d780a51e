// The named queries of model/queries.ts, one text each.

import type { TenantId } from '../../model/ids.ts'
import type { Queries } from '../../model/queries.ts'
import type { Database } from './database.ts'
import { toStored } from './rows.ts'
import { STORE } from './wall.ts'

const usage = `
  select type, count(*), coalesce(sum(octet_length(payload)), 0), count(*) - count(payload)
  from inkfast.events group by type order by 3 desc, 1`
// One seek for each priority that is there, so that what is not due yet is never passed over one by one. Claims are as many as there are
// workers, and are looked at one by one. The time stands in every row, and in the only one where nothing is ready.
const HEAD_OF_SERIES = `(w.series is null or not exists (
        select from inkfast.work e where e.series = w.series and e.born < w.born and e.state <> 'dead'))`
const PRIORITIES = `select w.priority from inkfast.work w where w.queue = $1 and w.state = 'ready' and w.priority is not null`
const readyWork = `
  with recursive clock as materialized (select inkfast.now_v1() as now),
  levels (priority) as (
    (${PRIORITIES} order by w.priority desc nulls last limit 1)
    union all
    select (${PRIORITIES} and w.priority < l.priority order by w.priority desc nulls last limit 1) from levels l where l.priority is not null
  ),
  found as (
    select w.* from clock c cross join levels l cross join lateral (
      select w.id, w.born, w.revision, w.fence, w.body, w.priority, w.at from inkfast.work w
      where w.queue = $1 and w.state = 'ready' and w.priority = l.priority and w.at <= c.now and ${HEAD_OF_SERIES}
      order by w.at, w.born, w.id limit $2) w
    union all
    select w.id, w.born, w.revision, w.fence, w.body, w.priority, w.at from clock c cross join inkfast.work w
    where w.queue = $1 and w.state = 'claimed' and w.priority is not null and w.at <= c.now
      and not exists (select from inkfast.renewals r where r.id = w.id and r.fence = w.fence and r.until > c.now)
      and ${HEAD_OF_SERIES}
  )
  select c.now, (select w.at from inkfast.work w where w.queue = $1 and w.at > c.now order by w.at limit 1), f.id, f.born, f.revision, f.fence, f.body
  from clock c left join lateral (select * from found order by priority desc, at, born, id limit $2) f on true
  order by f.priority desc, f.at, f.born, f.id`
const backlogs = `
  with clock as materialized (select inkfast.now_v1() as now)
  select w.queue,
    count(*) filter (where w.state = 'ready' and coalesce(w.at, 0) <= c.now), count(*) filter (where w.state = 'ready' and w.at > c.now),
    count(*) filter (where w.state = 'claimed'), count(*) filter (where w.state = 'asleep'), count(*) filter (where w.state = 'dead')
  from clock c cross join inkfast.work w group by w.queue order by w.queue`
const dueTenants = 'select tenant, at from inkfast.due_v1($1, $2::integer)'

export function queries(db: Database): Queries {
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
    due: async (queue, limit) => {
      const [rows = []] = await db.read(STORE, { text: dueTenants, values: [queue, limit], prepared: true })
      return rows.map(([tenant, at]) => ({ tenant: tenant as TenantId, at: Number(at) }))
    },
    ready: async (tenant, queue, limit) => {
      const [rows = []] = await db.readSmall(tenant, { text: readyWork, values: [queue, limit], prepared: true })
      const [now, next] = rows[0] ?? []
      return {
        now: Number(now),
        rows: rows.filter((row) => row[2] !== null).map((row) => toStored(row.slice(2))),
        ...(next !== null && next !== undefined && { next: Number(next) }),
      }
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
