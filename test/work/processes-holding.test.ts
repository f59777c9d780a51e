// Who may write for a process: one holder at a time, under a fence that grows. Whoever was taken over writes nothing more.

import { describe, expect, test } from 'vitest'
import type { AgentProcess, LeasedProcess, Store } from '../../src/index.ts'
import { type Engine, makePlace } from '../runs/crashing-backend.ts'
import { unfenced } from '../runs/unfenced.ts'
import { codeOf, expectSound, later } from '../support/engines.ts'

const external = { kind: 'tool', recovery: 'external' } as const

/** Two processes at one store, whose time is moved. Neither notices that time has passed. */
async function two(engine: Engine, fenced = true) {
  const place = await makePlace(engine)
  const openOne = async (owner: string): Promise<Store> => {
    const backend = await place.backend()
    const store = await place.open(fenced ? backend : unfenced(backend), { lease: { ttl: '60s', renew: '20s', owner } })
    later(() => store.close())
    return store
  }
  return { place, ada: await openOne('ada'), bob: await openOne('bob') }
}

const get = async (store: Store): Promise<AgentProcess> => (await store.processes.get('c')) as AgentProcess

/** Whatever somebody who holds it can write. */
const writes: Readonly<Record<string, (held: LeasedProcess) => Promise<unknown>>> = {
  event: (held) => held.event('page.fetched', { by: 'ada' }),
  wait: (held) => held.wait('reply'),
  start: (held) => held.start(),
  refer: (held) => held.refer({ backend: 'b', id: '1' }),
  complete: (held) => held.complete('by ada'),
  fail: (held) => held.fail(new Error('by ada')),
  abandoned: (held) => held.abandoned({ writer: 'ownerDrain' }),
}

describe.each<Engine>(['sqlite', 'postgres'])('on %s', (engine) => {
  test('a process has one holder at a time, and the same store enters again', async () => {
    const { place, ada, bob } = await two(engine)
    const child = await ada.processes.register('c', external)
    expect(await child.holder()).toBeUndefined()
    const held = await child.claim()
    const again = await child.claim()
    expect(again.fence).toBe(held.fence)
    const refused = await (await get(bob)).claim().catch((error) => error)
    expect(refused).toMatchObject({ code: 'PROCESS_HELD', details: { owner: 'ada', fence: held.fence, name: 'c' } })
    expect(await (await get(bob)).holder()).toMatchObject({ owner: 'ada', fence: held.fence, lapsed: false })
    await again.release()
    expect(await codeOf((await get(bob)).claim())).toBe('PROCESS_HELD')
    const waiting = (await get(bob)).claim({ wait: '10s' })
    await held.release()
    const next = await waiting
    expect(next.fence).toBeGreaterThan(held.fence)
    expect(await codeOf(held.event('a.b'))).toBe('FENCE_LOST')
    await place.pass(61_000)
    expect(await child.holder()).toMatchObject({ owner: 'bob', lapsed: true })
    // Lapsed is not over: nobody took it.
    await next.event('a.b', 1)
    expect(await codeOf(get(ada).then((it) => it.claim()))).toBe('no error')
    expect(await codeOf(ada.processes.register('d', external).then((it) => it.complete().then(() => it.claim())))).toBe('PROCESS_FINISHED')
    await expectSound(place.world)
  })

  test('many claims of one process at once: exactly one gets its lease', async () => {
    const { place, ada, bob } = await two(engine)
    await ada.processes.register('c', external)
    const codes = await Promise.all([ada, bob].map(async (store) => codeOf((await get(store)).claim())))
    expect(codes.sort()).toEqual(['PROCESS_HELD', 'no error'])
    await expectSound(place.world)
  })

  test.each(Object.entries(writes))('an owner that lost the lease of a process writes nothing: %s', async (_, write) => {
    const { place, ada, bob } = await two(engine)
    const held = await (await ada.processes.register('c', external)).claim()
    await held.event('page.fetched', { by: 'ada' })
    await place.pass(61_000)
    const next = await (await get(bob)).claim()
    const { seq } = await place.world.head()
    expect(await codeOf(write(held))).toBe('FENCE_LOST')
    expect(held.signal.aborted).toBe(true)
    expect((await place.world.head()).seq).toBe(seq)
    await next.complete('by bob')
    expect(await (await get(ada)).result()).toEqual({ state: 'completed', value: 'by bob' })
    await expectSound(place.world)
  })

  test.each(Object.entries(writes))('without the fence whoever was taken over would write: %s', async (_, write) => {
    const { place, ada, bob } = await two(engine, false)
    const held = await (await ada.processes.register('c', external)).claim()
    await held.event('page.fetched', { by: 'ada' })
    await place.pass(61_000)
    await (await get(bob)).claim()
    const { seq } = await place.world.head()
    expect(await codeOf(write(held))).toBe('no error')
    expect((await place.world.head()).seq).toBeGreaterThan(seq)
  })

  test('ending it and giving the lease back are one commit', async () => {
    const { place, ada } = await two(engine)
    const held = await (await ada.processes.register('c', external)).claim()
    const { seq } = await place.world.head()
    const { commits } = ada.stats()
    await held.complete('done')
    expect(ada.stats().commits - commits).toBe(1)
    const written: string[] = []
    for await (const { type } of place.world.events({ after: seq })) written.push(type)
    expect(written.sort()).toEqual(['lease.released', 'process-event.recorded', 'process.completed'])
    expect(await held.holder()).toBeUndefined()
    expect(await codeOf(held.event('a.b'))).toBe('PROCESS_FINISHED')
    await held.release()
    await expectSound(place.world)
  })

  test('an end of a process from outside ends its lease too', async () => {
    const { place, ada, bob } = await two(engine)
    const held = await (await ada.processes.register('c', external)).claim()
    const same = await held.claim()
    await (await get(bob)).cancelled('enough')
    expect(await held.holder()).toBeUndefined()
    expect(await codeOf(held.complete('too late'))).toBe('PROCESS_FINISHED')
    const other = await (await ada.processes.register('d', external)).claim()
    await (await ada.processes.get('d'))?.complete()
    expect(other.signal.aborted).toBe(true)
    await same.release()
    await expectSound(place.world)
  })

  test('leaving the scope gives it back, and closing the store does', async () => {
    const { place, ada, bob } = await two(engine)
    const child = await ada.processes.register('c', external)
    {
      await using held = await child.claim()
      await held.event('a.b')
    }
    const mine = await (await get(bob)).claim()
    expect(mine.fence).toBeGreaterThan(0)
    await bob.close()
    await using held = await child.claim()
    expect(held.fence).toBeGreaterThan(mine.fence)
    await expectSound(place.world)
  })
})
