// Damage to telling which tenants have something to do.

import type { TenantId } from '../../../src/model/ids.ts'
import { compareText } from '../../../src/model/order.ts'
import type { DueTenant, Queries } from '../../../src/model/queries.ts'
import type { StoredRow } from '../../../src/model/rows.ts'
import type { Backend } from '../../../src/ports/backend.ts'
import { type Sabotage, spoiled } from './spoil.ts'

const earliest = 'a tenant is due at the earliest time in its queue'
const timed = 'what has no time is not due'
const active = 'a tenant that is not active is not due'
const bounded = 'tenants that are due come earliest first, and no more of them than were asked for'
const found = 'an item that was offered is found, however many nodes look meanwhile'
const apart = 'what is in one queue is not due in another'

const EVERYTHING = 1000

type Due = Queries['due']

const telling =
  (spoil: (due: Due, backend: Backend) => Due) =>
  (backend: Backend): Backend => ({
    ...backend,
    queries: { ...backend.queries, due: spoil((queue, limit) => backend.queries.due(queue, limit), backend) },
  })

const inOrder = (found: readonly DueTenant[], limit: number): readonly DueTenant[] =>
  found.toSorted((a, b) => a.at - b.at || compareText(a.tenant, b.tenant)).slice(0, limit)

/** Of several answers the earliest for each tenant. */
const merged = (answers: readonly DueTenant[], limit: number): readonly DueTenant[] => {
  const first = new Map<TenantId, number>()
  for (const { tenant, at } of answers) first.set(tenant, Math.min(at, first.get(tenant) ?? at))
  return inOrder(
    [...first].map(([tenant, at]) => ({ tenant, at })),
    limit,
  )
}

/** Every item of the tenants that may be read, in the order of the index: queues, and in each those without a time first. */
async function itemsOf(backend: Backend): Promise<readonly { readonly tenant: TenantId; readonly queue: unknown; readonly at: unknown }[]> {
  const items = []
  for (const tenant of await backend.journal.tenants()) {
    if ((await backend.journal.head(tenant)).state !== 'active') continue
    const { rows } = await backend.rows.list(tenant, 'work', { index: 'byDue', equals: [], limit: EVERYTHING })
    for (const row of rows) items.push({ tenant, ...columnsOf(row) })
  }
  return items
}

const columnsOf = (row: StoredRow): { readonly queue: unknown; readonly at: unknown } => {
  const { queue = null, at = null } = JSON.parse(row.body) as { queue?: unknown; at?: unknown }
  return { queue, at }
}

export const dueSabotages: readonly Sabotage[] = [
  spoiled(
    'tells the latest time of a queue',
    [earliest],
    telling((due, backend) => async (queue, limit) => {
      const latest = new Map<TenantId, number>()
      for (const item of await itemsOf(backend)) if (item.queue === queue && typeof item.at === 'number') latest.set(item.tenant, item.at)
      return (await due(queue, limit)).map(({ tenant, at }) => ({ tenant, at: latest.get(tenant) ?? at }))
    }),
  ),
  spoiled(
    'tells every item and not every tenant',
    [earliest],
    telling((_, backend) => async (queue, limit) => {
      const items = (await itemsOf(backend)).filter((item) => item.queue === queue)
      const found = items.flatMap(({ tenant, at }) => (typeof at === 'number' ? [{ tenant, at }] : []))
      return inOrder(found, limit)
    }),
  ),
  spoiled(
    'remembers when something was due, though it was put off',
    [earliest],
    telling((due) => {
      const told: DueTenant[] = []
      return async (queue, limit) => {
        const found = await due(queue, EVERYTHING)
        told.push(...found)
        return merged(
          told.filter(({ tenant }) => found.some((one) => one.tenant === tenant)),
          limit,
        )
      }
    }),
  ),
  spoiled(
    'takes what has no time for due at once',
    [timed],
    telling((due, backend) => async (queue, limit) => {
      const untimed = (await itemsOf(backend)).filter((item) => item.queue === queue && item.at === null)
      return merged([...(await due(queue, EVERYTHING)), ...untimed.map(({ tenant }) => ({ tenant, at: 0 }))], limit)
    }),
  ),
  spoiled(
    'leaves out a tenant whose first item has no time',
    [timed],
    telling((due, backend) => async (queue, limit) => {
      const untimed = (await itemsOf(backend)).filter((item) => item.queue === queue && item.at === null)
      return (await due(queue, limit)).filter(({ tenant }) => !untimed.some((item) => item.tenant === tenant))
    }),
  ),
  spoiled(
    'takes zero for no time',
    [timed],
    telling((due) => async (queue, limit) => (await due(queue, limit)).filter(({ at }) => at !== 0)),
  ),
  spoiled(
    'tells what is due of closed tenants',
    [active],
    telling((due, backend) => {
      const told = new Map<TenantId, DueTenant>()
      return async (queue, limit) => {
        const found = await due(queue, EVERYTHING)
        for (const one of found) told.set(one.tenant, one)
        const closed: DueTenant[] = []
        for (const [tenant, one] of told) if ((await backend.journal.head(tenant)).state !== 'active') closed.push(one)
        return merged([...found, ...closed], limit)
      }
    }),
  ),
  spoiled(
    'leaves closed tenants out only after it has counted',
    [active],
    telling((due, backend) => async (queue, limit) => {
      let closed = 0
      for (const tenant of await backend.journal.tenants()) if ((await backend.journal.head(tenant)).state !== 'active') closed++
      return due(queue, Math.max(0, limit - closed))
    }),
  ),
  spoiled(
    'refuses to tell anything while a tenant is closed',
    [active],
    telling((due, backend) => async (queue, limit) => {
      for (const tenant of await backend.journal.tenants()) await backend.journal.page(tenant, { from: 0, limit: 1 })
      return due(queue, limit)
    }),
  ),
  spoiled(
    'tells those that are due in the order of their ids',
    [bounded],
    telling((due) => async (queue, limit) => (await due(queue, limit)).toSorted((a, b) => compareText(a.tenant, b.tenant))),
  ),
  spoiled(
    'tells those of one time in any order',
    [bounded],
    telling((due) => async (queue, limit) => (await due(queue, limit)).toReversed().sort((a, b) => a.at - b.at)),
  ),
  spoiled(
    'tells of more than were asked for',
    [bounded],
    telling((due) => (queue) => due(queue, EVERYTHING)),
  ),
  spoiled(
    'stops at the limit before it has seen all tenants',
    [bounded],
    telling((due) => async (queue, limit) => {
      const found = (await due(queue, EVERYTHING)).toSorted((a, b) => compareText(a.tenant, b.tenant))
      return inOrder(found.slice(0, limit), limit)
    }),
  ),
  spoiled(
    'takes all queues for one',
    [apart],
    telling((_, backend) => async (__, limit) => {
      const found = (await itemsOf(backend)).flatMap(({ tenant, at }) => (typeof at === 'number' ? [{ tenant, at }] : []))
      return merged(found, limit)
    }),
  ),
  spoiled(
    'takes queues for the same whatever their case',
    [apart],
    telling((due) => async (queue, limit) => {
      const answers = [queue, queue.toLowerCase(), queue.toUpperCase()].map((name) => due(name, EVERYTHING))
      return merged((await Promise.all(answers)).flat(), limit)
    }),
  ),
  spoiled(
    'takes a queue without a name for none',
    [apart],
    telling((due) => async (queue, limit) => (queue === '' ? [] : due(queue, limit))),
  ),
  spoiled('raises a tenant to what was there when it looked, whatever was offered since', [found], hiding({ races: true })),
  spoiled('never lowers a tenant in which nothing was due', [found], hiding({ races: false })),
  spoiled('forgets a tenant that was passed while it was suspended', [found], (backend) => {
    const passed = new Set<TenantId>()
    return telling((due) => async (queue, limit) => {
      for (const tenant of await backend.journal.tenants()) if ((await backend.journal.head(tenant)).state !== 'active') passed.add(tenant)
      return (await due(queue, EVERYTHING)).filter(({ tenant }) => !passed.has(tenant)).slice(0, limit)
    })(backend)
  }),
]

/**
 * Keeps tenants in which a look found nothing, and passes them. An offer takes its tenant out. With `races` the outcome of a look is noted a
 * little later, so that it overwrites an offer that came in between.
 */
function hiding({ races }: { readonly races: boolean }): (backend: Backend) => Backend {
  return (backend) => {
    const empty = new Set<string>()
    const nameOf = (tenant: TenantId, queue: unknown) => `${tenant} ${JSON.stringify(queue)}`
    return {
      ...backend,
      commit: async (batch) => {
        const outcomes = await backend.commit(batch)
        for (const { tenant, changes } of races ? batch : [])
          for (const change of changes)
            if (change.kind === 'put' && change.table === 'work')
              empty.delete(nameOf(tenant, (JSON.parse(change.body) as { queue?: unknown }).queue))
        return outcomes
      },
      queries: {
        ...backend.queries,
        due: async (queue, limit) => {
          const there = new Set((await backend.queries.due(queue, EVERYTHING)).map(({ tenant }) => tenant))
          const looked = await backend.journal.tenants()
          if (races) for (let turns = 0; turns < 5; turns++) await new Promise((resolve) => setImmediate(resolve))
          for (const tenant of looked) if (!there.has(tenant)) empty.add(nameOf(tenant, queue))
          return (await backend.queries.due(queue, EVERYTHING)).filter(({ tenant }) => !empty.has(nameOf(tenant, queue))).slice(0, limit)
        },
      },
    }
  }
}
