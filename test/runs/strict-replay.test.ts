// Strict replay: the tape answers every call, nothing is executed or written, and a call without a record is an error.

import { describe, expect, test } from 'vitest'
import type { InkError, Run, Session, Store } from '../../src/index.ts'
import { codeOf, engines, expectSound } from '../support/engines.ts'

const strict = { replay: 'strict' } as const

/** Uses most calls of a run. `called` counts the work that was really done. */
const program = (called: () => void) => async (run: Run) => {
  const work = <T>(value: T) => {
    called()
    return value
  }
  const found = await run.effect('find', () => work(1), { input: { order: 4711 } })
  const both = await run.all({
    left: (branch) => branch.effect('look', () => work('l')),
    right: async (branch) => (await branch.append('note.made', { found })).seq > 0,
  })
  const first = await run.race({
    quick: (branch) => branch.effect('look', () => work('q')),
    slow: (branch) => branch.signal('never'),
  })
  await run.sleep(1)
  await run.usage({ model: 'm', inputTokens: 1 })
  const said = await run.signal<string>('go')
  const begun = await run.begin<number>('pay')
  const paid = begun.done ? begun.result : await begun.settle(work(7))
  const failed = await run.effect('fail', () => Promise.reject(work(new Error('no')))).catch((error: InkError) => error.code)
  return { found, both: [...both], first, said, paid, failed, random: run.random(), now: run.now() }
}

async function recorded(store: Store, session: Session, finish: boolean): Promise<{ readonly run: Run; readonly result: unknown }> {
  await store.signal(session.id, 'go', 'hello')
  const run = await session.run('r', { input: { order: 4711 } })
  const result = await program(() => {})(run)
  if (finish) await run.finish(result)
  return { run, result }
}

const neverCalled = () => {
  throw new Error('called')
}

describe.each(engines)('on $name', (engine) => {
  test('a finished run is replayed from its tape: the same answers, no call, no write', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const { run, result } = await recorded(store, session, true)
    await session.archive()
    const { seq } = await store.head()
    for (const _ of [1, 2]) {
      await using replay = await session.run('r', strict)
      expect(replay).toMatchObject({ id: run.id, state: 'done', input: { order: 4711 }, fence: 0 })
      expect(await program(neverCalled)(replay)).toEqual(result)
      await replay.finish(result)
    }
    expect((await store.head()).seq).toBe(seq)
    // The negative control: without strict replay, a finished run refuses every call.
    expect(await codeOf((await session.run('r')).effect('find', neverCalled))).toBe('RUN_FINISHED')
    await expectSound(store)
  })

  test('an end that differs from the recorded one is REPLAY_DIVERGED under strict replay', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const { result } = await recorded(store, session, true)
    const { seq } = await store.head()
    const ends: readonly ((run: Run) => Promise<void>)[] = [
      (run) => run.finish({ other: true }),
      (run) => run.finish(),
      (run) => run.fail(new Error('no')),
      (run) => run.cancel('no need'),
    ]
    for (const end of ends) {
      await using replay = await session.run('r', strict)
      await program(neverCalled)(replay)
      expect(await codeOf(end(replay))).toBe('REPLAY_DIVERGED')
    }
    const early = await session.run('r', strict)
    await early.effect('find', neverCalled, { input: { order: 4711 } })
    expect(await codeOf(early.finish(result))).toBe('REPLAY_DIVERGED')
    const changed = await session.run('r', strict)
    expect(await codeOf(changed.effect('find', neverCalled, { input: { order: 4712 } }))).toBe('REPLAY_DIVERGED')
    expect((await store.head()).seq).toBe(seq)
    await expectSound(store)
  })

  test('an interrupted run reports the first call without a record, while its holder goes on', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const { run: holder, result } = await recorded(store, session, false)
    const blocked = Promise.withResolvers<string>()
    const asking = holder.effect('ask', () => blocked.promise, { ifUnknown: 'ask' })
    await expect.poll(async () => (await store.page({ types: ['effect.started'] })).items.length).toBe(1)
    const { seq } = await store.head()
    const replay = await session.run('r', strict)
    expect(await program(neverCalled)(replay)).toEqual(result)
    const missing = (call: Promise<unknown>) => call.catch(({ code, details }: InkError) => [code, details.call, details.begun])
    expect(await missing(replay.effect('ask', neverCalled, { ifUnknown: 'ask' }))).toEqual(['REPLAY_MISSING', "effect 'ask' #1", true])
    expect(await missing(replay.effect('new', neverCalled))).toEqual(['REPLAY_MISSING', "effect 'new' #1", false])
    expect(await missing(replay.begin('new'))).toEqual(['REPLAY_MISSING', "effect 'new' #2", false])
    expect(await missing(replay.sleep('1h'))).toEqual(['REPLAY_MISSING', "sleep 'sleep' #2", false])
    expect(await missing(replay.append('note.made', {}))).toEqual(['REPLAY_MISSING', "append 'note.made' #1", false])
    expect(await missing(replay.child('c'))).toEqual(['REPLAY_MISSING', "start 'c' #1", false])
    expect(await missing(replay.all({ a: (branch) => branch.signal('go') }))).toEqual([
      'REPLAY_MISSING',
      "signal 'go' #1 in branch 3.a",
      false,
    ])
    expect(await codeOf(replay.finish(result))).toBe('REPLAY_MISSING')
    expect(await missing(replay.fork({ at: seq }))).toEqual(['REPLAY_MISSING', 'a fork', undefined])
    expect(await codeOf(session.append('note.made', 1, { under: replay }))).toBe('CLAIM_SETTLED')
    await replay.close()
    expect(await codeOf(replay.effect('find', neverCalled))).toBe('RUN_CLOSED')
    expect((await store.head()).seq).toBe(seq)
    blocked.resolve('asked')
    expect(await asking).toBe('asked')
    await holder.finish()
    await expectSound(store)
  })

  test('an erased effect has no record under strict replay, and an unknown run is refused', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const run = await session.run('r')
    await run.effect('pay', () => 'paid')
    await run.finish()
    const [settled] = (await store.page({ run: run.id, types: ['effect.settled'] })).items
    await store.erase({ seq: settled?.seq ?? 0, reason: 'subject request 12' })
    const { seq } = await store.head()
    const replay = await session.run('r', strict)
    expect(await codeOf(replay.effect('pay', neverCalled))).toBe('REPLAY_MISSING')
    expect(await codeOf(session.run('other', strict))).toBe('RUN_UNKNOWN')
    expect(await codeOf(session.run('r', { replay: 'loose' as 'strict' }))).toBe('OPTION_INVALID')
    expect((await store.head()).seq).toBe(seq)
    await expectSound(store)
  })
})
