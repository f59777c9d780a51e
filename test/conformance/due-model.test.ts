// What is due across many tenants, against the oracle: random items come, move, go to other queues and vanish, tenants are closed and come back,
// and after each step looks of all sizes find the same. On the way the stored times of many tenants turn out too early and are raised.

import { expect, test } from 'vitest'
import { memoryBackend } from '../../src/backends/memory/backend.ts'
import { chance } from '../../src/conformance/chance.ts'
import { maker, put, sha256 } from '../../src/conformance/material.ts'
import type { TenantId } from '../../src/model/ids.ts'
import { tenantId } from '../../src/model/ids.ts'
import type { Backend } from '../../src/ports/backend.ts'
import type { Change } from '../../src/ports/commit.ts'
import { later } from '../support/engines.ts'
import { rounds, SEED } from '../support/rounds.ts'
import { openPostgres, openSqlite } from './support.ts'

const TENANTS: readonly TenantId[] = Array.from({ length: 50 }, (_, n) => tenantId(`t${n}`))
const QUEUES = ['q', 'q', 'q', 'r']
const STEPS = rounds(40, 400)
const ITEMS = 3

async function walk(backend: Backend, seed: number): Promise<number> {
  const oracle = memoryBackend({ clock: { now: () => 1 }, digest: { sha256 }, entropy: { bytes: (count) => new Uint8Array(count) } })
  const { int, percent, pick } = chance(seed)
  const make = maker(seed)
  const both = async (tenant: TenantId, changes: readonly Change[]): Promise<void> => {
    const batch = [make.commit(tenant, { changes })]
    const [expected, found] = [await oracle.commit(batch), await backend.commit(batch)]
    expect(found.map(({ ok }) => ok)).toEqual(expected.map(({ ok }) => ok))
  }
  const change = (time: number): Change => {
    const id = `i${int(ITEMS)}`
    if (percent(40)) return { kind: 'remove', table: 'work', id }
    return put('work', id, { queue: pick(QUEUES), ...(percent(85) && { at: time + int(percent(20) ? 1000 : 20) }) })
  }
  let compared = 0
  for (let step = 1; step <= STEPS; step++) {
    // Many tenants at a time are filled, then many are emptied.
    const some = TENANTS.filter(() => percent(30))
    for (const tenant of some) {
      if (percent(4)) await both(tenant, [{ kind: 'state', state: percent(50) ? 'suspended' : 'active' }])
      else if (step % 4 === 0)
        await both(
          tenant,
          Array.from({ length: ITEMS }, (_, n) => ({ kind: 'remove', table: 'work', id: `i${n}` })),
        )
      else await both(tenant, [change(10 * step)])
    }
    if (step % 10 === 0) for (const tenant of TENANTS) await both(tenant, [{ kind: 'state', state: 'active' }])
    for (const limit of [1 + int(5), 20, TENANTS.length + 1]) {
      const queue = pick(QUEUES)
      expect(await backend.queries.due(queue, limit), `seed ${seed}, step ${step}, at most ${limit} in ${queue}`).toEqual(
        await oracle.queries.due(queue, limit),
      )
      compared++
    }
  }
  return compared
}

test.each([
  ['SQLite', openSqlite],
  ['PostgreSQL', openPostgres],
] as const)('%s finds what is due in 50 tenants as the oracle does', async (_, open) => {
  const { backend, dispose } = await open({})
  later(async () => {
    await backend.close()
    await dispose?.()
  })
  expect(await walk(backend, SEED)).toBe(3 * STEPS)
})
