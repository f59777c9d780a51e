// Threads, turns, the graph and attachments, in lines as a program writes them.

import { describe, expect, test } from 'vitest'
import { codeOf, engines, expectSound } from '../support/engines.ts'

const PNG = Uint8Array.from(
  atob('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='),
  (letter) => letter.charCodeAt(0),
)

async function* streamOf(...chunks: readonly Uint8Array[]) {
  yield* chunks
}

describe.each(engines)('on $name', ({ open, openInTime }) => {
  test('messages are added, updated, streamed, removed and erased, in several threads', async () => {
    const store = await open()
    const session = await store.session('chat')
    const id = 'm-1'
    await session.thread.add({ id, role: 'user', parts: [{ type: 'text', text: 'hi' }] })
    expect(await session.thread.messages({ last: 40 })).toEqual([{ id, role: 'user', parts: [{ type: 'text', text: 'hi' }] }])
    await session.thread.update(id, (message) => ({ ...message, parts: [{ type: 'text', text: 'hello' }] }))
    expect(await session.thread.get(id)).toMatchObject({ id, parts: [{ type: 'text', text: 'hello' }] })
    const metadata = { createdAt: 1, model: 'm' }
    await session.thread.add({ id: 'm-2', role: 'assistant', metadata, parts: [{ type: 'text', text: 'hello' }] })
    const messages = await session.thread.messages({ last: 40 })
    expect(messages.map((message) => message.metadata)).toEqual([undefined, metadata])
    expect(messages.items).toEqual([...messages])

    const other = await session.threads.create({ title: 'side question' })
    expect(await other.messages()).toEqual([])
    const { items, cursor } = await session.threads.list()
    expect(items.map(({ title }) => title)).toContain('side question')
    expect(cursor).toBeUndefined()
    expect((await (await store.session('silent')).threads.list()).items).toEqual([])

    {
      await using stream = session.thread.stream('m-3')
      for (const chunk of [
        { type: 'start' },
        { type: 'text-start', id: '0' },
        { type: 'text-delta', id: '0', delta: 'an answer' },
        { type: 'text-end', id: '0' },
        { type: 'finish', finishReason: 'stop' },
      ])
        await stream.write(chunk)
    }
    expect(await session.thread.get('m-3')).toMatchObject({ role: 'assistant', parts: [{ type: 'text', text: 'an answer' }] })
    expect(await session.thread.record('m-3')).toMatchObject({ finishReason: 'stop' })
    {
      await using stream = session.thread.stream('m-4')
      await stream.write({ type: 'text-start', id: '0' })
      await stream.write({ type: 'text-delta', id: '0', delta: 'cut o' })
    }
    expect((await session.thread.record('m-4'))?.interrupted).toBe(true)
    await session.thread.record('m-2', { finishReason: 'stop', usage: { inputTokens: 1, outputTokens: 2 } })
    expect(await session.thread.record('m-2')).toEqual({ finishReason: 'stop', usage: { inputTokens: 1, outputTokens: 2 } })

    await session.thread.remove(id)
    await session.thread.erase('m-3', { reason: 'asked for' })
    expect([await session.thread.get(id), await session.thread.get('m-3'), await session.thread.get('no')]).toEqual(
      Array(3).fill(undefined),
    )
    expect(await session.thread.record('no')).toBeUndefined()
    await expectSound(store)
  })

  test('a turn is committed at the expected head, with all that belongs to it', async () => {
    const store = await open()
    const session = await store.session('chat')
    await session.configure({ model: 'm', thinking: 'high' })
    await session.inbox.offer({ wake: 1 }, { kind: 'turn', delivery: 'boundary' })
    await session.input('hi', { turn: 'next' })
    const run = await session.run('turn')
    const [input] = await run.inputs({ from: 'next' })
    const taken = await run.inbox({ at: 'boundary' })
    const nothing = await run.inbox({ at: 'boundary' })
    const file = await session.attachments.put(streamOf(PNG), { mediaType: 'image/png', label: 'chart' })
    const nodes = [
      { id: 'n1', parent: null, payload: { role: 'user' }, frame: 'main' },
      { id: 'n2', parent: 'n1', payload: { role: 'assistant' }, cause: { kind: 'effect', id: 'ask model' } as const },
    ]
    await session.frames.open('main')
    const expectedHead = (await session.head()).revision
    const turn = {
      turn: 't-7',
      expectedHead,
      nodes,
      leaf: 'n2',
      checkpoint: { toolState: { open: [] } },
      messages: [{ id: 'm-1', role: 'user', parts: [{ type: 'text', text: 'hi' }] }],
      usage: { model: 'm', inputTokens: 3, outputTokens: 4 },
      claims: [taken, nothing],
      inputs: input ? [input] : [],
      attachments: [file],
    }
    const { revision } = await session.commitTurn({ ...turn, lease: run })
    expect(revision).toBe(expectedHead + 1)
    await run.finish()
    const ids = { claims: [taken.claim ?? ''], inputs: [input?.id ?? ''], attachments: [file.id] }
    expect(await session.commitTurn({ ...turn, ...ids })).toMatchObject({ revision, repeated: true })
    expect(await codeOf(session.commitTurn({ ...turn, turn: 't-8', nodes: [], leaf: 'n2' }))).not.toBe('no error')

    const path = await session.graph.path({ leaf: 'n2' })
    expect(path.map((node) => node.id)).toEqual(['n1', 'n2'])
    expect((await session.graph.path({ leaf: 'n1' })).items.map(({ id }) => id)).toEqual(['n1'])
    expect(await session.graph.node('n1')).toMatchObject({ id: 'n1', parent: null, payload: { role: 'user' }, frame: 'main' })
    expect(await session.graph.node('no')).toBeUndefined()
    expect((await session.graph.children('n1')).map(({ id }) => id)).toEqual(['n2'])
    expect(await session.graph.children('n2')).toEqual([])
    expect((await session.graph.window('n1', { before: 5, after: 5 })).map(({ id }) => id)).toEqual(['n1', 'n2'])
    expect((await session.attachments.get(file.id))?.bytes).toEqual(PNG)
    await expectSound(store)
  })

  test('a turn needs no lease, the first head is 0, and a lease given is checked and released', async () => {
    const store = await open()
    const session = await store.session('chat')
    expect((await session.graph.path()).length).toBe(0)
    const node = (id: string, parent: string | null) => ({ id, parent, payload: { id } })
    await session.commitTurn({ turn: 't-1', expectedHead: 0, nodes: [node('a', null)], leaf: 'a', claims: [], inputs: [], attachments: [] })
    const moved = session.commitTurn({ turn: 't-2', expectedHead: 0, nodes: [node('b', 'a')], leaf: 'b' })
    expect(await codeOf(moved)).toBe('TURN_HEAD_MOVED')
    const lease = await session.lease()
    await session.commitTurn({ turn: 't-2', expectedHead: 1, nodes: [node('b', 'a')], leaf: 'b', lease, release: true })
    await using next = await session.lease({ wait: 0 })
    expect(next.fence).toBeGreaterThan(lease.fence)
    const stale = session.commitTurn({ turn: 't-3', expectedHead: 2, nodes: [node('c', 'b')], leaf: 'c', lease })
    expect(await codeOf(stale)).not.toBe('no error')
    await expectSound(store)
  })

  test('attachments are stored, read and swept', async () => {
    const { store, pass } = await openInTime({ schedule: false })
    const session = await store.session('chat')
    const file = await session.attachments.put(PNG, { mediaType: 'image/png', label: 'chart' })
    expect(file).toMatchObject({ mediaType: 'image/png', label: 'chart', size: PNG.length, width: 1, height: 1 })
    expect(await session.attachments.get('0'.repeat(64))).toBeUndefined()
    expect(await store.attachments.sweep({ olderThan: '1d' })).toMatchObject({ reclaimed: 0 })
    await pass(25 * 60 * 60 * 1000)
    expect(await store.attachments.sweep({ olderThan: '1d' })).toMatchObject({ reclaimed: 1 })
    expect(await session.attachments.get(file.id)).toBeUndefined()
    await expectSound(store)
  })
})
