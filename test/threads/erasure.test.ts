// Erased messages leave no text behind but what another message holds; forks begin with the threads of their source.

import { describe, expect, test } from 'vitest'
import type { Session, Store } from '../../src/index.ts'
import { codeOf, engines, expectSound } from '../support/engines.ts'
import { textOf } from './text-of.ts'

const said = (id: string, text: string) => ({ id, role: 'user', parts: [{ type: 'text', text }] })
const texts = async ({ thread }: Session): Promise<string> =>
  (await thread.messages()).map(({ parts }) => String(textOf(parts[0])).slice(0, 12)).join(' ')

async function everything(store: Store): Promise<string> {
  let all = ''
  for await (const event of store.events()) all += JSON.stringify(event)
  return all
}

describe.each(engines)('erased and forked messages on $name', ({ open, openInTime }) => {
  test('an old value that nothing refers to stays whole when a message with the same text is erased', async () => {
    const { store, pass } = await openInTime()
    const text = 'said elsewhere too '.repeat(2500)
    const ref = await store.values.put({ note: [text, 'and more'] })
    await pass(2 * 24 * 60 * 60 * 1000)
    const { thread } = await store.session('s')
    await thread.add(said('m', text))
    const { kept } = await thread.erase('m', { reason: 'r' })
    expect(kept.nodes).toBeGreaterThan(0)
    expect(await store.values.get(ref)).toEqual({ note: [text, 'and more'] })
    await store.collect()
    expect(await codeOf(store.values.get(ref))).toBe('VALUE_MISSING')
    await expectSound(store)
  })

  test('an erased message is gone from events, rows and values, and the chain verifies', async () => {
    const store = await open()
    const { thread } = await store.session('s')
    const long = 'never-again '.repeat(6000)
    await thread.add([said('small', 'forget-me'), said('large', long), said('stays', 'hello')])
    await thread.update('small', (message) => ({ ...message, parts: [{ type: 'text', text: 'forget-me too' }] }))
    expect(await everything(store)).toContain('forget-me')
    // Two versions, and the title that came from the first.
    expect(await thread.erase('small', { reason: 'request 7' })).toMatchObject({ erased: 3, heldBy: [], complete: true })
    const report = await thread.erase('large', { reason: 'request 7' })
    expect(report.swept.nodes + report.swept.blobs).toBeGreaterThan(0)
    expect(report.kept.nodes).toBe(0)
    const left = await everything(store)
    for (const text of ['forget-me', 'never-again', 'value:']) expect(left).not.toContain(text)
    expect((await thread.messages()).map(({ id }) => id)).toEqual(['stays'])
    expect(await thread.get('large')).toBeUndefined()
    expect(await thread.record('large')).toEqual({ erased: true })
    expect(await codeOf(thread.add(said('small', 'again')))).toBe('MESSAGE_ERASED')
    expect(await codeOf(thread.erase('nobody', { reason: 'r' }))).toBe('MESSAGE_UNKNOWN')
    expect((await thread.erase('small', { reason: 'again' })).erased).toBe(0)
    expect((await store.collect({ grace: 0 })).deleted.nodes).toBe(0)
    await expectSound(store)
  })

  test('the beginning of an erased message stands in no head, title or list; other texts stay there', async () => {
    const store = await open()
    const session = await store.session('s')
    const answer = { id: 'a', role: 'assistant', parts: [{ type: 'text', text: 'an-answer' }] }
    const asked = { id: 'n', parent: null, payload: { role: 'user', content: [{ type: 'text', text: 'forget-me' }] } }
    await session.configure({ model: 'm' })
    await session.commitTurn({ turn: '1', messages: [said('q', 'forget-me'), answer] })
    const fork = await session.fork({ at: (await store.head()).seq })
    await session.thread.update('q', () => said('q', 'forget-me too'))
    expect(await fork.head()).toMatchObject({ title: { text: 'forget-me', source: 'derived' }, firstMessage: 'forget-me' })
    expect(await session.thread.erase('q', { reason: 'r' })).toMatchObject({ nodes: [], complete: true })
    const head = await session.head()
    expect(head).toMatchObject({ revision: 1, messages: 2, turn: '1', config: { model: 'm' }, preview: 'an-answer' })
    for (const shown of [head, ...(await store.sessions.list({ branch: 'source', summary: true })).items])
      expect(JSON.stringify(shown)).not.toContain('forget-me')
    await fork.thread.erase('q', { reason: 'r' })
    expect(await fork.head()).toMatchObject({ revision: 1, config: { model: 'm' }, preview: 'an-answer' })
    const left = await everything(store)
    expect(left).not.toContain('forget-me')
    expect(left).toContain('an-answer')
    // The session goes on, and a node that holds the text is named.
    await session.commitTurn({ turn: '2', expectedHead: 1, nodes: [asked], messages: [said('q2', 'forget-me')] })
    expect((await session.thread.erase('q2', { reason: 'r' })).nodes).toEqual([{ session: session.id, node: 'n' }])
    await session.archive()
    await session.thread.erase('a', { reason: 'r' })
    await fork.thread.erase('a', { reason: 'r' })
    expect(await everything(store)).not.toContain('an-answer')
    await expectSound(store)
  })

  test('a fork of an edited message forgets how it began when the message is erased there', async () => {
    const store = await open()
    const session = await store.session('s')
    const answer = { id: 'a', role: 'assistant', parts: [{ type: 'text', text: 'an-answer' }] }
    await session.commitTurn({ turn: '1', messages: [said('q', 'forget-me'), answer] })
    await session.thread.update('q', () => said('q', 'edited'))
    const fork = await session.fork({ at: (await store.head()).seq })
    await session.delete({ reason: 'r' })
    expect(await everything(store)).toContain('forget-me')
    await fork.thread.erase('q', { reason: 'r' })
    expect(await everything(store)).not.toContain('forget-me')
    expect(await fork.head()).toMatchObject({ preview: 'an-answer', revision: 1 })
    await fork.commitTurn({ turn: '2', messages: [said('q2', 'a new question')] })
    expect(await fork.head()).toMatchObject({ firstMessage: 'a new question', preview: 'a new question' })
    await expectSound(store)
  })

  test('text that another message holds stays there, and the report says where', async () => {
    const store = await open()
    const session = await store.session('s')
    const other = await session.threads.create()
    const shared = { type: 'data-page', data: Array.from({ length: 3000 }, (_, i) => `line ${i} of a page`) }
    const page = (id: string) => ({ id, role: 'user', parts: [{ type: 'text', text: 'see this page' }, shared] })
    await session.thread.add(page('one'))
    await other.add(page('two'))
    const report = await session.thread.erase('one', { reason: 'r' })
    expect(report.heldBy).toEqual([{ session: session.id, thread: other.id, message: 'two' }])
    expect(report.kept.nodes).toBeGreaterThan(0)
    expect(await other.get('two')).toEqual(page('two'))
    expect((await other.erase('two', { reason: 'r' })).kept.nodes).toBe(0)
    await expectSound(store)
  })

  test('the report names the source of a fork, its other forks, and what holds the text of an earlier version', async () => {
    const store = await open()
    const session = await store.session('s')
    const said = (id: string, text: string) => ({ id, role: 'user', parts: [{ type: 'text', text }] })
    await session.thread.add([said('m', 'first'), said('n', 'other')])
    const at = async () => ({ at: (await store.head()).seq })
    const fork = await session.fork(await at())
    const nephew = await (await session.fork(await at())).fork(await at())
    await fork.commitTurn({ turn: 't', nodes: [{ id: 'a', parent: null, payload: said('a', 'first') }] })
    await fork.thread.update('m', () => said('m', 'second'))
    const { heldBy, nodes } = await fork.thread.erase('m', { reason: 'r' })
    expect(heldBy.map(({ session: where, message }) => [where, message])).toEqual(
      expect.arrayContaining([
        [session.id, 'm'],
        [nephew.id, 'm'],
      ]),
    )
    expect(heldBy).toHaveLength(3)
    expect(nodes).toEqual([{ session: fork.id, node: 'a' }])
    expect(textOf((await session.thread.get('m'))?.parts[0])).toBe('first')
    await expectSound(store)
  })

  test('a fork begins with the threads of its source at the fork point, and later changes are separate', async () => {
    const store = await open()
    const source = await store.session('source')
    const long = 'long text '.repeat(5000)
    await source.thread.add([said('a', 'one'), said('b', long), said('c', 'three')])
    const side = await source.threads.create({ title: 'side' })
    await side.add(said('d', 'four'))
    await source.thread.add(said('c2', 'branch'), { parent: 'a', record: { cost: 1 } })
    const { seq: at } = await store.head()
    await source.thread.update('a', () => said('a', 'changed'))
    await source.thread.remove('c')
    await source.thread.add(said('late', 'late'))
    const fork = await source.fork({ at, key: 'fork' })
    expect(await texts(fork)).toBe('one long text lo three branch')
    expect(textOf((await fork.thread.get('b'))?.parts[0])).toBe(long)
    expect((await fork.thread.messages({ branch: 'c2' })).map(({ id }) => id)).toEqual(['a', 'c2'])
    expect(await fork.thread.record('c2')).toEqual({ cost: 1 })
    expect((await fork.threads.list()).items.map(({ title, messages }) => [title, messages])).toEqual(
      expect.arrayContaining([
        ['side', 1],
        [undefined, 4],
      ]),
    )
    await fork.thread.add(said('e', 'own'))
    await fork.thread.remove('a')
    expect(await texts(source)).toBe('changed long text lo branch late')
    const { heldBy } = await source.thread.erase('b', { reason: 'r' })
    expect(heldBy).toEqual([{ session: fork.id, thread: fork.thread.id, message: 'b' }])
    await source.delete({ reason: 'over' })
    await store.collect({ grace: 0 })
    expect(await texts(fork)).toBe('long text lo three branch own')
    await expectSound(store)
  })
})
