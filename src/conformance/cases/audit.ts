// The audit: refusals beside the journal, per tenant, the newest ones only.

import { deepEqual as same } from 'node:assert/strict'
import type { Refusal } from '../../model/refusal.ts'
import type { Backend } from '../../ports/backend.ts'
import { group } from '../case.ts'
import { MAIN, OTHER } from '../material.ts'
import { changesNothing, save } from './expect.ts'

const an = group('audit')

const kept = 'refusals are kept as they were noted, newest first, once each'
const bounded = 'the newest refusals of a tenant stay, and the oldest go'
const walled = 'an audit is its own tenant’s'
const open = 'an audit answers in any state of its tenant'

const refusal = (n: number): Refusal => ({
  id: `01ARZ3NDEKTSV4RRFFQ6900${String(n).padStart(3, '0')}`,
  at: 1_700_000_000_000 + n,
  code: n % 2 === 0 ? 'FENCE_LOST' : 'TENANT_CLOSED',
  actor: n % 3 === 0 ? '' : 'user_1',
  noun: 'work',
  subject: n % 4 === 0 ? '' : `null, {"quoted"} ${n} \\`,
  count: n + 1,
})

const refusals = (from: number, to: number): readonly Refusal[] => Array.from({ length: to - from + 1 }, (_, i) => refusal(from + i))

const numbers = async (backend: Backend, tenant = MAIN): Promise<readonly number[]> =>
  (await backend.audit.list(tenant, { limit: 100 })).map(({ count }) => count - 1)

/** A tenant is there from its first commit on. */
const begin = async (backend: Backend, make: Parameters<Parameters<typeof an>[2]>[0]['make']): Promise<void> => {
  for (const tenant of [MAIN, OTHER]) await save(backend, make.commit(tenant))
}

export const audits = [
  an(kept, 'what was added is listed, page by page, and the journal is as it was', async ({ backend, make }) => {
    await begin(backend, make)
    await changesNothing(backend, [MAIN, OTHER], async () => {
      await backend.audit.add(MAIN, refusals(1, 5), 100)
      await backend.audit.add(MAIN, refusals(4, 9), 100)
      await backend.audit.add(MAIN, [], 100)
    })
    same(await backend.audit.list(MAIN, { limit: 100 }), refusals(1, 9).toReversed())
    const first = await backend.audit.list(MAIN, { limit: 4 })
    same(first, refusals(6, 9).toReversed())
    same(await backend.audit.list(MAIN, { limit: 4, before: first.at(-1)?.id as string }), refusals(2, 5).toReversed())
    same(await backend.audit.list(MAIN, { limit: 4, before: refusal(1).id }), [])
  }),

  an(bounded, 'only as many are kept as were asked for, in the order of their ids', async ({ backend, make }) => {
    await begin(backend, make)
    await backend.audit.add(OTHER, refusals(1, 5), 100)
    await backend.audit.add(MAIN, refusals(3, 8), 4)
    same(await numbers(backend), [8, 7, 6, 5])
    await backend.audit.add(MAIN, refusals(1, 2), 4)
    same(await numbers(backend), [8, 7, 6, 5])
    await backend.audit.add(MAIN, refusals(9, 10), 4)
    same(await numbers(backend), [10, 9, 8, 7])
    same(await numbers(backend, OTHER), [5, 4, 3, 2, 1])
  }),

  an(walled, 'another tenant with the same ids has its own', async ({ backend, make }) => {
    await begin(backend, make)
    await backend.audit.add(MAIN, [refusal(1)], 100)
    same(await numbers(backend, OTHER), [])
    await backend.audit.add(OTHER, [{ ...refusal(1), actor: 'user_2' }], 100)
    same(await backend.audit.list(MAIN, { limit: 9 }), [refusal(1)])
    same(
      (await backend.audit.list(OTHER, { limit: 9 })).map(({ actor }) => actor),
      ['user_2'],
    )
  }),

  an(open, 'a tenant that was closed still has its refusals noted and listed', async ({ backend, make }) => {
    await begin(backend, make)
    await backend.audit.add(MAIN, [refusal(1)], 100)
    for (const [n, state] of [
      [2, 'suspended'],
      [3, 'deleted'],
    ] as const) {
      await save(backend, make.commit(MAIN, { changes: [{ kind: 'state', state }] }))
      await backend.audit.add(MAIN, [refusal(n)], 100)
      same((await numbers(backend))[0], n, state)
    }
    same(await numbers(backend), [3, 2, 1])
  }),
]
