// The saver beyond the validation suite: whole graphs, several processes, deleting, copying, pruning, and serializers.

import { AIMessage, type BaseMessage, HumanMessage } from '@langchain/core/messages'
import { MemorySaver, MessagesAnnotation, StateGraph } from '@langchain/langgraph'
import {
  type BaseCheckpointSaver,
  type Checkpoint,
  DeltaSnapshot,
  emptyCheckpoint,
  type SerializerProtocol,
  uuid6,
} from '@langchain/langgraph-checkpoint'
import { describe, expect, it } from 'vitest'
import { InkfastSaver } from '../../src/adapters/langgraph/index.ts'
import type { Store } from '../../src/index.ts'
import { engines, expectSound } from '../support/engines.ts'
import { rounds } from '../support/rounds.ts'

const threadOf = (id: string) => ({ configurable: { thread_id: id, checkpoint_ns: '' } })
const meta = { source: 'loop', step: 0, parents: {} } as const

function graphWith(checkpointer: BaseCheckpointSaver) {
  return new StateGraph(MessagesAnnotation)
    .addNode('model', ({ messages }) => ({
      messages: [new AIMessage({ content: `answer ${messages.length}`, id: `a${messages.length}` })],
    }))
    .addNode('check', ({ messages }) => ({
      messages: [new AIMessage({ content: `checked ${messages.length}`, id: `c${messages.length}` })],
    }))
    .addEdge('__start__', 'model')
    .addEdge('model', 'check')
    .compile({ checkpointer })
}

async function talk(checkpointer: BaseCheckpointSaver, id: string, turns: number): Promise<void> {
  const graph = graphWith(checkpointer)
  for (let n = 0; n < turns; n++) {
    const question = new HumanMessage({ content: `question ${n} ${'word '.repeat(40)}`, id: `q${n}` })
    await graph.invoke({ messages: [question] }, threadOf(id))
  }
}

/** Everything that a history shows except ids and times, which differ from run to run. */
async function historyOf(checkpointer: BaseCheckpointSaver, id: string): Promise<readonly unknown[]> {
  const history: unknown[] = []
  for await (const { checkpoint, metadata, pendingWrites, parentConfig } of checkpointer.list(threadOf(id)))
    history.push({
      // MemorySaver also shows a channel that has no version yet.
      messages: ((checkpoint.channel_values.messages ?? []) as readonly BaseMessage[]).map(({ content }) => content),
      versions: checkpoint.channel_versions,
      seen: checkpoint.versions_seen,
      metadata,
      writes: pendingWrites?.map(([, channel]) => channel),
      hasParent: parentConfig !== undefined,
    })
  return history
}

async function put(saver: InkfastSaver, thread: string, values: Record<string, unknown>, parent?: string, more = {}): Promise<string> {
  const versions = Object.fromEntries(Object.keys(values).map((channel) => [channel, 1]))
  const checkpoint: Checkpoint = { ...emptyCheckpoint(), id: uuid6(0), channel_values: values, channel_versions: versions }
  const config = { configurable: { thread_id: thread, checkpoint_ns: '', ...(parent && { checkpoint_id: parent }) } }
  await saver.put(config, checkpoint, { ...meta, ...more }, versions)
  return checkpoint.id
}

async function all<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

const idsOf = async (saver: InkfastSaver, thread: string): Promise<readonly string[]> =>
  (await all(saver.list(threadOf(thread)))).map(({ checkpoint }) => checkpoint.id)

const keysOf = async (store: Store): Promise<readonly string[]> => (await all(store.state.list('lg/'))).map(({ key }) => key)

describe.each(engines)('the LangGraph saver on $name', ({ open }) => {
  it('a thread has the history that MemorySaver gives it, also for a process that starts later', async () => {
    const store = await open()
    const turns = rounds(12, 60)
    const memory = new MemorySaver()
    await talk(memory, 'a', turns)
    await talk(new InkfastSaver(store), 'a', turns)
    expect(await historyOf(new InkfastSaver(store), 'a')).toEqual(await historyOf(memory, 'a'))
    await expectSound(store)
  })

  it('two savers that take turns on one thread see what the other wrote', async () => {
    const store = await open()
    const [one, two, memory] = [new InkfastSaver(store), new InkfastSaver(store), new MemorySaver()]
    for (const saver of [one, two, one, two]) {
      await talk(saver, 'a', 1)
      await talk(memory, 'a', 1)
    }
    expect(await historyOf(one, 'a')).toEqual(await historyOf(memory, 'a'))
  })

  it('savers that write to one thread at the same time lose nothing', async () => {
    const store = await open()
    const savers = Array.from({ length: 4 }, () => new InkfastSaver(store))
    const root = await put(savers[0] as InkfastSaver, 'a', {})
    const config = { configurable: { thread_id: 'a', checkpoint_ns: '', checkpoint_id: root } }
    await Promise.all(savers.flatMap((saver, i) => [1, 2, 3].map((n) => saver.putWrites(config, [['log', n]], `task-${i}-${n}`))))
    const tuple = await new InkfastSaver(store).getTuple(config)
    expect(tuple?.pendingWrites).toHaveLength(12)
    await expectSound(store)
  })

  it('a checkpoint whose parent another process saved keeps the channels that did not change', async () => {
    const store = await open()
    const [one, two] = [new InkfastSaver(store), new InkfastSaver(store)]
    const first = await put(one, 'a', { list: ['x'], n: 1 })
    const second = await put(two, 'a', { list: ['x', 'y'], n: 1 }, first)
    const checkpoint: Checkpoint = {
      ...emptyCheckpoint(),
      id: uuid6(2),
      channel_values: { list: ['x', 'y'], n: 2 },
      channel_versions: { list: 1, n: 2 },
    }
    await one.put({ configurable: { thread_id: 'a', checkpoint_ns: '', checkpoint_id: second } }, checkpoint, meta, { n: 2 })
    expect((await new InkfastSaver(store).getTuple(threadOf('a')))?.checkpoint.channel_values).toEqual({ list: ['x', 'y'], n: 2 })
  })

  it('writes that were saved before their checkpoint belong to it', async () => {
    const store = await open()
    const saver = new InkfastSaver(store)
    const root = await put(saver, 'a', {})
    const next: Checkpoint = { ...emptyCheckpoint(), id: uuid6(1) }
    const config = { configurable: { thread_id: 'a', checkpoint_ns: '', checkpoint_id: next.id } }
    await saver.putWrites(config, [['log', 'early']], 'task-1')
    await saver.put({ configurable: { thread_id: 'a', checkpoint_ns: '', checkpoint_id: root } }, next, meta, {})
    await saver.putWrites(config, [['log', 'late']], 'task-2')
    for (const reader of [saver, new InkfastSaver(store)]) {
      expect((await reader.getTuple(threadOf('a')))?.pendingWrites).toEqual([
        ['task-1', 'log', 'early'],
        ['task-2', 'log', 'late'],
      ])
      expect((await all(reader.list(threadOf('a')))).map(({ pendingWrites }) => pendingWrites?.length)).toEqual([2, 0])
    }
  })

  it('a write is kept when its task is repeated, and a special write is replaced', async () => {
    const saver = new InkfastSaver(await open())
    const id = await put(saver, 'a', {})
    const config = { configurable: { thread_id: 'a', checkpoint_ns: '', checkpoint_id: id } }
    for (const n of [1, 2])
      await saver.putWrites(
        config,
        [
          ['log', n],
          ['__error__', `error ${n}`],
        ],
        'task',
      )
    expect((await saver.getTuple(config))?.pendingWrites).toEqual([
      ['task', 'log', 1],
      ['task', '__error__', 'error 2'],
    ])
  })

  it('checkpoints that arrive out of order are listed by their ids', async () => {
    const store = await open()
    const saver = new InkfastSaver(store)
    const ids = Array.from({ length: 6 }, (_, n) => uuid6(n)).sort()
    for (const n of [2, 0, 4, 1, 5, 3]) await saver.put(threadOf('a'), { ...emptyCheckpoint(), id: ids[n] as string }, meta, {})
    expect(await idsOf(new InkfastSaver(store), 'a')).toEqual(ids.toReversed())
    expect((await saver.getTuple(threadOf('a')))?.checkpoint.id).toBe(ids[5])
  })

  it('an event of a step holds a ref and nothing else of the conversation', async () => {
    const store = await open()
    await talk(new InkfastSaver(store), 'a', 2)
    for await (const { data } of store.events()) expect(data).toEqual({ key: 'lg/a/', content: { ref: expect.stringMatching(/^value:/) } })
  })

  it('a deleted thread is gone, and its content with the next collection', async () => {
    const store = await open()
    const saver = new InkfastSaver(store)
    await talk(saver, 'a', 3)
    await talk(saver, 'b', 2)
    const kept = await historyOf(saver, 'b')
    await saver.deleteThread('a')
    expect(await saver.getTuple(threadOf('a'))).toBeUndefined()
    const report = await store.collect({ grace: 0 })
    expect(report.deleted.nodes).toBeGreaterThan(0)
    expect(await historyOf(new InkfastSaver(store), 'b')).toEqual(kept)
    await talk(saver, 'a', 1)
    await talk(saver, 'b', 1)
    expect((await historyOf(saver, 'b')).length).toBeGreaterThan(kept.length)
    await expectSound(store)
  })

  it('a copied thread has the same history in one commit, and goes its own way', async () => {
    const store = await open()
    const saver = new InkfastSaver(store)
    await talk(saver, 'a/1', 3)
    const before = await historyOf(saver, 'a/1')
    const { seq } = await store.head()
    await saver.copyThread('a/1', 'copy')
    expect((await store.head()).seq).toBe(seq + 1)
    expect(await historyOf(saver, 'copy')).toEqual(before)
    await talk(saver, 'copy', 1)
    expect(await historyOf(saver, 'a/1')).toEqual(before)
    await expect(saver.copyThread('a/1', 'copy')).rejects.toThrow(/has checkpoints already/)
  })

  it('pruning keeps the newest checkpoint, and the ancestors of delta channels', async () => {
    const store = await open()
    const saver = new InkfastSaver(store)
    await talk(saver, 'a', 3)
    const newest = (await idsOf(saver, 'a'))[0]
    await saver.prune(['a'])
    expect(await idsOf(saver, 'a')).toEqual([newest])
    await saver.prune(['a'], { strategy: 'delete' })
    expect(await idsOf(saver, 'a')).toEqual([])

    const counters = { counters_since_delta_snapshot: { log: [1, 1] } }
    await put(saver, 'd', {})
    const seed = await put(saver, 'd', { log: new DeltaSnapshot([0]) })
    await saver.putWrites({ configurable: { thread_id: 'd', checkpoint_ns: '', checkpoint_id: seed } }, [['log', [1]]], 'task')
    const last = await put(saver, 'd', {}, seed, counters)
    await saver.prune(['d'])
    expect(await idsOf(saver, 'd')).toEqual([last, seed])
    const history = await saver.getDeltaChannelHistory({ config: threadOf('d'), channels: ['log'] })
    expect(history.log?.seed).toEqual(new DeltaSnapshot([0]))
    expect(history.log?.writes.map(([, , value]) => value)).toEqual([[1]])
    await expectSound(store)
  })

  it('deleting for runs removes their checkpoints in every thread', async () => {
    const store = await open()
    const saver = new InkfastSaver(store)
    const kept = await put(saver, 'a', {}, undefined, { run_id: 'r1' })
    await put(saver, 'a', {}, kept, { run_id: 'r2' })
    await put(saver, 'b', {}, undefined, { run_id: 'r2' })
    await saver.deleteForRuns(['r2', 'r3'])
    expect(await idsOf(saver, 'a')).toEqual([kept])
    expect(await keysOf(store)).toEqual(['lg/a/'])
  })

  it('a serializer of the user may write types other than JSON, and numbers that JavaScript would round', async () => {
    const serde: SerializerProtocol = {
      dumpsTyped: async (value) =>
        typeof value === 'bigint'
          ? ['json', new TextEncoder().encode(String(value))]
          : ['text', new TextEncoder().encode(JSON.stringify(value))],
      loadsTyped: async (type, data) => {
        const text = typeof data === 'string' ? data : new TextDecoder().decode(data)
        return type === 'json' ? BigInt(text) : JSON.parse(text)
      },
    }
    const store = await open()
    const saver = new InkfastSaver(store, { serde })
    await put(saver, 'a', { big: 12345678901234567890n, list: ['x'.repeat(300)] })
    const tuple = await new InkfastSaver(store, { serde }).getTuple(threadOf('a'))
    expect(tuple?.checkpoint.channel_values).toEqual({ big: 12345678901234567890n, list: ['x'.repeat(300)] })
    expect(tuple?.metadata).toEqual(meta)
  })

  it('content of every kind reads back as MemorySaver reads it', async () => {
    const values = {
      map: new Map([['a', new Set([1])]]),
      bytes: new Uint8Array([1, 2, 255]),
      surrogate: '\ud83d cut',
      nothing: undefined,
      nested: { list: [new HumanMessage({ content: 'hi', id: '1' }), null, undefined] },
      list: [new Uint8Array(64), undefined, 'x', { deep: [[[]]] }],
      ...Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`channel-${n}-${'x'.repeat(30)}`, { n }])),
    }
    const store = await open()
    await put(new InkfastSaver(store), 'a', values)
    const memory = new MemorySaver()
    await put(memory as never, 'a', values)
    const read = (await new InkfastSaver(store).getTuple(threadOf('a')))?.checkpoint
    const wanted = (await memory.getTuple(threadOf('a')))?.checkpoint
    // A byte array is a type of its own for the serializer; inside a value it is not, for either saver.
    expect(read?.channel_values).toEqual(wanted?.channel_values)
    expect(read?.channel_versions).toEqual(wanted?.channel_versions)
  })
})
