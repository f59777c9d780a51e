// Asking for what is due by the clock, instead of waiting for a loop to see it.

import { describe, expect, test } from 'vitest'
import type { Backend } from '../../src/ports/backend.ts'
import { shared } from '../runs/in-memory.ts'
import { codeOf, engines, expectSound } from '../support/engines.ts'
import { rowsBy } from '../support/row-reads.ts'
import { workOff } from './occurrences.ts'

const HOUR = 3_600_000

describe.each(engines.filter(({ name }) => name !== 'sqlite folder'))('on $name', (engine) => {
  const open = () => engine.openInTime({ schedule: false })

  test('tick starts due occurrences, and otherwise returns the next time', async () => {
    const { store, pass } = await open()
    const { next = 0 } = await store.cron.set('job', { every: '1h', queue: 'q' })
    expect(await store.cron.tick()).toEqual({ handled: 0, failed: 0, next })
    await pass(HOUR)
    expect(await store.cron.tick()).toEqual({ handled: 1, failed: 0, next: next + HOUR })
    expect(await store.cron.tick()).toEqual({ handled: 0, failed: 0, next: next + HOUR })
    expect(await workOff(store)).toBe(1)
    await expectSound(store)
  })

  test('more than begin at once are all begun by asking once', async () => {
    const { store, pass } = await open()
    await store.cron.set('job', { every: '1s', queue: 'q', overlap: 'allow', missed: 'all' })
    await pass(250_000)
    await store.cron.tick()
    expect((await store.queue('q').stats()).ready).toBeGreaterThanOrEqual(249)
    await expectSound(store)
  })

  test('a tick does what is due of its own tenant, or of all where it may see them', async () => {
    const { store, pass } = await open()
    const acme = store.tenant('acme')
    for (const tenant of [store, acme]) await tenant.cron.set('job', { every: '1h', queue: 'q' })
    await pass(HOUR)
    expect(await store.cron.tick()).toMatchObject({ handled: 1 })
    expect(await acme.queue('q').stats()).toMatchObject({ ready: 0 })
    expect(await codeOf(acme.cron.tick({ tenants: 'all' }))).toBe('TENANT_WALL')
    expect(await codeOf(store.cron.tick({ tenants: 'some' as never }))).toBe('OPTION_INVALID')
    expect(await store.cron.tick({ tenants: 'all' })).toMatchObject({ handled: 1 })
    expect(await acme.queue('q').stats()).toMatchObject({ ready: 1 })
  })
})

test('jobs that cannot be looked at keep nobody else waiting, however many tenants have one', async () => {
  let now = 10 * HOUR
  const broken = (backend: Backend): Backend => ({
    ...backend,
    rows: rowsBy(backend.rows, async (tenant, table, id) => {
      if (table === 'jobs' && now > 10 * HOUR && tenant.startsWith('bad')) throw new Error('it cannot be read')
      return backend.rows.get(tenant, table, id)
    }),
  })
  const store = await shared(() => now)({ schedule: false }, broken)
  for (let i = 0; i < 130; i++) await store.tenant(`bad-${i}`).cron.set('job', { every: '1h', queue: 'q' })
  await store.cron.set('job', { every: '2h', queue: 'q' })
  now += 2 * HOUR
  expect(await store.cron.tick({ tenants: 'all' })).toMatchObject({ handled: 1, failed: 130 })
  expect(await workOff(store)).toBe(1)
})
