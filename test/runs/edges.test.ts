// Corners of runs in which something once went wrong.

import { describe, expect, test } from 'vitest'
import type { Run } from '../../src/index.ts'
import { codeOf, engines, expectSound, lentDatabase, openIn, tempFile } from '../support/engines.ts'

const both = engines.filter(({ name }) => name === 'sqlite' || name === 'postgres')
const place = async (name: string): Promise<string> => (name === 'postgres' ? lentDatabase() : tempFile())

describe.each(both)('on $name', (engine) => {
  test('a node finds what is ready behind many that are held elsewhere', async () => {
    const url = await place(engine.name)
    const lease = { ttl: 150, renew: 50 }
    const [busy, free] = [await openIn(url, { lease }), await openIn(url, { lease })]
    const gate = Promise.withResolvers<void>()
    // Both nodes have the same program. On a machine that stalls, a lease may lapse, and then the other node goes on with a long run.
    const long = busy.work({ step: (run: Run) => run.effect('step', () => gate.promise) }, { concurrency: 6 })
    const handles = await Promise.all(Array.from({ length: 6 }, (_, i) => busy.start('step', { session: `long${i}` })))
    await expect.poll(() => long.stats().running).toBe(6)
    // Their claims are older than their time by now; their leases are renewed.
    await new Promise((resolve) => setTimeout(resolve, 300))
    await using node = free.work({ step: (run: Run) => run.effect('step', () => 'short') }, { concurrency: 2 })
    expect(await (await free.start('step', { session: 'short' })).result()).toBe('short')
    gate.resolve()
    await Promise.all(handles.map((handle) => handle.result()))
    await node.close()
    await long.close()
    await expectSound(free)
  })

  test('two waits of one name and different kinds are two waits', async () => {
    const store = await engine.open()
    const run = await (await store.session('s')).run('r')
    const both = Promise.all([run.signal('go'), run.ask('go')])
    await expect.poll(async () => (await store.runs.get(run.id))?.waits.length).toBe(2)
    await store.signal('s', 'go', 'signalled')
    const [question] = (await store.approvals.list({ state: 'pending' })).items
    await store.approvals.decide(question?.id ?? '', { value: 'answered' })
    expect(await both).toEqual(['signalled', 'answered'])
    await run.finish()
    await expectSound(store)
  })

  test('the time of a run is the same under replay, after waits and usage too', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const program = async (run: Run) => {
      const times = [run.now()]
      await run.sleep(30)
      times.push(run.now())
      await run.usage({ model: 'm', inputTokens: 1 })
      times.push(run.now())
      await run.append('plan.changed', {})
      times.push(run.now())
      await run.effect('e', () => 1)
      return [...times, run.now()]
    }
    const run = await session.run('r')
    const times = await program(run)
    await run.close()
    const again = await session.run('r')
    expect(await program(again)).toEqual(times)
    await again.finish()
  })

  test('a fork finds what its origin appended, and events that others wrote about a run are not asked for', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const run = await session.run('r')
    const receipt = await run.append('plan.changed', { steps: 1 })
    await session.append('note.made', { by: 'a person' }, { run: run.id, key: 'note-1' })
    const { seq: at } = await store.head()
    await run.close()
    const again = await session.run('r')
    expect(await again.append('plan.changed', { steps: 1 })).toEqual(receipt)
    await again.finish()
    const fork = await run.fork({ at })
    expect(await fork.append('plan.changed', { steps: 1 })).toEqual(receipt)
    await fork.effect('anew', () => 1)
    await fork.finish()
    await expectSound(store)
  })

  test('a race that was lost to an error is lost to it under replay', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const program = (run: Run) =>
      run.race({
        bad: (r) => r.effect('x', () => Promise.reject(new Error('bad luck'))),
        slow: (r) => r.effect('x', () => new Promise((resolve) => setTimeout(resolve, 30, 'slow'))),
      })
    const run = await session.run('r')
    expect(await codeOf(program(run))).toBe('EFFECT_FAILED')
    await new Promise((resolve) => setTimeout(resolve, 60))
    await run.close()
    const again = await session.run('r')
    expect(await codeOf(program(again))).toBe('EFFECT_FAILED')
    await again.finish()
  })

  test('two callers resolve one effect: only the first outcome counts', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const run = await session.run('r')
    void run.effect('charge', () => new Promise(() => {}), { ifUnknown: 'ask' }).catch(() => {})
    await expect.poll(async () => (await store.page({ types: ['effect.started'] })).items.length).toBe(1)
    await run.close()
    const again = await session.run('r')
    const charged = again.effect('charge', () => 'called', { ifUnknown: 'ask' })
    await expect.poll(async () => (await store.runs.get(run.id))?.waits.length).toBe(1)
    const said = await Promise.all([1, 2].map((n) => codeOf(store.runs.resolve(run.id, 'charge', { result: n }))))
    expect(said.toSorted()).toEqual(['EFFECT_UNKNOWN', 'no error'])
    expect([1, 2]).toContain(await charged)
    expect((await store.page({ types: ['effect.resolved'] })).items).toHaveLength(1)
    await again.close()
    const third = await session.run('r')
    expect([1, 2]).toContain(await third.effect('charge', () => 'called', { ifUnknown: 'ask' }))
    await third.finish()
    await expectSound(store)
  })

  test('a handle that was let go ends nothing, and takes no lease from its neighbours', async () => {
    const store = await engine.open({ lease: { ttl: '60s', renew: 20 } })
    const session = await store.session('s')
    const [one, other] = [await session.run('one'), await session.run('other')]
    await one.close()
    expect(await codeOf(one.fail(new Error('late')))).toBe('RUN_CLOSED')
    expect(await codeOf(one.cancel('late'))).toBe('RUN_CLOSED')
    // Renewed once more than by a renewal that was under way when the handle was let go.
    for (let renewals = 0; renewals < 2; renewals++) {
      const { until = 0 } = (await store.runs.holder(other.id)) ?? {}
      await expect.poll(async () => (await store.runs.holder(other.id))?.until).toBeGreaterThan(until)
    }
    expect(await other.effect('e', () => 1)).toBe(1)
    await other.finish()
    expect(await codeOf(other.fail(new Error('late')))).toBe('RUN_FINISHED')
    expect((await store.runs.get(one.id))?.state).toBe('running')
  })
})
