// What somebody says to a session while it works: heard once by the turn it is for, or by the next, taken back in time, and never lost with a turn.

import { describe, expect, test } from 'vitest'
import type { Run, Session } from '../../src/index.ts'
import { codeOf, engines, expectSound } from '../support/engines.ts'

const contents = (inputs: readonly { readonly content: unknown }[]): readonly unknown[] => inputs.map(({ content }) => content)
const statesOf = async (session: Session): Promise<Readonly<Record<string, string>>> =>
  Object.fromEntries((await session.inputs.list({ first: 1000 })).items.map(({ content, state }) => [String(content), state]))

describe.each(engines)('an input on $name', (engine) => {
  test('an input is heard by the turn that is underway, once, and completed with it', async () => {
    const store = await engine.open()
    const session = await store.session('support/4711')
    await using run = await session.run('turn')
    const said = await session.input({ text: 'also check the address' }, { turn: 'active', key: 'm-12' })
    expect(said).toMatchObject({ state: 'pending', run: run.id, boundary: 'afterWork', key: 'm-12', repeated: false })
    const heard = await run.inputs()
    expect(heard).toEqual([
      { id: said.id, key: 'm-12', boundary: 'afterWork', offeredAt: said.offeredAt, content: { text: 'also check the address' } },
    ])
    expect(await run.inputs()).toEqual([])
    expect(await session.inputs.get(said.id)).toMatchObject({ state: 'accepted', run: run.id })
    await run.finish()
    expect(await session.inputs.get({ key: 'm-12' })).toMatchObject({ id: said.id, state: 'completed', run: run.id })
    await expectSound(store)
  })

  test('an input waits for the next turn where none is underway, or where that was meant', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    expect(await session.input('before')).toMatchObject({ state: 'deferred' })
    const first = await session.run('turn', { key: '1' })
    expect(await session.input('later', { turn: 'next' })).toMatchObject({ state: 'deferred' })
    expect(contents(await first.inputs())).toEqual([])
    expect(contents(await first.inputs({ from: 'next', most: 1 }))).toEqual(['before'])
    await first.finish()
    const second = await session.run('turn', { key: '2' })
    expect(contents(await second.inputs({ from: 'next' }))).toEqual(['later'])
    await second.finish()
    expect(await statesOf(session)).toEqual({ before: 'completed', later: 'completed' })
    await expectSound(store)
  })

  test('an input is for the newest of the turns that are underway, and never for a run beside them unless it is named', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const older = await session.run('turn', { key: '1' })
    const newer = await session.run('turn', { key: '2' })
    const beside = await session.run('watch', { parallel: true })
    expect(await session.input('to the newest')).toMatchObject({ run: newer.id })
    expect(await session.input('to the older', { turn: older.id })).toMatchObject({ run: older.id })
    expect(await session.input('to the one beside', { turn: beside.id })).toMatchObject({ run: beside.id })
    await newer.finish()
    expect(await session.input('to the older again')).toMatchObject({ run: older.id })
    await older.finish()
    expect(await session.input('to nobody yet')).toMatchObject({ state: 'deferred' })
    // What is for the next turn is for a turn.
    expect(contents(await beside.inputs({ from: 'next' }))).toEqual([])
    expect(contents(await beside.inputs())).toEqual(['to the one beside'])
    await beside.finish()
    await expectSound(store)
  })

  test('an input that may be heard only before the end is admitted only there; every other is admitted everywhere', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const run = await session.run('turn')
    await session.input('b1', { boundary: 'beforeCompletion' })
    await session.input('a1')
    await session.input('b2', { boundary: 'beforeCompletion' })
    await session.input('a2', { boundary: 'afterWork' })
    expect(contents(await run.inputs({ boundary: 'afterWork', most: 1 }))).toEqual(['a1'])
    expect(contents(await run.inputs({ boundary: 'afterWork' }))).toEqual(['a2'])
    await session.input('a3')
    expect(contents(await run.inputs({ boundary: 'beforeCompletion' }))).toEqual(['b1', 'b2', 'a3'])
    await run.finish()
    await expectSound(store)
  })

  test('an input is the same under the same key, also when it is over, and other content with it is refused by name', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const other = await store.session('t')
    const said = await session.input({ b: 1, a: [2] }, { key: 'm-1' })
    expect(await session.input({ a: [2], b: 1 }, { key: 'm-1' })).toMatchObject({ id: said.id, repeated: true, state: 'deferred' })
    const head = await store.head()
    const refusal = await session.input({ b: 2, a: [2] }, { key: 'm-1' }).catch((error: unknown) => error)
    expect(refusal).toMatchObject({ code: 'KEY_REUSED', details: { input: said.id, state: 'deferred' } })
    expect(await store.head()).toEqual(head)
    expect((await other.input('elsewhere', { key: 'm-1' })).id).not.toBe(said.id)
    await session.inputs.cancel(said.id)
    expect(await session.input({ b: 1, a: [2] }, { key: 'm-1' })).toMatchObject({ id: said.id, repeated: true, state: 'cancelled' })
    const run = await session.run('turn')
    await session.input('heard', { key: 'm-2' })
    await run.inputs()
    await run.finish()
    expect(await session.input('heard', { key: 'm-2' })).toMatchObject({ repeated: true, state: 'completed' })
    expect(await codeOf(session.input('misheard', { key: 'm-2' }))).toBe('KEY_REUSED')
    await session.input('later', { key: 'm-3', turn: 'next' })
    expect(await session.input('later', { key: 'm-3', turn: 'next' })).toMatchObject({ repeated: true })
    expect(await codeOf(session.input('later', { key: 'm-3' }))).toBe('KEY_REUSED')
    expect(await codeOf(session.input('later', { key: 'm-3', turn: run.id }))).toBe('KEY_REUSED')
    expect(await codeOf(session.input('heard', { key: 'm-2', turn: 'next' }))).toBe('KEY_REUSED')
    await expectSound(store)
  })

  test('an input that a turn did not take is left to the next when the turn ends, whichever way, and what it took ends with it', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    for (const [i, end] of [
      (run: Run) => run.finish(),
      (run: Run) => run.cancel('stop'),
      (run: Run) => store.runs.cancel(run.id, 'stop'),
    ].entries()) {
      const run = await session.run('turn', { key: String(i) })
      await session.input(`taken ${i}`)
      await run.inputs()
      await session.input(`left ${i}`)
      await session.input(`taken back ${i}`, { key: `back ${i}` })
      await session.inputs.cancel({ key: `back ${i}` })
      await end(run)
      expect(await statesOf(session)).toMatchObject({
        [`taken ${i}`]: 'completed',
        [`left ${i}`]: 'deferred',
        [`taken back ${i}`]: 'cancelled',
      })
    }
    const next = await session.run('turn', { key: 'next' })
    expect(contents(await next.inputs({ from: 'next' }))).toEqual(['left 0', 'left 1', 'left 2'])
    await next.finish()
    await expectSound(store)
  })

  test('an input that a turn took and died with can be taken again by another, in the order it was said', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    await session.input('one')
    const run = await session.run('turn', { key: '1' })
    await session.input('two')
    expect(contents(await run.inputs({ from: 'next' }))).toEqual(['one'])
    expect(contents(await run.inputs())).toEqual(['two'])
    await session.input('three')
    await session.input('four', { key: 'four' })
    await session.inputs.cancel({ key: 'four' })
    await run.fail(new Error('no more'))
    expect(await statesOf(session)).toEqual({ one: 'deferred', two: 'deferred', three: 'deferred', four: 'cancelled' })
    const again = await session.run('turn', { key: '2' })
    expect(contents(await again.inputs({ from: 'next' }))).toEqual(['one', 'two', 'three'])
    await again.finish()
    expect(await statesOf(session)).toMatchObject({ one: 'completed', two: 'completed', three: 'completed' })
    await expectSound(store)
  })

  test('the end of one turn leaves what is said to another alone', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const one = await session.run('turn', { key: '1' })
    const two = await session.run('turn', { key: '2' })
    await session.input('to one', { turn: one.id })
    await session.input('to two', { turn: two.id })
    await two.fail(new Error('no'))
    expect(await statesOf(session)).toEqual({ 'to one': 'pending', 'to two': 'deferred' })
    expect(contents(await one.inputs())).toEqual(['to one'])
    await one.finish()
  })

  test('an input is heard the same by a handler that is taken up again, and by a fork, which takes nothing from anybody', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    await session.input('first')
    const heard: unknown[] = []
    const handler = async (run: Run) => {
      heard.push(contents(await run.inputs({ from: 'next' })))
      await run.sleep('1h')
      heard.push(contents(await run.inputs()))
      return heard.length
    }
    await using node = store.work({ turn: handler })
    const handle = await store.start('turn', { session: 's' })
    await expect.poll(() => node.stats().parked).toBe(1)
    // It sleeps, and hears this when it wakes up.
    await session.input('while asleep')
    expect(await session.inputs.list({ state: 'pending' })).toMatchObject({ items: [{ run: handle.id }] })
    await using fork = await store.runs.fork(handle.id, { at: (await store.head()).seq })
    expect(contents(await fork.inputs({ from: 'next' }))).toEqual(['first'])
    expect(contents(await fork.inputs())).toEqual([])
    await fork.finish()
    expect(await statesOf(session)).toEqual({ first: 'accepted', 'while asleep': 'pending' })
    await handle.cancel('enough')
    expect(await statesOf(session)).toEqual({ first: 'completed', 'while asleep': 'deferred' })
    await expectSound(store)
  })

  test('an input is heard by one of two branches that ask', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const run = await session.run('turn')
    for (const word of ['a', 'b', 'c']) await session.input(word)
    const { left, right } = await run.all({ left: (b) => b.inputs({ most: 2 }), right: (b) => b.inputs({ most: 2 }) })
    expect([...contents(left), ...contents(right)].toSorted()).toEqual(['a', 'b', 'c'])
    await run.finish()
    await expectSound(store)
  })
})
