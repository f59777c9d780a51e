// Forks of runs with checkpoints: a fork restores the newest one at or before its point, while its content is stored.

import { describe, expect, test } from 'vitest'
import type { Run, Store } from '../../src/index.ts'
import { engines, expectSound } from '../support/engines.ts'

const start = async (store: Store): Promise<Run> => (await store.session('s')).run('r')

describe.each(engines)('on $name', (engine) => {
  test('a fork restores the newest checkpoint at or before its point', async () => {
    const store = await engine.open()
    const run = await start(store)
    const points: number[] = [(await store.head()).seq]
    for (let n = 1; n <= 3; n++) {
      await run.effect('pay', () => n)
      await run.checkpoint({ n })
      points.push((await store.head()).seq)
    }
    for (const [n, at] of points.entries()) {
      const fork = await run.fork({ at })
      expect(await fork.restore()).toEqual(n === 0 ? undefined : { n })
      expect(await fork.effect('pay', () => 'again')).toBe('again')
      await fork.checkpoint({ n: 'own' })
      const next = await fork.fork({ at: (await store.head()).seq })
      expect(await next.restore()).toEqual({ n: 'own' })
      await Promise.all([next.finish(), fork.finish()])
      // A fork of a fork, before both of their points.
      const early = await fork.fork({ at: points[1] as number })
      expect(await early.restore()).toEqual(n === 0 ? undefined : { n: 1 })
      await early.finish()
    }
    const session = await store.session('s')
    const beside = await (await session.fork({ at: points[2] as number })).run('r')
    expect(await beside.restore()).toEqual({ n: 2 })
    await beside.finish()
    await run.finish()
    await expectSound(store)
  })

  test('a fork whose checkpoint was collected replays from the start', async () => {
    const store = await engine.open()
    const run = await start(store)
    await run.effect('pay', () => 1)
    await run.checkpoint({ big: 'x'.repeat(5000) })
    const at = (await store.head()).seq
    await run.effect('pay', () => 2)
    await run.checkpoint({ big: 'y'.repeat(5000) })
    const report = await store.collect({ grace: 0 })
    expect(report.deleted.nodes).toBeGreaterThan(0)
    const fork = await run.fork({ at })
    expect(await fork.restore()).toBeUndefined()
    expect(await fork.effect('pay', () => 'not called')).toBe(1)
    await fork.checkpoint({ big: 'not stored again' })
    const key = await fork.effect('pay', (context) => context.key)
    expect(await store.runs.effectKey(fork.id, { branch: '', name: 'pay', ordinal: 1 })).toBe(key)
    await fork.finish()
    // The newest checkpoint of the run itself is kept.
    const other = await run.close().then(() => start(store))
    expect(await other.restore()).toEqual({ big: 'y'.repeat(5000) })
    await other.finish()
    await expectSound(store)
  })
})
