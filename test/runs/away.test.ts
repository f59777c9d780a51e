// A store that is away for a moment: nothing that happened is lost by it, nothing that did not happen is recorded, and nobody is taken for dead.

import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { Run, Store } from '../../src/index.ts'
import { refuse } from '../../src/model/errors.ts'
import type { Backend } from '../../src/ports/backend.ts'
import { expectSound, layouts } from '../support/engines.ts'
import { count, shared } from './in-memory.ts'

const both = layouts.filter(({ name }) => name === 'sqlite' || name === 'postgres')
const unreachable = () => refuse('DATABASE_UNREACHABLE', { place: 'the store', reason: 'connection reset', setting: 'url' })

const suspendedFor = async (store: Store, tenant: string, ms: number) => {
  await store.setTenantState(tenant, 'suspended', { reason: 'test' })
  await sleep(ms)
  await store.setTenantState(tenant, 'active', { reason: 'test' })
}

test('a store that is away wins no race: the branch that met it is asked again, and the one that comes back first has won', async () => {
  let away = false
  const sometimes = (backend: Backend): Backend => ({
    ...backend,
    rows: {
      ...backend.rows,
      list: async (tenant, table, query) => {
        if (table === 'signals' && away) throw unreachable()
        return backend.rows.list(tenant, table, query)
      },
    },
  })
  const store = await shared()({}, sometimes)
  await using node = store.work({
    r: (run: Run) => run.race({ reply: (b) => b.signal('reply'), late: (b) => b.sleep(700).then(() => 'late') }),
  })
  const handle = await store.start('r', { session: 's' })
  await expect.poll(async () => (await store.runs.get(handle.id))?.waits.length).toBe(2)
  away = true
  await (await store.session('noise')).append('a.b', {})
  await sleep(50)
  away = false
  expect(await handle.result()).toBe('late')
  expect(await count(store, 'race.won')).toBe(1)
  await node.close()
  await expectSound(store)
})

test('a signal and whoever began to wait for it meanwhile are one commit', async () => {
  const node = shared()
  const store = await node()
  await store.session('s')
  const [held, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let wakes = 0
  const slow = (backend: Backend): Backend => ({
    ...backend,
    commit: async (batch) => {
      const sends = batch.some(({ events }) => events.some(({ type }) => type === 'signal.sent'))
      if (!sends) return backend.commit(batch)
      held.resolve()
      await go.promise
      const outcomes = await backend.commit(batch)
      // What was saved woke the run itself: whoever sent it may die now.
      if (outcomes[0]?.ok) wakes = batch.flatMap(({ events }) => events).filter(({ type }) => type === 'work.woken').length
      return outcomes
    },
  })
  const sender = await node({}, slow)
  await using working = store.work({ r: (run: Run) => run.signal('go') })
  const sending = sender.signal('s', 'go', 'gone')
  await held.promise
  const handle = await store.start('r', { session: 's' })
  await expect.poll(() => working.stats().parked).toBe(1)
  go.resolve()
  await sending
  expect(wakes).toBe(1)
  expect(await handle.result()).toBe('gone')
})

describe.each(both)('on $name', (engine) => {
  test('a run is given back as soon as the store is there again, and nobody is taken for dead', async () => {
    const store = await engine.open({ lease: { ttl: 3000, renew: 1000 } })
    const acme = store.tenant('acme')
    await using node = store.work({
      r: async (run: Run) => {
        for (let i = 0; i < 60; i++) await run.effect('step', () => sleep(10))
      },
    })
    const handle = await acme.start('r', { session: 's' })
    await expect.poll(handle.state).toBe('running')
    for (let i = 0; i < 3 && (await handle.state().catch(() => 'away')) === 'running'; i++) {
      await suspendedFor(store, 'acme', 100)
      await sleep(150)
    }
    await handle.result()
    const taken = []
    for await (const event of acme.events({ types: ['work.claimed'] })) taken.push((event.data as { strikes: number }).strikes)
    expect(taken.length).toBeGreaterThan(1)
    expect(new Set(taken)).toEqual(new Set([0]))
    await node.close()
    await expectSound(store)
  })

  test('an item and a process that ended meanwhile are what they came to', async () => {
    const store = await engine.open({ lease: { ttl: 3000, renew: 1000 } })
    const acme = store.tenant('acme')
    await acme.session('s')
    const began = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const
    await using worker = store.queue('q').work(
      async () => {
        began[0].resolve()
        await sleep(200)
      },
      { tenants: 'all', lease: '3s' },
    )
    await using node = store.processes.work(
      {
        bound: async () => {
          began[1].resolve()
          await sleep(200)
          return { pages: 3 }
        },
      },
      { tenants: 'all' },
    )
    await acme.queue('q').offer(1, { attempts: 1 })
    const child = await acme.processes.register('crawl', { kind: 'bound', recovery: 'ownerBound' })
    await Promise.all(began.map(({ promise }) => promise))
    await suspendedFor(store, 'acme', 400)
    expect((await child.result()).value).toEqual({ pages: 3 })
    await expect.poll(() => worker.stats().completed).toBe(1)
    expect(await acme.queue('q').stats()).toMatchObject({ ready: 0, claimed: 0, dead: 0 })
    await Promise.all([worker.close(), node.close()])
    await expectSound(store)
  })
})
