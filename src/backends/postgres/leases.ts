// End times of leases, by the clock of the database: a node with a wrong clock, or one that was paused, cannot misjudge them.

import type { HeldTable, Leases, LeaseTimes } from '../../ports/leases.ts'
import { texts } from './arrays.ts'
import type { Cells } from './connections.ts'
import type { Database } from './database.ts'

const read = (table: HeldTable) => `
  select a.id, coalesce(l.fence, 0), coalesce(r.until, 0)
  from unnest($1::text[]) with ordinality as a (id, n)
  left join lateral (select * from inkfast.${table} l where l.id between a.id and a.id order by l.id limit 1) l on true
  left join lateral (select * from inkfast.renewals r where r.id between l.id and l.id order by r.id limit 1) r on r.fence = l.fence
  order by a.n`
const renew = (table: HeldTable) => `
  insert into inkfast.renewals as t (tenant, id, fence, until)
  select l.tenant, l.id, l.fence, inkfast.now_v1() + $3::bigint
  from (select distinct a.id, a.fence from unnest($1::text[], $2::bigint[]) as a (id, fence)) a
  cross join lateral (select * from inkfast.${table} l where l.id between a.id and a.id order by l.id limit 1) l
  where l.fence = a.fence
  on conflict (tenant, id) do update set fence = excluded.fence, until = excluded.until where t.fence <= excluded.fence`
export const statements = {
  leases: { read: read('leases'), renew: renew('leases') },
  work: { read: read('work'), renew: renew('work') },
} as const satisfies Record<HeldTable, unknown>
const nowOf = 'select inkfast.now_v1()'

export function leases(db: Database): Leases {
  return {
    renew: async (tenant, held, ms, of = 'leases') => {
      const ids = texts(held.map(({ id }) => id))
      const fences = held.length === 0 ? null : `{${held.map(({ fence }) => fence).join(',')}}`
      const named = db.enter(db.wall.tenant(tenant))
      const steps = [named, { text: statements[of].renew, values: [ids, fences, ms], prepared: true }, ...readSteps(ids, of)]
      const [, , now, rows] = await db.run(steps, 'reading')
      return toTimes(now, rows)
    },
    read: async (tenant, ids, of = 'leases') => {
      // Without ids, only the time is read.
      const steps = readSteps(texts(ids), of)
      const [now, rows] = await db.readSmall(tenant, ...(ids.length === 0 ? steps.slice(0, 1) : steps))
      return toTimes(now, rows)
    },
  }
}

const readSteps = (ids: string | null, of: HeldTable) => [
  { text: nowOf, prepared: true },
  { text: statements[of].read, values: [ids], prepared: true },
]

const toTimes = (now: readonly Cells[] | undefined, rows: readonly Cells[] = []): LeaseTimes => ({
  now: Number(now?.[0]?.[0]),
  leases: rows.map(([id, fence, until]) => ({ id: id as string, fence: Number(fence), until: Number(until) })),
})
