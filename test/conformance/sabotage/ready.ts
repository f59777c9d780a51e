// Damage to telling what can be claimed: the definition written out once more, with one of its clauses turned wrong.

import type { TenantId } from '../../../src/model/ids.ts'
import { compareText } from '../../../src/model/order.ts'
import type { Backlog, Queries } from '../../../src/model/queries.ts'
import type { StoredRow } from '../../../src/model/rows.ts'
import type { Backend } from '../../../src/ports/backend.ts'
import { type Sabotage, spoiled } from './spoil.ts'

const ordered = 'what can be claimed comes by priority, then by time, then by age'
const bounded = 'no more can be claimed than was asked for, and the first come first'
const due = 'only what is due can be claimed'
const free = 'a claim is free once it has run out and was not renewed'
const series = 'of a series only the oldest that is not dead can be claimed'
const again = 'a queue says when it is worth looking again'
const walled = 'what can be claimed is told of one queue of one tenant that is active'
const counted = 'a queue says how much of it is in which state'
const shared = 'several handles are one store'

const EVERYTHING = 1000

interface Item {
  readonly row: StoredRow
  readonly queue: string | null
  readonly state: string | null
  readonly priority: number | null
  readonly at: number | null
  readonly series: string | null
  /** Until when it was renewed, under any fence. */
  readonly until: number
  /** Under its own. */
  readonly isHeld: boolean
}

/** What an item must be to be there; each with all items of the tenant and the time. */
type Clause = (item: Item, all: readonly Item[], now: number) => boolean

interface Rules {
  readonly inQueue: (item: Item, queue: string) => boolean
  readonly isUrgent: Clause
  readonly isDue: Clause
  readonly isOpen: Clause
  readonly isBehind: Clause
  readonly order: (a: Item, b: Item) => number
  readonly cut: (items: readonly Item[], limit: number) => readonly Item[]
}

const byAge = (a: Item, b: Item): number => a.row.born - b.row.born || compareText(a.row.id, b.row.id)
const byTime = (a: Item, b: Item): number => Number(a.at) - Number(b.at) || byAge(a, b)
const byPriority = (a: Item, b: Item): number => Number(b.priority) - Number(a.priority)

const sound: Rules = {
  inQueue: (item, queue) => item.queue === queue,
  isUrgent: ({ priority }) => priority !== null,
  isDue: ({ at }, _, now) => at !== null && at <= now,
  isOpen: ({ state, isHeld }) => state === 'ready' || (state === 'claimed' && !isHeld),
  isBehind: (item, all) =>
    item.series !== null && all.some((other) => other.series === item.series && other.state !== 'dead' && byAge(other, item) < 0),
  order: (a, b) => byPriority(a, b) || byTime(a, b),
  cut: (items, limit) => items.slice(0, limit),
}

async function itemsOf(backend: Backend, tenant: TenantId, renewed: ReadonlyMap<string, number>): Promise<readonly Item[]> {
  const { rows } = await backend.rows.list(tenant, 'work', { index: 'byDue', equals: [], limit: EVERYTHING })
  const { now, leases } = await backend.leases.read(
    tenant,
    rows.map(({ id }) => id),
    'work',
  )
  return rows.map((row, i) => {
    const { queue = null, state = null, priority = null, at = null, series = null } = JSON.parse(row.body) as Partial<Item>
    const until = renewed.get(`${tenant} ${row.id}`) ?? 0
    return { row, queue, state, priority, at, series, until, isHeld: (leases[i]?.until ?? 0) > now }
  })
}

type Ready = Queries['ready']

const telling =
  (spoil: (ready: Ready, backend: Backend) => Ready) =>
  (backend: Backend): Backend => ({
    ...backend,
    queries: { ...backend.queries, ready: spoil((tenant, queue, limit) => backend.queries.ready(tenant, queue, limit), backend) },
  })

/** The same answer, by rules of which some are wrong. */
const ruled =
  (wrong: Partial<Rules>) =>
  (backend: Backend): Backend => {
    const rules = { ...sound, ...wrong }
    const renewed = new Map<string, number>()
    const spoilt = telling((ready) => async (tenant, queue, limit) => {
      const { now, next } = await ready(tenant, queue, 0)
      const all = await itemsOf(backend, tenant, renewed)
      const found = all.filter(
        (item) =>
          rules.inQueue(item, queue) &&
          rules.isUrgent(item, all, now) &&
          rules.isDue(item, all, now) &&
          rules.isOpen(item, all, now) &&
          !rules.isBehind(item, all, now),
      )
      const rows = rules.cut(found.toSorted(rules.order), limit).map(({ row }) => row)
      return { now, rows, ...(next !== undefined && { next }) }
    })(backend)
    return {
      ...spoilt,
      leases: {
        ...backend.leases,
        renew: async (tenant, held, ms, of) => {
          const times = await backend.leases.renew(tenant, held, ms, of)
          for (const { id, until } of times.leases) if (until > 0) renewed.set(`${tenant} ${id}`, until)
          return times
        },
      },
    }
  }

const backlogs =
  (alter: (backlog: readonly Backlog[]) => readonly Backlog[]) =>
  (backend: Backend): Backend => ({
    ...backend,
    queries: { ...backend.queries, backlog: async (tenant) => alter(await backend.queries.backlog(tenant)) },
  })

const others =
  (pick: (item: Item, other: Item) => boolean): Clause =>
  (item, all) =>
    item.series !== null && all.some((other) => other.series === item.series && pick(item, other))

export const readySabotages: readonly Sabotage[] = [
  spoiled('puts time before urgency', [ordered, bounded, due], ruled({ order: byTime })),
  spoiled('puts age before time', [ordered], ruled({ order: (a, b) => byPriority(a, b) || byAge(a, b) })),
  spoiled(
    'puts the young before the old',
    [ordered],
    ruled({ order: (a, b) => byPriority(a, b) || Number(a.at) - Number(b.at) || byAge(b, a) }),
  ),
  spoiled(
    'orders ids by their UTF-16 units',
    [ordered],
    ruled({
      order: (a, b) => byPriority(a, b) || Number(a.at) - Number(b.at) || a.row.born - b.row.born || (a.row.id < b.row.id ? -1 : 1),
    }),
  ),
  spoiled(
    'claims what is free again last',
    [ordered],
    ruled({ order: (a, b) => compareText(String(b.state), String(a.state)) || sound.order(a, b) }),
  ),
  spoiled(
    'knows no priority beyond every other',
    [ordered],
    ruled({ isUrgent: ({ priority }) => priority !== null && priority < Number.MAX_SAFE_INTEGER }),
  ),
  spoiled(
    'gives a row without its fence',
    [ordered],
    telling((ready) => async (tenant, queue, limit) => {
      const found = await ready(tenant, queue, limit)
      return { ...found, rows: found.rows.map(({ fence: _, ...row }) => row) }
    }),
  ),
  spoiled('gives one more than was asked for', [bounded], ruled({ cut: (items, limit) => items.slice(0, limit + 1) })),
  spoiled('cuts before it sorts', [bounded], ruled({ cut: (items, limit) => items.toSorted(byAge).slice(0, limit).toSorted(sound.order) })),
  spoiled('gives what is due later', [due], ruled({ isDue: ({ at }) => at !== null })),
  spoiled('takes what has no time for due', [due], ruled({ isDue: ({ at }, _, now) => Number(at) <= now })),
  spoiled('gives what has no priority', [due], ruled({ isUrgent: () => true })),
  spoiled('gives what sleeps', [due], ruled({ isOpen: (item, ...rest) => item.state === 'asleep' || sound.isOpen(item, ...rest) })),
  spoiled('gives what is dead', [due], ruled({ isOpen: (item, ...rest) => item.state === 'dead' || sound.isOpen(item, ...rest) })),
  spoiled(
    'looks no further than what is due later',
    [due],
    ruled({ isDue: (item, all, now) => sound.isDue(item, all, now) && all.toSorted(sound.order).indexOf(item) < 100 }),
  ),
  spoiled('never gives what was claimed', [free], ruled({ isOpen: ({ state }) => state === 'ready' })),
  spoiled('gives claims that are held', [free], ruled({ isOpen: ({ state }) => state === 'ready' || state === 'claimed' })),
  spoiled(
    'holds for one fence what was said for another',
    [free],
    ruled({ isOpen: ({ state, until }, _, now) => state === 'ready' || (state === 'claimed' && until <= now) }),
  ),
  spoiled('keeps held what was given back', [free], ruled({ isOpen: (item, all, now) => sound.isOpen(item, all, now) && !item.isHeld })),
  spoiled('gives all of a series', [series], ruled({ isBehind: () => false })),
  spoiled('lets the dead block their series', [series], ruled({ isBehind: others((item, other) => byAge(other, item) < 0) })),
  spoiled(
    'sees only those of a series that could be claimed',
    [series],
    ruled({ isBehind: others((item, other) => other.state === 'ready' && byAge(other, item) < 0) }),
  ),
  spoiled(
    'sees a series in one queue only',
    [series],
    ruled({ isBehind: others((item, other) => other.queue === item.queue && other.state !== 'dead' && byAge(other, item) < 0) }),
  ),
  spoiled(
    'gives the most urgent of a series',
    [series],
    ruled({ isBehind: others((item, other) => other.state !== 'dead' && sound.order(other, item) < 0) }),
  ),
  spoiled(
    'takes items of one event for one in a series',
    [series],
    ruled({ isBehind: others((item, other) => other.state !== 'dead' && other.row.born < item.row.born) }),
  ),
  spoiled(
    'never says when to look again',
    [again],
    telling((ready) => async (tenant, queue, limit) => {
      const { now, rows } = await ready(tenant, queue, limit)
      return { now, rows }
    }),
  ),
  spoiled(
    'sends workers to look for what is there',
    [again],
    telling((ready, backend) => async (tenant, queue, limit) => {
      const times = (await itemsOf(backend, tenant, new Map())).flatMap((item) =>
        item.queue === queue && item.at !== null ? [item.at] : [],
      )
      return { ...(await ready(tenant, queue, limit)), ...(times.length > 0 && { next: Math.min(...times) }) }
    }),
  ),
  spoiled(
    'has a time of its own',
    [again],
    telling((ready) => async (tenant, queue, limit) => {
      const found = await ready(tenant, queue, limit)
      return { ...found, now: found.now - 3_600_000 }
    }),
  ),
  spoiled('gives the items of every queue', [walled], ruled({ inQueue: () => true })),
  spoiled(
    'gives the items of every tenant',
    [walled],
    telling((ready, backend) => async (tenant, queue, limit) => {
      const found = await ready(tenant, queue, limit)
      const more = []
      for (const other of await backend.journal.tenants())
        if (other !== tenant && (await backend.journal.head(other)).state === 'active')
          more.push(...(await ready(other, queue, limit)).rows)
      return { ...found, rows: [...found.rows, ...more].slice(0, limit) }
    }),
  ),
  spoiled(
    'takes a closed tenant for an empty one',
    [walled],
    telling((ready) => (tenant, queue, limit) => ready(tenant, queue, limit).catch(() => ({ now: 0, rows: [] }))),
  ),
  spoiled(
    'counts what is due later as ready',
    [counted],
    backlogs((all) => all.map((one) => ({ ...one, ready: one.ready + one.delayed, delayed: 0 }))),
  ),
  spoiled(
    'counts no dead ones',
    [counted],
    backlogs((all) => all.map((one) => ({ ...one, dead: 0 }))),
  ),
  spoiled(
    'lists queues in no order',
    [counted],
    backlogs((all) => all.toReversed()),
  ),
  spoiled(
    'remembers what could be claimed',
    [shared],
    telling((ready) => {
      const known = new Map<string, Awaited<ReturnType<Ready>>>()
      return async (tenant, queue, limit) => {
        const key = `${tenant} ${queue} ${limit}`
        const found = known.get(key) ?? (await ready(tenant, queue, limit))
        known.set(key, found)
        return found
      }
    }),
  ),
]
