// What somebody says to a session while it works: heard once by the turn it is for, or by the next, taken back in time, and never lost with a turn.

import { describe, expect, test } from 'vitest'
import type { Run, Session, Store } from '../../src/index.ts'
import { limits } from '../../src/index.ts'
import { shared } from '../runs/in-memory.ts'
import { codeOf, engines, expectSound, openIn, tempDatabase, tempFile } from '../support/engines.ts'

const contents = (inputs: readonly { readonly content: unknown }[]): readonly unknown[] => inputs.map(({ content }) => content)
const statesOf = async (session: Session): Promise<Readonly<Record<string, string>>> =>
  Object.fromEntries((await session.inputs.list({ first: 1000 })).items.map(({ content, state }) => [String(content), state]))

describe.each(engines)('an input on $name', (engine) => {
  test('is heard by the turn that is underway, once, and completed with it', async () => {
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

  test('waits for the next turn where none is underway, or where that was meant', async () => {
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

  test('is for the newest of the turns that are underway, and never for a run beside them unless it is named', async () => {
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

  test('that may be heard only before the end is admitted only there; every other is admitted everywhere', async () => {
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

  test('is the same under the same key, also when it is over, and other content with it is refused by name', async () => {
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
    await expectSound(store)
  })

  test('that a turn did not take is left to the next when the turn ends, whichever way, and what it took ends with it', async () => {
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

  test('that a turn took and died with can be taken again by another, in the order it was said', async () => {
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

  test('is taken back one by one, several at once, or with all that came after it, and each says how it went', async () => {
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

  test('and all after it: it and everything later in the session, in one commit', async () => {
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

  test('is listed by session and state, newest first or oldest first, a page at a time', async () => {
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

  test('that is over can be forgotten, and one that is not stays', async () => {
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

  test('survives as it was said: large, with pictures in it, and without its secrets', async () => {
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

  test('is refused, and nothing is written, where it says nothing usable or is for nobody', async () => {
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

  test('to a session that is deleted is heard by nobody, and its words are gone', async () => {
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

  test('is heard the same by a handler that is taken up again, and by a fork, which takes nothing from anybody', async () => {
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

  test('is heard by one of two branches that ask', async () => {
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

test('a run is told so much and no more, and what is beyond one entry comes with the next asking', async () => {
  const store = await shared()()
  const session = await store.session('s')
  const run = await session.run('turn')
  for (let i = 0; i < 70; i++) await session.input(i)
  expect(await run.inputs()).toHaveLength(limits.takenAtOnce)
  expect(await run.inputs()).toHaveLength(70 - limits.takenAtOnce)
  const large = 'x'.repeat(30_000)
  for (let i = 0; i < 6; i++) await session.input(large)
  expect(await run.inputs()).toHaveLength(4)
  expect(await run.inputs()).toHaveLength(2)
  for (let i = 76; i < limits.runInputs; i++) await session.input(i)
  expect(await codeOf(session.input('one too many'))).toBe('INPUTS_FULL')
  expect(await session.input('for the next', { turn: 'next' })).toMatchObject({ state: 'deferred' })
  expect(await run.inputs({ from: 'next' })).toEqual([])
  // All of it is settled in the commit that ends the run.
  await run.fail(new Error('no'))
  expect((await session.inputs.list({ state: 'deferred', last: 1000 })).items).toHaveLength(1000)
  expect((await session.inputs.list({ state: 'accepted' })).items).toEqual([])
  await expectSound(store)
}, 60_000)

describe.each(['sqlite', 'postgres'] as const)('two handles on %s', (name) => {
  const both = async (): Promise<readonly [Store, Store]> => {
    const url = name === 'postgres' ? await tempDatabase() : tempFile()
    return [await openIn(url), await openIn(url)]
  }

  test('that say the same under one key have said it once', async () => {
    const [one, two] = await both()
    const sessions = [await one.session('s'), await two.session('s')] as const
    const run = await sessions[0].run('turn')
    for (let round = 0; round < 10; round++) {
      const said = await Promise.all(sessions.map((session) => session.input({ round }, { key: `m-${round}` })))
      expect(new Set(said.map(({ id }) => id)).size).toBe(1)
      expect(said.map(({ repeated }) => repeated).toSorted()).toEqual([false, true])
    }
    expect(await run.inputs()).toHaveLength(10)
    expect(run.toJSON().prompted).toBe(10)
    await run.finish()
    await expectSound(one)
  })

  test('of which one ends the turn and one speaks to it lose nothing: it is heard, or left to the next turn', async () => {
    const [one, two] = await both()
    const [mine, yours] = [await one.session('s'), await two.session('s')]
    for (let round = 0; round < 15; round++) {
      const run = await mine.run('turn', { key: String(round) })
      const speak = async () => {
        for (let i = 0; i < 4; i++) await yours.input(`${round}/${i}`)
      }
      const ways = [() => run.finish(), () => run.fail(new Error('no')), () => two.runs.cancel(run.id, 'no')]
      await Promise.all([speak(), run.inputs().then(ways[round % 3])])
    }
    expect(await unheard(one, mine)).toEqual([])
    const states = Object.values(await statesOf(mine))
    expect(states).toHaveLength(60)
    expect(new Set(states)).not.toContain('pending')
    expect(new Set(states)).not.toContain('accepted')
    await expectSound(one)
  })

  test('of which one takes back and one hears agree on each', async () => {
    const [one, two] = await both()
    const [mine, yours] = [await one.session('s'), await two.session('s')]
    const run = await mine.run('turn')
    const heard: unknown[] = []
    const cancelled: unknown[] = []
    for (let round = 0; round < 15; round++) {
      const ids = []
      for (let i = 0; i < 3; i++) ids.push((await yours.input(`${round}/${i}`)).id)
      const [taken, outcomes] = await Promise.all([run.inputs(), yours.inputs.cancel(ids)])
      heard.push(...taken.map(({ id }) => id))
      cancelled.push(...outcomes.filter(({ outcome }) => outcome === 'cancelled').map(({ id }) => id))
    }
    heard.push(...(await run.inputs()).map(({ id }) => id))
    expect(new Set(heard).size).toBe(heard.length)
    expect(heard.filter((id) => cancelled.includes(id))).toEqual([])
    expect(heard.length + cancelled.length).toBe(45)
    await run.finish()
    await expectSound(one)
  })
})

/** Said to a run that is over, and still waiting for it. */
async function unheard(store: Store, session: Session): Promise<readonly unknown[]> {
  const left: unknown[] = []
  for (const state of ['pending', 'accepted'] as const)
    for (const { run, content } of (await session.inputs.list({ state, last: 1000 })).items)
      if (['done', 'failed', 'cancelled'].includes((await store.runs.get(run ?? ''))?.state ?? '')) left.push(content)
  return left
}

test('a store in which a run ends without being looked at would lose what was said to it', async () => {
  const open = shared()
  // Whoever ends a run believes that it is as it was seen.
  const careless = await open({}, (backend) => ({
    ...backend,
    commit: (batch) =>
      backend.commit(
        batch.map((commit) => ({ ...commit, guards: commit.guards.filter((guard) => !(guard.kind === 'row' && guard.table === 'runs')) })),
      ),
  }))
  const speaker = await open()
  const [mine, yours] = [await careless.session('s'), await speaker.session('s')]
  const run = await mine.run('turn')
  await yours.input('hello?')
  await run.finish()
  expect(await unheard(speaker, yours)).toEqual(['hello?'])
})
