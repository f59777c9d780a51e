// What a fork knows: all that was recorded before it, the time included, and nothing that came after.

import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { Run } from '../../src/index.ts'
import { engines, expectSound } from '../support/engines.ts'

const both = engines.filter(({ name }) => name === 'sqlite' || name === 'postgres')

describe.each(both)('on $name', (engine) => {
  test('time in what a fork shares is what it was', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const program = async (run: Run) => {
      const began = run.now()
      await run.effect(`at ${began}`, () => 1)
      return [began, run.now()]
    }
    const run = await session.run('r')
    const times = await program(run)
    const { seq: at } = await store.head()
    await run.finish()
    await sleep(20)
    const fork = await run.fork({ at })
    expect(await program(fork)).toEqual(times)
    await fork.finish()
    const beside = await (await session.fork({ at })).run('r')
    expect(await program(beside)).toEqual(times)
    await beside.finish()
    await expectSound(store)
  })

  test('a run that is started in a forked session goes on from what was recorded before the fork', async () => {
    const store = await engine.open()
    let paid = 0
    await using node = store.work({
      r: async (run: Run, input: unknown) => [input, await run.effect('pay', () => ++paid)],
    })
    const session = await store.session('s')
    const { seq: early } = await store.head()
    await (await store.start('r', { session: 's', key: 'k', input: 'one' })).result()
    const { seq: at } = await store.head()
    const fork = await session.fork({ at, key: 'fork' })
    const start = () => store.start('r', { session: 'fork', key: 'k' })
    expect(await (await start()).result()).toEqual(['one', 1])
    // The same key is the same run, input and all.
    expect((await start()).id).toBe((await start()).id)
    expect((await fork.run('r', { key: 'k' })).result).toEqual(['one', 1])
    // Forked before there was such a run, it knows nothing of it.
    const before = await session.fork({ at: early, key: 'before' })
    const fresh = await before.run('r', { key: 'k' })
    expect(fresh.input).toBeUndefined()
    expect(fresh.toJSON()).toMatchObject({ origin: fresh.id })
    expect(fresh.toJSON().fork).toBeUndefined()
    await fresh.finish()
    await node.close()
    await expectSound(store)
  })
})
