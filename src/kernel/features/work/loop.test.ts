// A loop watches the tenants that have something due, and those it was told to watch for good.

import { expect, test } from 'vitest'
import { later } from '../../../../test/support/engines.ts'
import { type TenantId, tenantId } from '../../../model/ids.ts'
import { limits } from '../../../model/limits.ts'
import type { Engine } from '../../wiring/scope.ts'
import { Loop } from './loop.ts'

const [OWN, BUSY, IDLE] = ['own', 'busy', 'idle'].map(tenantId) as [TenantId, TenantId, TenantId]

/** An engine with a clock that stands still, whose timers end at once. */
function engineWith(watched: Set<TenantId>, clock: { now: number }): Engine {
  const soon = () => new Promise<void>((resolve) => setImmediate(resolve))
  const engine = {
    closing: new AbortController().signal,
    environment: { clock: { monotonic: () => clock.now }, timer: { after: soon, idly: soon }, logger: { warn: () => {} } },
    backend: {
      wakeups: {
        watch: (tenant: TenantId) => {
          watched.add(tenant)
          return () => void watched.delete(tenant)
        },
      },
    },
  }
  return engine as unknown as Engine
}

test('a loop stops watching a tenant that has had nothing due, and watches it again when it has', async () => {
  const [watched, clock] = [new Set<TenantId>(), { now: 0 }]
  let due: readonly TenantId[] = [BUSY, IDLE]
  let looks = 0
  const loop = new Loop(engineWith(watched, clock), {
    of: 'a test',
    look: async () => {
      for (const tenant of due) loop.watch(tenant)
      looks++
      return 0
    },
  })
  later(() => loop.close())
  const looked = async (): Promise<readonly TenantId[]> => {
    for (const until = looks + 2; looks < until; ) await new Promise((resolve) => setImmediate(resolve))
    return [...watched].sort()
  }
  loop.watch(OWN, true)
  expect(await looked()).toEqual([BUSY, IDLE, OWN])
  due = [BUSY]
  clock.now += limits.unwatchAfterMs - 1
  expect(await looked()).toEqual([BUSY, IDLE, OWN])
  clock.now += limits.unwatchAfterMs / 2
  expect(await looked()).toEqual([BUSY, OWN])
  due = [IDLE]
  expect(await looked()).toEqual([BUSY, IDLE, OWN])
  clock.now += 100 * limits.unwatchAfterMs
  expect(await looked()).toEqual([IDLE, OWN])
  await loop.close()
  expect([...watched]).toEqual([])
})
