// The inbox of a session: batches come in the order they were offered, once, to the run that holds the session, and go back when it fails.

import { describe, expect, test } from 'vitest'
import { type InboxClaim, type InboxOfferOptions, limits, type Run, type Session } from '../../src/index.ts'
import { codeOf, engines, expectSound } from '../support/engines.ts'

const now: InboxOfferOptions = { delivery: 'boundary', kind: 'turn' }
const after: InboxOfferOptions = { delivery: 'afterTurn', kind: 'turn' }
const command: InboxOfferOptions = { delivery: 'boundary', kind: 'command' }

const payloads = ({ batches, why }: InboxClaim): readonly unknown[] | string => why ?? batches.map(({ payload }) => payload)
const statesOf = async (session: Session): Promise<Readonly<Record<string, string>>> =>
  Object.fromEntries((await session.inbox.list({ first: 1000 })).items.map(({ payload, state }) => [String(payload), state]))

async function offered(session: Session, ...batches: readonly (readonly [string, InboxOfferOptions])[]): Promise<void> {
  for (const [payload, options] of batches) await session.inbox.offer(payload, options)
}

describe.each(engines)('an inbox on $name', (engine) => {
  test('an inbox gives its batches to the run that asks, and they are done with it', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const run = await session.run('turn')
    expect(await run.inbox({ at: 'boundary' })).toEqual({ batches: [], why: 'empty' })
    const batch = await session.inbox.offer({ process: 'p1', said: 'ready' }, { ...now, key: 'wake/1', merge: 'wakes' })
    expect(batch).toMatchObject({ state: 'pending', kind: 'turn', delivery: 'boundary', join: true, attempt: 0, repeated: false })
    const taken = await run.inbox({ at: 'boundary' })
    expect(taken).toEqual({
      claim: expect.any(String),
      redriven: false,
      batches: [
        {
          id: batch.id,
          kind: 'turn',
          delivery: 'boundary',
          merge: 'wakes',
          key: 'wake/1',
          offeredAt: batch.offeredAt,
          payload: { process: 'p1', said: 'ready' },
        },
      ],
    })
    expect(await session.inbox.get(batch.id)).toMatchObject({
      state: 'claimed',
      attempt: 1,
      claim: { id: taken.claim, run: run.id, fence: run.fence },
    })
    expect(await run.inbox({ at: 'boundary' })).toEqual({ batches: [], why: 'held' })
    await run.finish()
    expect(await session.inbox.get(batch.id)).toMatchObject({ state: 'completed' })
    const next = await session.run('turn', { key: '2' })
    expect(await next.inbox({ at: 'idle' })).toEqual({ batches: [], why: 'empty' })
    await next.finish()
    await expectSound(store)
  })

  test('an inbox holds each key once, also when it is over, and refuses another payload or other options with it', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const first = await session.inbox.offer('wake', { ...now, key: 'k' })
    expect(await session.inbox.offer('wake', { ...now, key: 'k' })).toMatchObject({ id: first.id, repeated: true, payload: 'wake' })
    const late = await session.inbox.offer('late', { ...now, key: 'late', delay: '1h' })
    expect(await session.inbox.offer('late', { ...now, key: 'late', delay: 3_600_000 })).toMatchObject({
      id: late.id,
      at: late.at,
      repeated: true,
    })
    const head = await store.head()
    const refusal = await session.inbox.offer('other', { ...now, key: 'k' }).catch((error: unknown) => error)
    expect(refusal).toMatchObject({ code: 'KEY_REUSED', details: { batch: first.id, state: 'pending' } })
    const others = [after, { ...now, kind: 'command' }, { ...now, join: false }, { ...now, merge: 'm' }, { ...now, delay: '1s' }] as const
    for (const other of others) expect(await codeOf(session.inbox.offer('wake', { ...other, key: 'k' }))).toBe('KEY_REUSED')
    for (const other of [now, { ...now, delay: '2h' }] as const)
      expect(await codeOf(session.inbox.offer('late', { ...other, key: 'late' }))).toBe('KEY_REUSED')
    expect(await store.head()).toEqual(head)
    expect((await (await store.session('t')).inbox.offer('other', { ...now, key: 'k' })).id).not.toBe(first.id)
    const run = await session.run('turn')
    expect(payloads(await run.inbox({ at: 'idle' }))).toEqual(['wake'])
    await run.finish()
    expect(await session.inbox.offer('wake', { ...now, key: 'k' })).toMatchObject({ id: first.id, repeated: true, state: 'completed' })
    await expectSound(store)
  })

  test('an inbox never lets turn work overtake a command, nor a command what came before it; a command comes alone', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const run = await session.run('turn')
    await offered(session, ['work 1', now], ['order 1', command], ['order 2', command], ['work 2', now])
    expect(payloads(await run.inbox({ kind: 'command' }))).toBe('turnAtHead')
    expect(payloads(await run.inbox({ at: 'idle' }))).toEqual(['work 1'])
    expect(payloads(await run.inbox({ at: 'idle' }))).toBe('commandAtHead')
    expect(payloads(await run.inbox({ kind: 'command' }))).toEqual(['order 1'])
    expect(payloads(await run.inbox({ at: 'idle' }))).toBe('commandAtHead')
    expect(payloads(await run.inbox({ kind: 'command' }))).toEqual(['order 2'])
    expect(payloads(await run.inbox({ kind: 'command' }))).toBe('turnAtHead')
    expect(payloads(await run.inbox({ at: 'idle' }))).toEqual(['work 2'])
    await run.finish()
    await expectSound(store)
  })

  test('an inbox holds back within a turn what is to come after it, and everything behind that', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const run = await session.run('turn')
    await offered(session, ['a', now], ['b', after], ['c', now])
    expect(payloads(await run.inbox({ at: 'boundary' }))).toEqual(['a'])
    expect(payloads(await run.inbox({ at: 'boundary' }))).toBe('boundary')
    expect(payloads(await run.inbox({ at: 'idle' }))).toEqual(['b'])
    expect(payloads(await run.inbox({ at: 'boundary' }))).toEqual(['c'])
    await run.finish()
    await expectSound(store)
  })

  test('an inbox gives together what stands together: joinable, with the same delivery and merge key, up to the limit', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const run = await session.run('turn')
    const a = { ...now, merge: 'a' }
    await offered(
      session,
      ['a1', a],
      ['a2', a],
      ['a3', a],
      ['b1', { ...now, merge: 'b' }],
      ['a4', a],
      ['x', { ...now, join: false }],
      ['n1', now],
      ['n2', now],
    )
    const seen = []
    for (const most of [2, 64, 64, 64, 64, 64]) seen.push(payloads(await run.inbox({ at: 'idle', most })))
    expect(seen).toEqual([['a1', 'a2'], ['a3'], ['b1'], ['a4'], ['x'], ['n1', 'n2']])
    expect(new Set((await session.inbox.list()).items.map(({ claim }) => claim?.id)).size).toBe(6)
    await run.finish()
    await expectSound(store)
  })

  test('an inbox passes over what is not due yet, and says when nothing else is there', async () => {
    const { store, pass } = await engine.openInTime()
    const session = await store.session('s')
    const run = await session.run('turn')
    await offered(session, ['later', { ...now, delay: '20m' }], ['much later', { ...command, delay: '1h' }])
    const none = await run.inbox({ at: 'idle' })
    expect(none).toEqual({ batches: [], why: 'notDue', due: (await session.inbox.list({ first: 1 })).items[0]?.at })
    await offered(session, ['now', now])
    expect(payloads(await run.inbox({ at: 'idle' }))).toEqual(['now'])
    await pass(1_200_001)
    expect(payloads(await run.inbox({ at: 'idle' }))).toEqual(['later'])
    expect(payloads(await run.inbox({ at: 'idle' }))).toBe('held')
    await run.finish()
    await expectSound(store)
  })

  test('an inbox gets back what a run that failed or was cancelled had in hand, in its old place', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    await offered(session, ['a', now], ['b', now], ['c', now])
    for (const [i, end] of [
      (run: Run) => run.fail(new Error('no')),
      (run: Run) => run.cancel('no'),
      (run: Run) => store.runs.cancel(run.id, 'no'),
    ].entries()) {
      const run = await session.run('turn', { key: String(i) })
      expect(payloads(await run.inbox({ at: 'idle', most: 2 }))).toEqual(['a', 'b'])
      await end(run)
      expect(await statesOf(session)).toEqual({ a: 'pending', b: 'pending', c: 'pending' })
    }
    // Given back, it is as if nobody had had it: the next may take it in another composition.
    const run = await session.run('turn', { key: 'last' })
    expect(payloads(await run.inbox({ at: 'idle' }))).toEqual(['a', 'b', 'c'])
    expect((await session.inbox.list({ first: 1 })).items).toMatchObject([{ attempt: 4 }])
    await run.finish()
    await expectSound(store)
  })

  test('an inbox is done with a claim once it is said so, before the run is', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const run = await session.run('turn')
    await offered(session, ['a', now])
    const { claim = '' } = await run.inbox({ at: 'idle' })
    await run.inboxDone(claim)
    expect(await statesOf(session)).toEqual({ a: 'completed' })
    await offered(session, ['b', now])
    await run.inbox({ at: 'idle' })
    expect(await codeOf(run.inboxDone(claim))).toBe('INBOX_CLAIM_UNKNOWN')
    expect(await codeOf(run.inboxDone('01J00000000000000000000000'))).toBe('INBOX_CLAIM_UNKNOWN')
    expect(await codeOf(run.inboxDone('no id'))).toBe('ID_INVALID')
    await run.fail(new Error('no'))
    expect(await statesOf(session)).toEqual({ a: 'completed', b: 'pending' })
    await expectSound(store)
  })

  test('an inbox lets a batch be cancelled while nobody has it, and lists it by its state', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const other = await store.session('t')
    await offered(session, ['a', now], ['b', now], ['c', { ...now, join: false }])
    const elsewhere = await other.inbox.offer('elsewhere', now)
    const [c, b, a] = (await session.inbox.list()).items
    const run = await session.run('turn')
    expect(await session.inbox.cancel(b?.id ?? '')).toEqual({ id: b?.id, outcome: 'cancelled' })
    expect(payloads(await run.inbox({ at: 'idle' }))).toEqual(['a'])
    expect(await session.inbox.cancel(a?.id ?? '')).toMatchObject({ outcome: 'held' })
    expect(await session.inbox.cancel(b?.id ?? '')).toMatchObject({ outcome: 'alreadyCancelled' })
    expect(await session.inbox.cancel(elsewhere.id)).toMatchObject({ outcome: 'notFound' })
    expect((await session.inbox.list({ state: 'pending' })).items).toMatchObject([{ id: c?.id }])
    await run.fail(new Error('no'))
    expect((await session.inbox.list({ state: 'pending', first: 5 })).items).toMatchObject([{ id: a?.id }, { id: c?.id }])
    expect(await session.inbox.cancel(a?.id ?? '')).toMatchObject({ outcome: 'cancelled' })
    expect(await session.inbox.prune()).toBe(2)
    expect((await session.inbox.list()).items).toMatchObject([{ id: c?.id }])
    expect(await session.inbox.get(a?.id ?? '')).toBeUndefined()
    await expectSound(store)
  })

  test('an inbox refuses what is not usable, and nothing is written', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const run = await session.run('turn')
    const before = await store.head()
    for (const [given, code] of [
      [() => session.inbox.offer('a', {} as InboxOfferOptions), 'OPTION_INVALID'],
      [() => session.inbox.offer('a', { ...now, kind: 'x' as 'turn' }), 'OPTION_INVALID'],
      [() => session.inbox.offer('a', { ...now, join: 1 as unknown as boolean }), 'OPTION_INVALID'],
      [() => session.inbox.offer('a', { ...now, delay: -1 }), 'DURATION_INVALID'],
      [() => session.inbox.offer('a', { ...now, merge: '' }), 'RUN_NAME_INVALID'],
      [() => session.inbox.offer(() => 1, now), 'DATA_INVALID'],
      [() => session.inbox.cancel('no id'), 'ID_INVALID'],
      [() => run.inbox({ at: 'soon' as 'idle' }), 'OPTION_INVALID'],
      [() => run.inbox({} as { at: 'idle' }), 'OPTION_INVALID'],
      [() => run.inbox({ at: 'idle', most: 0 }), 'OPTION_INVALID'],
      [() => run.inbox({ at: 'idle', most: limits.takenAtOnce + 1 }), 'OPTION_INVALID'],
    ] as const)
      expect(await codeOf(given())).toBe(code)
    expect(await store.head()).toEqual(before)
    await session.archive()
    expect(await codeOf(session.inbox.offer('a', now))).toBe('SESSION_ARCHIVED')
    expect(await codeOf(run.inbox({ at: 'idle' }))).toBe('SESSION_ARCHIVED')
  })

  test('an inbox is for the turns of its session: neither another session nor a run beside them gets anything', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    await offered(session, ['a', now])
    const beside = await session.run('watch', { parallel: true })
    expect(payloads(await beside.inbox({ at: 'idle' }))).toBe('parallel')
    await beside.finish()
    const other = await (await store.session('t')).run('turn')
    expect(payloads(await other.inbox({ at: 'idle' }))).toBe('empty')
    await other.finish()
    const run = await session.run('turn')
    const { claim = '' } = await run.inbox({ at: 'idle' })
    // A fork hears what the run heard, and has nothing of it in hand.
    const fork = await run.fork({ at: (await store.head()).seq })
    expect(await fork.inbox({ at: 'idle' })).toMatchObject({ claim, batches: [{ payload: 'a' }] })
    await fork.inboxDone(claim)
    await fork.finish()
    expect(await statesOf(session)).toEqual({ a: 'claimed' })
    await run.finish()
    expect(await statesOf(session)).toEqual({ a: 'completed' })
    await expectSound(store)
  })

  test('an inbox is asked by a handler that sleeps over it: what it has in hand stays its own, and the others go by', async () => {
    const { store, pass } = await engine.openInTime()
    const session = await store.session('s')
    await offered(session, ['a', now], ['b', { ...now, join: false }])
    const seen: unknown[] = []
    await using node = store.work({
      turn: async (run) => {
        seen.push(payloads(await run.inbox({ at: 'idle' })))
        await run.sleep('1h')
        seen.push('woke')
      },
    })
    const handle = await store.start('turn', { session: 's' })
    await expect.poll(() => node.stats().parked).toBe(1)
    const between = await session.run('another')
    expect(payloads(await between.inbox({ at: 'idle' }))).toEqual(['b'])
    expect(payloads(await between.inbox({ at: 'idle' }))).toBe('held')
    await between.finish()
    await pass(3_601_000)
    await handle.result()
    expect(seen).toEqual([['a'], ['a'], 'woke'])
    expect(await statesOf(session)).toEqual({ a: 'completed', b: 'completed' })
    await expectSound(store)
  })
})
