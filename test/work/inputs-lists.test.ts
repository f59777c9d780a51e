// What was said to a session, as those who said it look at it: taken back, listed, forgotten, refused.

import { describe, expect, test } from 'vitest'
import type { Session } from '../../src/index.ts'
import { codeOf, engines, expectSound } from '../support/engines.ts'

const contents = (inputs: readonly { readonly content: unknown }[]): readonly unknown[] => inputs.map(({ content }) => content)
const statesOf = async (session: Session): Promise<Readonly<Record<string, string>>> =>
  Object.fromEntries((await session.inputs.list({ first: 1000 })).items.map(({ content, state }) => [String(content), state]))

describe.each(engines)('an input on $name', (engine) => {
  test('an input is taken back one by one, several at once, or with all that came after it, and each says how it went', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const other = await store.session('t')
    const elsewhere = await other.input('elsewhere')
    const run = await session.run('turn')
    const [a, b, c, d] = await Promise.all(['a', 'b', 'c', 'd'].map((key) => session.input(key, { key })))
    const done = await session.input('done', { turn: 'next' })
    await run.inputs({ most: 1 })
    const accepted = (await session.inputs.list({ state: 'accepted' })).items[0]
    const missing = '01J00000000000000000000000'
    const rest = [a, b, c, d].filter((one) => one?.id !== accepted?.id)
    const [first, second, third] = rest.map((one) => one?.id ?? '')
    expect(await session.inputs.cancel(first ?? '')).toEqual({ id: first, outcome: 'cancelled' })
    const before = await store.head()
    expect(await session.inputs.cancel([first ?? '', accepted?.id ?? '', missing, elsewhere.id])).toEqual([
      { id: first, outcome: 'alreadyCancelled' },
      { id: accepted?.id, outcome: 'alreadyAccepted' },
      { id: missing, outcome: 'notFound' },
      { id: elsewhere.id, outcome: 'notFound' },
    ])
    expect(await store.head()).toEqual(before)
    expect(await session.inputs.cancel([second ?? '', { key: 'nobody' }, second ?? ''])).toMatchObject([
      { id: second, outcome: 'cancelled' },
      { outcome: 'notFound' },
      { id: second, outcome: 'cancelled' },
    ])
    expect(await session.inputs.cancelFrom(missing)).toEqual([{ id: missing, outcome: 'anchorNotFound' }])
    expect(await session.inputs.cancelFrom(elsewhere.id)).toEqual([{ id: elsewhere.id, outcome: 'anchorNotFound' }])
    expect(new Set((await session.inputs.cancelFrom(done.id)).map(({ outcome }) => outcome))).toEqual(new Set(['cancelled']))
    await run.finish()
    expect(await session.inputs.cancel(accepted?.id ?? '')).toMatchObject({ outcome: 'alreadyCompleted' })
    expect(await session.inputs.get(third ?? '')).toMatchObject({ state: 'deferred' })
    expect(await other.inputs.get(elsewhere.id)).toMatchObject({ state: 'deferred' })
    await expectSound(store)
  })

  test('an input is taken back with everything later in the session, in one commit', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const said = []
    for (const word of ['a', 'b', 'c', 'd', 'e']) said.push(await session.input(word))
    const run = await session.run('turn')
    const pending = await session.input('f')
    await session.inputs.cancel(said[3]?.id ?? '')
    const before = await store.head()
    const outcomes = await session.inputs.cancelFrom(said[1]?.id ?? '')
    expect(outcomes.map(({ id, outcome }) => [id, outcome])).toEqual([
      [said[1]?.id, 'cancelled'],
      [said[2]?.id, 'cancelled'],
      [said[3]?.id, 'alreadyCancelled'],
      [said[4]?.id, 'cancelled'],
      [pending.id, 'cancelled'],
    ])
    expect((await store.head()).seq - before.seq).toBe(4)
    expect(await statesOf(session)).toEqual({
      a: 'deferred',
      b: 'cancelled',
      c: 'cancelled',
      d: 'cancelled',
      e: 'cancelled',
      f: 'cancelled',
    })
    expect(contents(await run.inputs({ boundary: 'beforeCompletion' }))).toEqual([])
    await run.finish()
    // What was taken back does not come back.
    expect(await statesOf(session)).toMatchObject({ a: 'deferred', f: 'cancelled' })
    await expectSound(store)
  })

  test('an input is listed by session and state, newest first or oldest first, a page at a time', async () => {
    const store = (await engine.open()).as('user_ada')
    const session = await store.session('s')
    await (await store.session('t')).input('elsewhere')
    for (const word of ['a', 'b', 'c']) await session.input(word)
    expect(contents((await session.inputs.list()).items)).toEqual(['c', 'b', 'a'])
    expect(contents((await session.inputs.list({ first: 10 })).items)).toEqual(['a', 'b', 'c'])
    const page = await session.inputs.list({ last: 2, state: 'deferred' })
    expect(contents(page.items)).toEqual(['c', 'b'])
    expect(page.items[0]).toMatchObject({ by: 'user_ada' })
    expect(contents((await session.inputs.list({ last: 2, state: 'deferred', cursor: page.cursor ?? '' })).items)).toEqual(['a'])
    expect((await session.inputs.list({ state: 'pending' })).items).toEqual([])
    expect(await codeOf(session.inputs.list({ state: 'gone' as 'pending' }))).toBe('RANGE_INVALID')
    expect(await codeOf(session.inputs.list({ last: 0 }))).toBe('RANGE_INVALID')
  })

  test('an input that is over can be forgotten, and one that is not stays', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    await session.input('cancelled', { key: 'k' })
    await session.inputs.cancel({ key: 'k' })
    await session.input('deferred')
    const run = await session.run('turn')
    await session.input('taken')
    await run.inputs()
    await session.input('pending')
    expect(await session.inputs.prune({ olderThan: '1h' })).toBe(0)
    expect(await session.inputs.prune()).toBe(1)
    expect(await session.inputs.prune()).toBe(0)
    expect(await statesOf(session)).toEqual({ deferred: 'deferred', taken: 'accepted', pending: 'pending' })
    expect(await session.input('other content', { key: 'k' })).toMatchObject({ repeated: false })
    await run.finish()
    expect(await session.inputs.prune()).toBe(1)
    await expectSound(store)
  })

  test('an input survives as it was said: large, with pictures in it, and without its secrets', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const picture = { image: { mediaType: 'image/png', data: 'iVBORw0KGgo'.repeat(8000) } }
    await session.input(picture, { key: 'p' })
    await session.input(`my token is ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}`)
    const run = await session.run('turn')
    const [seen, masked] = await run.inputs({ from: 'next' })
    expect(seen?.content).toEqual(picture)
    expect(masked?.content).not.toContain('a1B2c3')
    await run.finish()
    expect(await session.input(picture, { key: 'p' })).toMatchObject({ repeated: true })
    await expectSound(store)
  })

  test('an input is refused, and nothing is written, where it says nothing usable or is for nobody', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const other = await (await store.session('t')).run('turn')
    const over = await session.run('turn')
    await over.finish()
    const before = await store.head()
    const missing = '01J00000000000000000000000' as typeof over.id
    for (const [given, code] of [
      [() => session.input(undefined), 'OPTION_INVALID'],
      [() => session.input(() => 1), 'DATA_INVALID'],
      [() => session.input('a', { turn: 'soon' as 'next' }), 'OPTION_INVALID'],
      [() => session.input('a', { boundary: 'never' as 'afterWork' }), 'OPTION_INVALID'],
      [() => session.input('a', { key: '' }), 'KEY_INVALID'],
      [() => session.input('a', { turn: over.id }), 'RUN_FINISHED'],
      [() => session.input('a', { turn: other.id }), 'RUN_UNKNOWN'],
      [() => session.input('a', { turn: missing }), 'RUN_UNKNOWN'],
      [() => session.inputs.cancel('no id'), 'ID_INVALID'],
      [() => other.inputs({ most: 0 }), 'OPTION_INVALID'],
      [() => other.inputs({ boundary: 'x' as 'afterWork' }), 'OPTION_INVALID'],
      [() => other.inputs({ from: 'x' as 'next' }), 'OPTION_INVALID'],
      [() => over.inputs(), 'RUN_FINISHED'],
    ] as const)
      expect(await codeOf(given())).toBe(code)
    expect(await store.head()).toEqual(before)
    await session.archive()
    expect(await codeOf(session.input('a'))).toBe('SESSION_ARCHIVED')
    await other.finish()
  })

  test('an input whose words were erased is still there, for the same turn, and says nothing', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const run = await session.run('turn')
    const said = await session.input('my name is Ada', { key: 'k' })
    const batch = await session.inbox.offer('her name is Ada', { kind: 'turn', delivery: 'boundary' })
    for await (const { seq, type } of store.events({ types: ['input.offered', 'batch.offered'] }))
      expect(await store.erase({ seq, reason: `a request about ${type}` })).toMatchObject({ erased: 1 })
    expect(await session.inputs.get(said.id)).toMatchObject({ state: 'pending', run: run.id, content: undefined })
    expect(await session.inbox.get(batch.id)).toMatchObject({ state: 'pending', payload: undefined })
    expect(await run.inputs()).toMatchObject([{ id: said.id, content: undefined }])
    expect(await run.inbox({ at: 'idle' })).toMatchObject({ batches: [{ id: batch.id, payload: undefined }] })
    await run.finish()
    await expectSound(store)
  })

  test('an input to a session that is deleted is heard by nobody, and its words are gone', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const run = await session.run('turn')
    await session.input('taken')
    await run.inputs()
    const pending = await session.input('pending', { key: 'p' })
    await session.inbox.offer('work', { kind: 'turn', delivery: 'boundary' })
    await session.delete({ reason: 'asked for' })
    expect(await session.inputs.get(pending.id)).toMatchObject({ state: 'cancelled', content: undefined })
    expect((await session.inbox.list()).items).toMatchObject([{ state: 'cancelled', payload: undefined }])
    const anew = await store.session('s')
    expect((await anew.inputs.list()).items).toEqual([])
    await expectSound(store)
  })
})
