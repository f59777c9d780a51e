// A fork begins with the head, the graph and the attachments of its source at the fork point.

import { describe, expect, test } from 'vitest'
import type { Session } from '../../src/index.ts'
import { codeOf, engines, expectSound } from '../support/engines.ts'

const node = (id: string, parent: string | null, payload: unknown = { id }) => ({ id, parent, payload })
const ids = async (session: Session) => (await session.graph.path()).map(({ id }) => id)
const long = (word: string) => Array.from({ length: 300 }, (_, i) => `${word} ${i}`)

describe.each(engines)('forks of conversations on $name', ({ open }) => {
  test('a fork has head, graph, checkpoint and attachments as they stood, and later changes are separate', async () => {
    const store = await open()
    const source = await store.session('source')
    await source.configure({ model: 'm' })
    await source.frames.open('plan')
    const file = await source.attachments.put(Uint8Array.from([1, 2, 3]))
    await source.commitTurn({
      turn: '1',
      nodes: [node('a', null, long('a')), node('b', 'a')],
      checkpoint: { s: long('s') },
      attachments: [file],
    })
    await source.commitTurn({ turn: '2', nodes: [node('c', 'a')], leaf: 'b' })
    const { seq: at } = await store.head()
    await source.configure({ model: 'later' })
    await source.commitTurn({ turn: '3', nodes: [node('d', 'b')], checkpoint: { s: long('s'), t: 1 } })
    await source.graph.remove('c')
    await source.graph.vacuum()

    const fork = await source.fork({ at, key: 'fork' })
    expect(await ids(fork)).toEqual(['a', 'b'])
    expect((await fork.graph.node('a'))?.payload).toEqual(long('a'))
    expect((await fork.graph.children('a')).map(({ id }) => id).sort()).toEqual(['b', 'c'])
    expect(await fork.head()).toMatchObject({ revision: 2, leaf: 'b', nodes: 3, turns: 2, config: { model: 'm' }, frame: 'plan' })
    expect(await fork.checkpoint()).toEqual({ s: long('s') })
    expect((await fork.attachments.get(file.id))?.bytes).toEqual(Uint8Array.from([1, 2, 3]))

    // The receipts of turns are not shared: the same turn id is another turn here.
    await fork.commitTurn({ turn: '3', expectedHead: 2, nodes: [node('x', 'c')] })
    expect(await ids(fork)).toEqual(['a', 'c', 'x'])
    expect(await ids(source)).toEqual(['a', 'b', 'd'])
    expect(await codeOf(source.fork({ at, key: 'fork' }))).toBe('no error')
    await source.delete({ reason: 'over' })
    await store.collect({ grace: 0 })
    expect((await fork.graph.node('a'))?.payload).toEqual(long('a'))
    expect(await fork.checkpoint()).toEqual({ s: long('s') })
    expect((await fork.attachments.get(file.id))?.bytes).toEqual(Uint8Array.from([1, 2, 3]))
    await expectSound(store)
  })

  test('a fork from before the first message has no title of it', async () => {
    const store = await open()
    const source = await store.session('source')
    await source.configure({ model: 'm' })
    const { seq: before } = await store.head()
    await source.commitTurn({ turn: '1', messages: [{ id: 'q', role: 'user', parts: [{ type: 'text', text: 'How?' }] }] })
    const [empty, whole] = [await source.fork({ at: before }), await source.fork({ at: (await store.head()).seq })]
    expect(await empty.head()).toMatchObject({ revision: 0, config: { model: 'm' } })
    expect([empty.title, (await empty.head()).firstMessage]).toEqual([undefined, undefined])
    expect((await whole.head()).title).toEqual({ text: 'How?', source: 'derived', locked: false })
    await empty.commitTurn({ turn: '1', messages: [{ id: 'q', role: 'user', parts: [{ type: 'text', text: 'Why?' }] }] })
    expect(empty.title).toBe('Why?')
    await expectSound(store)
  })

  test('a fork of a large graph is there completely, and its payloads are stored once', async () => {
    const store = await open()
    const source = await store.session('source')
    const nodes = Array.from({ length: 1000 }, (_, i) => node(`n${i}`, i === 0 ? null : `n${i - 1}`, i % 100 === 0 ? long(`${i}`) : i))
    await source.commitTurn({ turn: '1', nodes })
    await source.commitTurn({ turn: '2', nodes: [node('end', 'n999')] })
    const { seq: at } = await store.head()
    const fork = await source.fork({ at })
    expect(await fork.graph.path()).toHaveLength(1001)
    expect((await fork.graph.node('n500'))?.payload).toEqual(long('500'))
    expect(await (await fork.fork({ at: (await store.head()).seq })).graph.path({ last: 3 })).toHaveLength(3)
    await expectSound(store)
  })
})
