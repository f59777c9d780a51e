// The query of schedulers across all tenants: when a queue must be looked at next.

import { deepEqual as same } from 'node:assert/strict'
import { type TenantId, tenantId } from '../../model/ids.ts'
import { compareText } from '../../model/order.ts'
import type { Body } from '../../model/rows.ts'
import type { TenantState } from '../../model/tenant.ts'
import type { Backend } from '../../ports/backend.ts'
import { group } from '../case.ts'
import { MAIN, type Maker, OTHER, put } from '../material.ts'
import { save } from './expect.ts'

const a = group('due')

const earliest = 'a tenant is due at the earliest time in its queue'
const timed = 'what has no time is not due'
const active = 'a tenant that is not active is not due'
const bounded = 'tenants that are due come earliest first, and no more of them than were asked for'
const apart = 'what is in one queue is not due in another'
const shared = 'several handles are one store'
const found = 'an item that was offered is found, however many nodes look meanwhile'

const ALL = 100

const offer = (backend: Backend, make: Maker, tenant: TenantId, items: Readonly<Record<string, Body>>): Promise<unknown> =>
  save(backend, make.commit(tenant, { changes: Object.entries(items).map(([id, body]) => put('work', id, body)) }))

const remove = (backend: Backend, make: Maker, tenant: TenantId, id: string): Promise<unknown> =>
  save(backend, make.commit(tenant, { changes: [{ kind: 'remove', table: 'work', id }] }))

const turn = (backend: Backend, make: Maker, tenant: TenantId, state: TenantState): Promise<unknown> =>
  save(backend, make.commit(tenant, { changes: [{ kind: 'state', state }] }))

/** More than a backend leaves as it was when it finds nothing due there. */
const MANY = Array.from({ length: 40 }, (_, n) => tenantId(`m${n}`))
const ROUNDS = 6

const due = async (backend: Backend, queue = 'q', limit = ALL): Promise<readonly (readonly [string, number])[]> =>
  (await backend.queries.due(queue, limit)).map(({ tenant, at }) => [tenant, at])

export const dues = [
  a(earliest, 'each tenant is told once, with the earliest of its times', async ({ backend, make }) => {
    same(await due(backend), [], 'nobody has written')
    await offer(backend, make, MAIN, { a: { queue: 'q', at: 70 }, b: { queue: 'q', at: 30 }, c: { queue: 'q', at: 50 } })
    await offer(backend, make, OTHER, { a: { queue: 'q', at: 1_700_000_000_000 }, b: { queue: 'q', at: 40 } })
    same(await due(backend), [
      [MAIN, 30],
      [OTHER, 40],
    ])
  }),

  a(earliest, 'the time follows what is put off, brought forward and removed', async ({ backend, make }) => {
    await offer(backend, make, MAIN, { a: { queue: 'q', at: 30 }, b: { queue: 'q', at: 50 } })
    await offer(backend, make, MAIN, { a: { queue: 'q', at: 60 } })
    same(await due(backend), [[MAIN, 50]], 'put off')
    await offer(backend, make, MAIN, { a: { queue: 'q', at: 10 } })
    same(await due(backend), [[MAIN, 10]], 'brought forward')
    await remove(backend, make, MAIN, 'a')
    same(await due(backend), [[MAIN, 50]], 'removed')
    await remove(backend, make, MAIN, 'b')
    same(await due(backend), [], 'all of it')
  }),

  a(timed, 'what has no time is passed over, and a tenant that has nothing else is left out', async ({ backend, make }) => {
    const untimed = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`u${i}`, { queue: 'q', state: 'asleep' }]))
    await offer(backend, make, MAIN, { ...untimed, a: { queue: 'q', at: 30 }, n: { queue: 'q', at: null } })
    await offer(backend, make, OTHER, untimed)
    same(await due(backend), [[MAIN, 30]])
    await offer(backend, make, MAIN, { a: { queue: 'q' } })
    same(await due(backend), [], 'its time was taken away')
    await offer(backend, make, OTHER, { u7: { queue: 'q', at: 0 } })
    same(await due(backend), [[OTHER, 0]], 'zero is a time')
  }),

  a(active, 'a suspended tenant is left out until it comes back, a deleted one for good', async ({ backend, make }) => {
    await offer(backend, make, MAIN, { a: { queue: 'q', at: 30 } })
    await offer(backend, make, OTHER, { a: { queue: 'q', at: 40 } })
    const both = await due(backend)
    same(both, [
      [MAIN, 30],
      [OTHER, 40],
    ])
    await turn(backend, make, MAIN, 'suspended')
    same(await due(backend), [[OTHER, 40]])
    same(await due(backend, 'q', 1), [[OTHER, 40]], "it takes nobody else's place")
    await turn(backend, make, MAIN, 'active')
    same(await due(backend), both)
    await turn(backend, make, OTHER, 'deleted')
    same(await due(backend), [[MAIN, 30]])
  }),

  a(bounded, 'the earliest come first, at the same time in the order of their ids, up to the limit', async ({ backend, make }) => {
    const times = { d: 50, C: 20, b: -1, a: 50, e: 1_700_000_000_000, B: 50 }
    for (const [name, at] of Object.entries(times)) await offer(backend, make, tenantId(name), { a: { queue: 'q', at } })
    const all = [
      ['b', -1],
      ['C', 20],
      ['B', 50],
      ['a', 50],
      ['d', 50],
      ['e', 1_700_000_000_000],
    ]
    same(await due(backend), all)
    for (const limit of [0, 1, 3, 4, 6, 7]) same(await due(backend, 'q', limit), all.slice(0, limit), `at most ${limit}`)
  }),

  a(apart, 'a queue is told by its exact name, whatever is in others', async ({ backend, make }) => {
    const times = { q: 50, Q: 10, qq: 20, '': 30, 'runs/ä': 40 }
    const items = Object.fromEntries(Object.entries(times).map(([queue, at]) => [`in ${queue}`, { queue, at }]))
    await offer(backend, make, MAIN, { ...items, nowhere: { at: 5 } })
    await offer(backend, make, OTHER, { a: { queue: 'Q', at: 15 } })
    for (const [queue, at] of Object.entries(times))
      same(await due(backend, queue), [[MAIN, at], ...(queue === 'Q' ? [[OTHER, 15]] : [])], `queue ${JSON.stringify(queue)}`)
    same(await due(backend, 'other'), [])
    await offer(backend, make, MAIN, { 'in q': { queue: 'other', at: 50 } })
    same([await due(backend), await due(backend, 'other')], [[], [[MAIN, 50]]], 'moved to another queue')
  }),

  a(
    shared,
    'what one handle offers is due for another at once',
    async ({ backend, make, second }) => {
      const other = await second()
      same(await due(other), [])
      await offer(backend, make, MAIN, { a: { queue: 'q', at: 30 } })
      same(await due(other), [[MAIN, 30]])
      await offer(other, make, OTHER, { a: { queue: 'q', at: 20 } })
      same(await due(backend), [
        [OTHER, 20],
        [MAIN, 30],
      ])
      await turn(other, make, OTHER, 'suspended')
      same(await due(backend), [[MAIN, 30]])
    },
    'second',
  ),

  a(found, 'tenants that were drained are due again with their next item, at its time', async ({ backend, make }) => {
    for (const round of [1, 2, 3]) {
      for (const tenant of MANY) await offer(backend, make, tenant, { a: { queue: 'q', at: round }, b: { queue: 'q', at: round + 50 } })
      same((await due(backend)).length, MANY.length, 'offered')
      for (const tenant of MANY) await remove(backend, make, tenant, 'a')
      for (const limit of [1, 5, ALL]) await due(backend, 'q', limit)
      same(await due(backend), inOrder(MANY.map((tenant) => [tenant, round + 50])), 'their later items')
      for (const tenant of MANY) await remove(backend, make, tenant, 'b')
      for (const limit of [1, 5, ALL]) same(await due(backend, 'q', limit), [], 'drained')
    }
    await offer(backend, make, MANY[7] as TenantId, { a: { queue: 'q', at: 1000 } })
    await offer(backend, make, MANY[3] as TenantId, { a: { queue: 'q', at: 2000 } })
    same(await due(backend), [
      [MANY[7], 1000],
      [MANY[3], 2000],
    ])
  }),

  a(found, 'a tenant that was passed while it was suspended is due when it comes back', async ({ backend, make }) => {
    for (const tenant of MANY) await offer(backend, make, tenant, { a: { queue: 'q', at: 30 }, b: { queue: 'r', at: 20 } })
    for (const tenant of MANY) await turn(backend, make, tenant, 'suspended')
    for (const limit of [1, ALL]) same([await due(backend, 'q', limit), await due(backend, 'r', limit)], [[], []])
    const back = MANY.slice(10, 20)
    for (const tenant of back) await turn(backend, make, tenant, 'active')
    same(await due(backend), inOrder(back.map((tenant) => [tenant, 30])))
    same(await due(backend, 'r'), inOrder(back.map((tenant) => [tenant, 20])))
  }),

  a(
    found,
    'what is offered while nodes look, find nothing and look again is due afterwards',
    async ({ backend, make, second }) => {
      const other = await second()
      for (let round = 1; round <= ROUNDS; round++) {
        let isOver = false
        const look = async (node: Backend): Promise<void> => {
          while (!isOver) await due(node, 'q', 5)
        }
        const nodes = [look(backend), look(other), look(other)]
        // Each tenant is drained and filled again in a moment of its own; every third stays empty.
        const use = async (tenant: TenantId, n: number): Promise<void> => {
          const at = 100 * round + n
          await offer(backend, make, tenant, { a: { queue: 'q', at } })
          await remove(backend, make, tenant, 'a')
          if (n % 3 > 0) await offer(n % 2 > 0 ? backend : other, make, tenant, { a: { queue: 'q', at: at + 5000 } })
        }
        await Promise.all(MANY.map(use))
        isOver = true
        await Promise.all(nodes)
        const left = MANY.flatMap((tenant, n): (readonly [string, number])[] => (n % 3 > 0 ? [[tenant, 5000 + 100 * round + n]] : []))
        for (const node of [backend, other]) same(await due(node), inOrder(left), `round ${round}`)
        await Promise.all(MANY.map((tenant) => remove(backend, make, tenant, 'a')))
      }
    },
    'second',
  ),
]

const inOrder = (told: readonly (readonly [string, number])[]): readonly (readonly [string, number])[] =>
  told.toSorted(([a, at], [b, then]) => at - then || compareText(a, b))
