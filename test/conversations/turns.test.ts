// `commitTurn`: one commit, checked in order, with a receipt that a retry finds.

import { describe, expect, test } from 'vitest'
import type { Session, Store, TurnOptions } from '../../src/index.ts'
import { codeOf, engines, expectSound, lentDatabase, openIn, tempFile } from '../support/engines.ts'

const node = (id: string, parent: string | null = null, payload: unknown = { id }) => ({ id, parent, payload })

/** A run that has taken two inputs and a claim of two inbox items. */
async function busyTurn(session: Session) {
  await session.inbox.offer('one', { kind: 'turn', delivery: 'boundary' })
  await session.inbox.offer('two', { kind: 'turn', delivery: 'boundary' })
  await session.input('a', { turn: 'next' })
  await session.input('b', { turn: 'next' })
  const run = await session.run('turn')
  const inputs = await run.inputs({ from: 'next' })
  const { claim = '' } = await run.inbox({ at: 'boundary' })
  return { run, claim, inputs: inputs.map(({ id }) => id) }
}

const states = async (session: Session) => ({
  inputs: (await session.inputs.list({ first: 50 })).items.map(({ state }) => state),
  inbox: (await session.inbox.list({ first: 50 })).items.map(({ state }) => state),
})

const events = async (store: Store, session: Session): Promise<number> => {
  let count = 0
  for await (const _ of store.events({ session: session.id })) count++
  return count
}

describe.each(engines)('a turn on $name', ({ open }) => {
  test('a turn is one commit of nodes, leaf, checkpoint, usage, claims, inputs, items and the release of its lease', async () => {
    const store = await open()
    const session = await store.session('s')
    const { run, claim, inputs } = await busyTurn(session)
    const large = Array.from({ length: 400 }, (_, i) => `line ${i}`)
    const turn: TurnOptions = {
      turn: 't-7',
      expectedHead: 0,
      nodes: [node('a'), node('b', 'a', large)],
      leaf: 'b',
      checkpoint: { toolState: { open: ['x'] }, plugin: large, bytes: Uint8Array.from([1, 2]) },
      usage: [
        { model: 'm', inputTokens: 10, outputTokens: 5 },
        { model: 'm', inputTokens: 1 },
        { model: 'n', source: 'title', outputTokens: 2, costUsd: 0.5 },
        { model: 'a', inputTokens: 0 },
      ],
      claims: [claim],
      inputs,
      enqueue: [{ payload: 'follow up' }, { queue: 'mail', payload: { to: 'ada' } }],
      lease: run,
    }
    const done = await session.commitTurn(turn)
    expect(done).toEqual({ turn: 't-7', revision: 1, leaf: 'b', nodes: 2, deferred: [], repeated: false })
    const seqs: number[] = []
    for await (const { seq, type } of store.events({ types: ['turn.*', 'head.*', 'graph.*', 'usage.*'] }))
      if (type !== 'x.y') seqs.push(seq)
    expect(Math.max(...seqs) - Math.min(...seqs)).toBeLessThan(20)
    expect(await session.checkpoint()).toEqual({ toolState: { open: ['x'] }, plugin: large, bytes: Uint8Array.from([1, 2]) })
    // In the order they came, without what is zero.
    expect((await session.head()).usage).toMatchObject([
      { source: 'turn', model: 'm', inputTokens: 11, outputTokens: 5 },
      { source: 'title', model: 'n', outputTokens: 2, costNanoUsd: 500_000_000 },
    ])
    expect(await states(session)).toEqual({ inputs: ['completed', 'completed'], inbox: ['completed', 'completed', 'pending'] })
    expect((await store.queue('mail').claim())?.payload).toEqual({ to: 'ada' })
    // The run has nothing left to settle.
    await run.finish(1)
    expect(await states(session)).toMatchObject({ inputs: ['completed', 'completed'] })
    // A component that is not given is dropped, and null drops the checkpoint.
    await session.commitTurn({ turn: 't-8', checkpoint: { plugin: large } })
    expect(await session.checkpoint()).toEqual({ plugin: large })
    await store.collect({ grace: 0 })
    expect(await session.checkpoint()).toEqual({ plugin: large })
    expect((await session.graph.node('b'))?.payload).toEqual(large)
    await session.commitTurn({ turn: 't-9', checkpoint: null })
    expect(await session.checkpoint()).toBeUndefined()
    await expectSound(store)
  })

  test('a repeated turn returns its receipt, without a lease, at any head and in an archived session; other content conflicts', async () => {
    const store = await open()
    const session = await store.session('s')
    const lease = await session.lease({ ttl: '30s' })
    const turn: TurnOptions = {
      turn: 't',
      expectedHead: 0,
      nodes: [node('a', null, { token: 'x', list: [1, 2] })],
      usage: { model: 'm', inputTokens: 1 },
    }
    const first = await session.commitTurn({ ...turn, lease, release: true })
    await session.commitTurn({ turn: 'u', expectedHead: 1, nodes: [node('b', 'a')] })
    const again = { ...first, repeated: true }
    expect(await session.commitTurn({ ...turn, release: true })).toEqual(again)
    expect(await session.commitTurn({ ...turn, release: true, expectedHead: 7 })).toEqual(again)
    expect(await session.commitTurn({ ...turn, release: true, lease })).toEqual(again)
    const empty = await session.commitTurn({ turn: 'nothing', delta: 'unchanged' })
    expect(await session.commitTurn({ turn: 'nothing', nodes: [] })).toEqual({ ...empty, repeated: true })
    expect(await codeOf(session.commitTurn({ turn: 'more', delta: 'unchanged', nodes: [node('z')] }))).toBe('OPTION_INVALID')
    const written = await events(store, session)
    const others: Partial<TurnOptions>[] = [
      { nodes: [node('a', null, { token: 'x', list: [2, 1] })] },
      { leaf: 'a' },
      { usage: { model: 'm', inputTokens: 2 } },
      { checkpoint: { a: 1 } },
      { checkpoint: null },
      { interrupted: true },
      { inputs: [] },
      { enqueue: [{ payload: 1 }] },
    ]
    for (const other of others)
      await expect(session.commitTurn({ ...turn, release: true, ...other })).rejects.toMatchObject({
        code: 'TURN_REUSED',
        details: { turn: 't', revision: 1 },
      })
    await session.archive()
    expect(await session.commitTurn({ ...turn, release: true })).toEqual(again)
    expect(await codeOf(session.commitTurn({ turn: 'v' }))).toBe('SESSION_ARCHIVED')
    await session.reopen()
    expect(await events(store, session)).toBe(written + 2)
    await expectSound(store)
  })

  test('a turn is checked in order: receipt, session, fence, claims, head, nodes', async () => {
    const store = await open()
    const session = await store.session('s')
    const lease = await session.lease({ ttl: '30s' })
    await session.commitTurn({ turn: 'done', lease })
    await lease.release()
    await using _next = await session.lease({ ttl: '30s' })
    const everything = { lease, claims: ['01ARZ3NDEKTSV4RRFFQ69G5FAV'], expectedHead: 9, nodes: [node('a', 'zzz')], leaf: 'yyy' }
    await session.archive()
    expect(await codeOf(session.commitTurn({ turn: 'done', ...everything }))).toBe('TURN_REUSED')
    expect(await codeOf(session.commitTurn({ turn: 't', ...everything }))).toBe('SESSION_ARCHIVED')
    await session.reopen()
    expect(await codeOf(session.commitTurn({ turn: 't', ...everything }))).toBe('CLAIM_SETTLED')
    const { lease: __, ...noLease } = everything
    expect(await codeOf(session.commitTurn({ turn: 't', ...noLease }))).toBe('TURN_CLAIM_NOT_HELD')
    const { claims: ___, ...noClaims } = noLease
    expect(await codeOf(session.commitTurn({ turn: 't', ...noClaims }))).toBe('TURN_HEAD_MOVED')
    expect(await codeOf(session.commitTurn({ turn: 't', ...noClaims, expectedHead: 1 }))).toBe('NODE_PARENT_UNKNOWN')
    expect(await codeOf(session.commitTurn({ turn: 't', nodes: [node('a')], leaf: 'yyy' }))).toBe('LEAF_UNKNOWN')
    await expectSound(store)
  })

  test('a turn settles exactly the claims and inputs in its hand', async () => {
    const store = await open()
    const session = await store.session('s')
    const { run, claim, inputs } = await busyTurn(session)
    const other = await (await store.session('other')).input('x', { turn: 'next' })
    const { seq } = await store.head()
    const refused = (options: Partial<TurnOptions>, error: object) =>
      expect(session.commitTurn({ turn: 't', nodes: [node('a')], ...options })).rejects.toMatchObject(error)
    const [one = '', two = ''] = inputs
    await refused({ claims: [claim], inputs: [one] }, { code: 'TURN_UNSETTLED', details: { left: [`input ${two}`] } })
    await refused({ inputs }, { code: 'TURN_UNSETTLED', details: { left: [`claim ${claim}`] } })
    await refused({ claims: [], inputs: [] }, { code: 'TURN_UNSETTLED' })
    await refused({ lease: run }, { code: 'TURN_UNSETTLED' })
    await refused({ claims: [claim], inputs: [one, two, other.id] }, { code: 'TURN_INPUT_NOT_HELD', details: { input: other.id } })
    await refused({ claims: [other.id], inputs }, { code: 'TURN_CLAIM_NOT_HELD', details: { claim: other.id } })
    await refused({ claims: [claim, claim], inputs }, { code: 'OPTION_INVALID' })
    await refused({ claims: [claim, null as never], inputs }, { code: 'OPTION_INVALID' })
    const wrong = expect.stringContaining('Invalid usage for a turn: inputTokens')
    await refused({ usage: { model: 'm', inputTokens: -1 } }, { code: 'USAGE_INVALID', message: wrong })
    expect((await store.head()).seq).toBe(seq)
    // A caller that names none of them leaves them to the end of the run.
    await session.commitTurn({ turn: 't', nodes: [node('a')] })
    expect(await states(session)).toEqual({ inputs: ['accepted', 'accepted'], inbox: ['claimed', 'claimed'] })
    await session.commitTurn({ turn: 'u', claims: [claim], inputs })
    expect(await states(session)).toEqual({ inputs: ['completed', 'completed'], inbox: ['completed', 'completed'] })
    expect(await codeOf(session.commitTurn({ turn: 'v', claims: [claim], inputs }))).toBe('TURN_CLAIM_NOT_HELD')
    await run.finish(1)
    await expectSound(store)
  })

  test('an interrupted turn completes the inputs it used, and defers the others once to the next turn', async () => {
    const store = await open()
    const session = await store.session('s')
    const { run, claim, inputs } = await busyTurn(session)
    const waiting = await session.input('late')
    expect(waiting.state).toBe('pending')
    const cancelled = await session.input('never', { turn: 'next' })
    await session.inputs.cancel(cancelled.id)
    const [used = '', unused = ''] = inputs
    const done = await session.commitTurn({ turn: 't', claims: [claim], inputs: [used], interrupted: true, lease: run })
    expect([...done.deferred].sort()).toEqual([unused, waiting.id].sort())
    expect((await states(session)).inputs).toEqual(['completed', 'deferred', 'deferred', 'cancelled'])
    await run.cancel('stopped')
    const next = await session.run('next')
    expect((await next.inputs({ from: 'next' })).map(({ content }) => content)).toEqual(['b', 'late'])
    await next.finish(1)
    expect((await states(session)).inputs).toEqual(['completed', 'completed', 'completed', 'cancelled'])
    await expectSound(store)
  })

  test('a lease is released with the turn, and a lost one refuses it', async () => {
    const { store, pass } = await openInTimeOf(open)
    const session = await store.session('s')
    const lease = await session.lease({ ttl: '10s' })
    await expect(session.commitTurn({ turn: '1', nodes: [node('a')], release: true })).rejects.toMatchObject({
      code: 'OPTION_INVALID',
      details: { option: 'release' },
    })
    expect(await session.graph.node('a')).toBeUndefined()
    await session.commitTurn({ turn: '1', nodes: [node('a')], lease, release: true })
    expect(await codeOf(lease.renew())).toBe('CLAIM_SETTLED')
    const old = await session.lease({ ttl: '10s', wait: 0 })
    await pass(11_000)
    await using next = await session.lease({ ttl: '10s', wait: 0 })
    expect(next.displaced).toMatchObject({ fence: old.fence })
    expect(await codeOf(session.commitTurn({ turn: '2', nodes: [node('b', 'a')], lease: old }))).toBe('FENCE_LOST')
    expect(await session.graph.node('b')).toBeUndefined()
    const other = await (await store.session('other')).lease({ ttl: '10s' })
    expect(await codeOf(session.commitTurn({ turn: '2', lease: other }))).toBe('OPTION_INVALID')
    await session.commitTurn({ turn: '2', nodes: [node('b', 'a')], lease: next })
    await expectSound(store)
  })

  test('messages of a turn stand in the default thread with the turn, or not at all', async () => {
    const store = await open()
    const session = await store.session('s')
    const say = (id: string, role: string, text: string) => ({ id, role, parts: [{ type: 'text', text }] })
    const messages = [say('q', 'user', 'How do I ship?'), say('a', 'assistant', 'Test first.')]
    expect(await codeOf(session.commitTurn({ turn: '1', expectedHead: 4, messages }))).toBe('TURN_HEAD_MOVED')
    expect(await codeOf(session.commitTurn({ turn: '1', messages: [say('x', 'king', 'no')] }))).toBe('MESSAGE_INVALID')
    expect(await session.thread.messages()).toEqual([])
    const first = await session.commitTurn({ turn: '1', expectedHead: 0, messages })
    expect(await session.thread.messages()).toEqual(messages)
    expect(await session.head()).toMatchObject({ firstMessage: 'How do I ship?', messages: 2, title: { source: 'derived' } })
    expect(await session.commitTurn({ turn: '1', messages })).toEqual({ ...first, repeated: true })
    expect(await codeOf(session.commitTurn({ turn: '1', messages: messages.slice(1) }))).toBe('TURN_REUSED')
    // A message whose id exists is replaced.
    const again = say('a', 'assistant', 'Test twice.')
    await session.commitTurn({ turn: '2', messages: [again, say('q2', 'user', 'Why?')] })
    expect(await session.thread.messages()).toEqual([messages[0], again, say('q2', 'user', 'Why?')])
    expect((await session.head()).messages).toBe(3)
    await expectSound(store)
  })

  test('secrets in payloads are masked, unless the turn says otherwise', async () => {
    const store = await open()
    const session = await store.session('s')
    const secret = 'ghp_0123456789abcdefghijklmnopqrstuvwxyzAB'
    await session.commitTurn({ turn: '1', nodes: [node('a', null, { text: `token ${secret}` })] })
    await session.commitTurn({ turn: '2', nodes: [node('b', 'a', { text: `token ${secret}` })], redact: false })
    expect(JSON.stringify((await session.graph.node('a'))?.payload)).not.toContain(secret)
    expect((await session.graph.node('b'))?.payload).toEqual({ text: `token ${secret}` })
    await expectSound(store)
  })
})

const openInTimeOf = async (open: (typeof engines)[number]['open']) => {
  const engine = engines.find((one) => one.open === open)
  if (!engine) throw new Error('unknown engine')
  return engine.openInTime()
}

describe.each(['sqlite', 'postgres'].filter((name) => engines.some((one) => one.name === name)))('two writers on %s', (name) => {
  test('two turns at one head: exactly one wins, and the other gets both revisions in its error', async () => {
    const url = name === 'sqlite' ? tempFile() : await lentDatabase()
    const [one, two] = [await openIn(url), await openIn(url)]
    const sessions = [await one.session('s'), await two.session('s')]
    for (let round = 0; round < 5; round++) {
      const tries = sessions.map((session, i) =>
        session.commitTurn({ turn: `${round}-${i}`, expectedHead: round, nodes: [node(`${round}-${i}`)] }).then(
          () => 'won',
          (error) => [error.code, error.details.expected, error.details.found],
        ),
      )
      expect((await Promise.all(tries)).sort((a) => (a === 'won' ? -1 : 1))).toEqual(['won', ['TURN_HEAD_MOVED', round, round + 1]])
    }
    // The same turn from both sides is committed once.
    const both = await Promise.all(sessions.map((session) => session.commitTurn({ turn: 'same', expectedHead: 5, nodes: [node('same')] })))
    expect(both.map(({ revision }) => revision)).toEqual([6, 6])
    expect(both.filter(({ repeated }) => repeated)).toHaveLength(1)
    expect((await (sessions[0] as Session).graph.list()).items).toHaveLength(6)
    await expectSound(one)
  })
})
