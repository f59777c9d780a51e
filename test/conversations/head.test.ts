// The head of a session: config, frames, title, schema versions, and the revision that a writer may expect.

import { describe, expect, test } from 'vitest'
import { checkRecord } from '../../src/model/record-version.ts'
import { codeOf, engines, expectSound } from '../support/engines.ts'

const user = (text: string) => ({ role: 'user', parts: [{ type: 'text', text }] })

describe.each(engines)('the head of a session on $name', ({ open }) => {
  test('a config member is kept if absent, cleared by null, and set otherwise', async () => {
    const store = await open()
    const session = await store.session('s')
    expect((await session.head()).config).toEqual({})
    const tokens = { window: 200_000, answer: 4096 }
    await session.configure({ model: 'm', provider: 'p', cwd: '/work', thinking: 'high', trace: true, tokens })
    const head = await session.configure({ model: 'n', thinking: null, verbose: 2 })
    expect(head.config).toEqual({ model: 'n', provider: 'p', cwd: '/work', trace: true, tokens, verbose: 2 })
    expect(head).toMatchObject({ schema: 1, session: session.id, revision: 0, nodes: 0, frames: [], usage: [] })
    const { seq } = await store.head()
    await session.configure({ model: 'n', thinking: null })
    expect((await store.head()).seq).toBe(seq)
    expect(await codeOf(session.configure({ model: 7 as never }))).toBe('OPTION_INVALID')
    expect(await codeOf(session.configure({ tokens: [] as never }))).toBe('OPTION_INVALID')
    expect(await codeOf(session.configure({ modle: 'm' } as never))).toBe('OPTION_INVALID')
    await session.archive()
    expect(await codeOf(session.configure({ model: 'o' }))).toBe('SESSION_ARCHIVED')
    await expectSound(store)
  })

  test('a head at another revision than expected is refused with both, and a config does not move it', async () => {
    const store = await open()
    const session = await store.session('s')
    await session.configure({ model: 'm' }, { expectedHead: 0 })
    await session.commitTurn({ turn: 't-1', expectedHead: 0, nodes: [{ id: 'a', parent: null, payload: 1 }] })
    const late = session.commitTurn({ turn: 't-2', expectedHead: 0, nodes: [{ id: 'b', parent: 'a', payload: 1 }] })
    await expect(late).rejects.toMatchObject({ code: 'TURN_HEAD_MOVED', details: { expected: 0, found: 1 } })
    await expect(session.configure({ model: 'n' }, { expectedHead: 0 })).rejects.toMatchObject({ code: 'TURN_HEAD_MOVED' })
    expect(await codeOf(session.commitTurn({ turn: 't-2', expectedHead: -1 }))).toBe('OPTION_INVALID')
    expect(await session.head()).toMatchObject({ revision: 1, leaf: 'a', nodes: 1, turns: 1, turn: 't-1', config: { model: 'm' } })
    await expectSound(store)
  })

  test('a title comes from the first message, unless one was given or set by hand', async () => {
    const store = await open()
    const derived = await store.session('derived')
    const nodes = [
      { id: 'a', parent: null, payload: user('  How do\nI ship?  ') },
      { id: 'b', parent: 'a', payload: { role: 'assistant', content: 'Like this.' } },
    ]
    await derived.commitTurn({ turn: 't', nodes })
    expect(derived.title).toBe('How do I ship?')
    expect(await derived.head()).toMatchObject({
      title: { text: 'How do I ship?', source: 'derived', locked: false },
      firstMessage: 'How do I ship?',
      intent: 'How do I ship?',
      preview: 'Like this.',
      messages: 2,
    })
    await derived.rename('How do I ship?')
    expect((await derived.head()).title).toMatchObject({ source: 'hand', locked: true })
    const given = await store.session('given', { title: 'Given' })
    await given.commitTurn({ turn: 't', nodes })
    expect((await given.head()).title).toEqual({ text: 'Given', source: 'given', locked: false })
    const byHand = await store.session('by hand')
    await byHand.rename('Mine')
    await byHand.commitTurn({ turn: 't', nodes })
    expect((await byHand.head()).title).toEqual({ text: 'Mine', source: 'hand', locked: true })
    await byHand.configure({ preview: 'shown', intent: 'meant' })
    expect(await byHand.head()).toMatchObject({ preview: 'shown', intent: 'meant' })
    await expectSound(store)
  })

  test('a title comes from the first message of the user in the thread too, and is erased with it', async () => {
    const store = await open()
    const said = (id: string, text: string, role = 'user') => ({ id, role, parts: [{ type: 'text', text }] })
    const session = await store.session('s')
    await session.thread.add(said('a', 'Welcome.', 'assistant'))
    expect(session.title).toBeUndefined()
    await (await session.threads.create()).add(said('side', 'Something else'))
    expect(session.title).toBeUndefined()
    await Promise.all(['How do I ship?', 'How do I ship?'].map((text, i) => session.thread.add(said(`q${i}`, text))))
    await session.thread.add(said('later', 'And then?'))
    expect(session.title).toBe('How do I ship?')
    expect((await session.head()).title).toEqual({ text: 'How do I ship?', source: 'derived', locked: false })
    await session.append('still.open', {})
    const given = await store.session('given', { title: 'Given' })
    await given.thread.import([{ id: 'q', role: 'user', content: 'Hello' }])
    expect(given.title).toBe('Given')
    const secret = await store.session('secret')
    await secret.thread.add(said('q', 'use sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD'))
    expect(secret.title).toMatch(/^use \[redacted/)
    for (const id of ['q0', 'q1']) await session.thread.erase(id, { reason: 'r' })
    const listed = JSON.stringify([await session.head(), await store.sessions.list({ summary: true })])
    expect(listed).not.toContain('How do I ship')
    expect(listed).toContain('And then?')
    await expectSound(store)
  })

  test('a child session keeps its relation and the cause of it', async () => {
    const store = await open()
    const parent = await store.session('parent')
    const cause = { kind: 'node', id: 'a' } as const
    const child = await store.session('child', { relation: { kind: 'child', session: parent.id, cause } })
    expect((await child.head()).relation).toEqual({ kind: 'child', session: parent.id, cause })
    expect((await parent.head()).relation).toBeUndefined()
    const wrong = { kind: 'child', session: parent.id, cause: { kind: 'whim', id: 'a' } as never }
    expect(await codeOf(store.session('other', { relation: wrong }))).toBe('OPTION_INVALID')
    await expectSound(store)
  })

  test('a frame is opened once, becomes the current one, and is a read scope', async () => {
    const store = await open()
    const session = await store.session('s')
    await session.frames.open('plan', { agent: 'planner', reason: 'asked for', cause: { kind: 'process', id: 'p' } })
    await session.commitTurn({ turn: '1', nodes: [{ id: 'a', parent: null, payload: 1 }] })
    await session.frames.open('build')
    await session.frames.open('build')
    await session.commitTurn({ turn: '2', nodes: [{ id: 'b', parent: 'a', payload: 2 }] })
    await session.frames.use('plan')
    const nodes = [
      { id: 'c', parent: 'b', payload: 3 },
      { id: 'd', parent: 'c', payload: 4, frame: 'review' },
    ]
    await expect(session.commitTurn({ turn: '3', nodes })).rejects.toMatchObject({
      code: 'FRAME_UNKNOWN',
      details: { session: session.id, frame: 'review' },
    })
    expect(await session.graph.node('c')).toBeUndefined()
    await session.frames.open('review')
    await session.frames.use('plan')
    await session.commitTurn({ turn: '3', nodes })
    const { items } = await session.frames.list()
    expect(items.map(({ id, parent, current }) => ({ id, parent, current }))).toEqual([
      { id: 'plan', parent: undefined, current: true },
      { id: 'build', parent: 'plan', current: false },
      { id: 'review', parent: 'plan', current: false },
    ])
    expect((await session.graph.path({ frame: 'plan' })).map(({ id }) => id)).toEqual(['a', 'c'])
    expect((await session.graph.list({ frame: 'build' })).items.map(({ id }) => id)).toEqual(['b'])
    expect(await session.graph.node('d')).toMatchObject({ frame: 'review' })
    await session.frames.use(null)
    expect((await session.head()).frame).toBeUndefined()
    expect(await codeOf(session.frames.use('nowhere'))).toBe('FRAME_UNKNOWN')
    await expectSound(store)
  })

  test('a deleted session leaves no head, no nodes and no receipts', async () => {
    const store = await open()
    const session = await store.session('s')
    await session.configure({ model: 'm' })
    await session.commitTurn({ turn: 't', nodes: [{ id: 'a', parent: null, payload: 'x'.repeat(3000) }] })
    await session.delete({ reason: 'over' })
    expect(await codeOf(session.commitTurn({ turn: 't2', nodes: [] }))).toBe('SESSION_DELETED')
    expect([await codeOf(session.graph.list()), await codeOf(session.head())]).toEqual(Array(2).fill('SESSION_DELETED'))
    const again = await store.session('s')
    expect(await again.head()).toMatchObject({ revision: 0, nodes: 0 })
    await expectSound(store)
  })
})

test('a record without a version, with one that is no number, and with another one are three errors', () => {
  const code = (record: object): string => {
    try {
      checkRecord(record, { record: 'head', id: 'x' })
      return 'no error'
    } catch (error) {
      return (error as { code: string }).code
    }
  }
  expect(code({ schema: 1 })).toBe('no error')
  expect([{}, { schema: null }].map(code)).toEqual(['RECORD_VERSION_MISSING', 'RECORD_VERSION_MISSING'])
  expect([{ schema: '1' }, { schema: Number.NaN }].map(code)).toEqual(['RECORD_VERSION_INVALID', 'RECORD_VERSION_INVALID'])
  expect([{ schema: 2 }, { schema: 0 }].map(code)).toEqual(['RECORD_VERSION_UNEQUAL', 'RECORD_VERSION_UNEQUAL'])
})
