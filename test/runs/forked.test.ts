// What a fork knows: all that was recorded before it, the time included, and nothing that came after.

import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { Run } from '../../src/index.ts'
import { codeOf, engines, expectSound } from '../support/engines.ts'

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

  test('the key of a fork is the fork, and never somebody else’s session', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    await session.append('said.this', 1)
    const { seq: at } = await store.head()
    const fork = await session.fork({ at, key: 'f' })
    expect((await session.fork({ at, key: 'f' })).id).toBe(fork.id)
    expect(await codeOf(session.fork({ at: at - 1, key: 'f' }))).toBe('KEY_REUSED')
    await store.session('mallory')
    expect(await codeOf(session.fork({ at, key: 'mallory' }))).toBe('KEY_REUSED')
    await expectSound(store)
  })

  test('a deleted session cannot be forked, and an erased payload does not come back with a fork', async () => {
    const store = await engine.open()
    const session = await store.session('s', { title: 'Jane' })
    const { seq: at } = await store.head()
    // In another hand, which has not heard of it.
    await (await store.sessions.find('s'))?.rename('Doe')
    expect((await session.fork({ at })).title).toBe('Doe')
    await (await store.sessions.find('s'))?.delete({ reason: 'asked for' })
    expect(await codeOf(session.fork({ at }))).toBe('SESSION_DELETED')
    await expectSound(store)
  })

  test('nothing is shared that is not written yet', async () => {
    const store = await engine.open()
    const { id } = await store.session('s')
    const { seq } = await store.head()
    const relation = { kind: 'fork', session: id, at: seq + 1 }
    expect(await codeOf(store.session('f', { relation }))).toBe('RANGE_INVALID')
    expect(await codeOf((await store.session('s')).fork({ at: seq + 1 }))).toBe('RANGE_INVALID')
    expect((await store.head()).seq).toBe(seq)
  })

  test('a session is deleted though its runs end meanwhile', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    await session.append('said.this', 1)
    const runs = await Promise.all(Array.from({ length: 12 }, (_, i) => session.run(`r${i}`, { parallel: true })))
    const ending = (async () => {
      for (const run of runs) await run.finish('ok').catch(() => {})
    })()
    await Promise.all([session.delete({ reason: 'asked for' }), ending])
    const left = []
    for await (const { type, erased } of store.events({ session: session.id })) if (!erased) left.push(type)
    expect(left).toEqual(['session.deleted'])
    await expectSound(store)
  })
})
