// Values, blobs, artifacts, checkpoints, key-value state and snapshots, in lines as a program writes them.

import { createHash } from 'node:crypto'
import { emptyCheckpoint } from '@langchain/langgraph-checkpoint'
import { describe, expect, test } from 'vitest'
import { InkfastSaver } from '../../src/adapters/langgraph/index.ts'
import { codeOf, engines, expectSound } from '../support/engines.ts'

async function* chunksOf(...chunks: readonly Uint8Array[]) {
  yield* chunks
}

describe.each(engines)('on $name', ({ open }) => {
  test('values are named by their content and read in parts', async () => {
    const store = await open()
    const bigJson = { name: 'report', messages: Array.from({ length: 500 }, (_, n) => ({ n, text: `message ${n}` })) }
    const ref: string = await store.values.put(bigJson)
    expect(ref).toMatch(/^value:[A-Za-z0-9_-]{43}$/)
    expect(await store.values.get(ref)).toEqual(bigJson)
    expect(await store.values.get(ref, '/messages/3')).toEqual({ n: 3, text: 'message 3' })
    expect(await store.values.get(ref, '')).toEqual(bigJson)
    for (const absent of ['/messages/500', '/messages/-', '/nothing', '/name/0'])
      expect(await store.values.get(ref, absent)).toBeUndefined()
    expect(await store.values.field(ref, 'name')).toBe('report')
    expect(await store.values.field(ref, 'nothing')).toBeUndefined()
    const list = await store.values.put(bigJson.messages)
    expect(await store.values.slice(list, 0, 20)).toEqual(bigJson.messages.slice(0, 20))
    const item = { n: 500 }
    const longer = await store.values.append(list, [item])
    expect(await store.values.slice(longer, 499)).toEqual([bigJson.messages[499], item])
    expect(await store.values.get(list)).toHaveLength(500)
    await expectSound(store)
  })

  test('blobs are bytes or streams, artifacts are checked, and what is unreferenced is collected', async () => {
    const store = await open()
    const bytes = Uint8Array.from({ length: 5000 }, (_, n) => n % 251)
    const blob = await store.blobs.put(bytes, { kind: 'tool-state', hints: ['compressible'] })
    const { digest } = await store.blobs.put(chunksOf(bytes.subarray(0, 1), bytes.subarray(1)))
    expect(digest).toBe(blob.digest)
    expect(await store.blobs.get(blob, { from: 0, to: 1024 })).toEqual(bytes.slice(0, 1024))
    expect(await store.blobs.get(blob)).toEqual(bytes)
    const read: number[] = []
    for await (const chunk of store.blobs.stream(blob)) read.push(...chunk)
    expect(read).toEqual([...bytes])

    const module = `sha256:${createHash('sha256').update(bytes).digest('hex')}`
    await store.artifacts.put('module', module, bytes)
    expect(await store.artifacts.get('module', module)).toEqual(bytes)
    expect(await store.artifacts.get('module', `sha256:${'0'.repeat(64)}`)).toBeUndefined()
    expect(await codeOf(store.artifacts.put('module', `sha256:${'0'.repeat(64)}`, bytes))).toBe('ARTIFACT_MISMATCH')

    const ref = await store.values.put({ pinned: true })
    const loose = await store.values.put({ pinned: false })
    await store.pin(ref)
    const dry = await store.collect({ dryRun: true, grace: 0 })
    expect(dry.deleted).toEqual({ nodes: 1, blobs: 0, bytes: expect.any(Number) })
    expect(dry.retained).toMatchObject({ nodes: 1, blobs: 1, bytes: expect.any(Number) })
    expect((await store.collect({ grace: 0 })).deleted).toEqual(dry.deleted)
    expect(await codeOf(store.values.get(loose))).toBe('VALUE_MISSING')
    expect(await store.values.get(ref)).toEqual({ pinned: true })
    await store.unpin(ref)
    expect((await store.collect({ grace: '0s', signal: AbortSignal.timeout(60_000) })).deleted.nodes).toBe(1)
    expect((await store.collect({ grace: 0 })).deleted).toEqual({ nodes: 0, blobs: 0, bytes: 0 })
    await expectSound(store)
  })

  test('a run restores its checkpoint under the names given', async () => {
    const store = await open()
    const session = await store.session('chat')
    const [toolState, plugin, execution] = [{ open: ['a.txt'] }, Uint8Array.of(1, 2, 3), ['step', 1]]
    {
      await using run = await session.run('work')
      expect(await run.restore()).toBeUndefined()
      await run.checkpoint({ toolState, plugin, execution })
    }
    await using run = await session.run('work')
    const last = await run.restore()
    expect(last).toEqual({ toolState, plugin, execution })
    await run.finish()
  })

  test('state is set under keys with a time to live and an expected revision, and listed by prefix', async () => {
    const store = await open()
    expect(await store.state.get('cursor/github')).toBeUndefined()
    const { revision } = await store.state.set('cursor/github', { page: 6 }, { ttl: 3_600_000, expect: 0 })
    expect(await codeOf(store.state.set('cursor/github', { page: 7 }, { expect: 0 }))).toBe('STATE_CHANGED')
    const set = await store.state.set('cursor/github', { page: 7 }, { ttl: '1h', expect: revision })
    expect(await store.state.get('cursor/github')).toMatchObject({ key: 'cursor/github', value: { page: 7 }, revision: set.revision })
    await store.state.set('cursor/mail', 1)
    await store.state.set('other', 1)
    const keys: string[] = []
    for await (const entry of store.state.list('cursor/')) keys.push(entry.key)
    expect(keys).toEqual(['cursor/github', 'cursor/mail'])
    for await (const _ of store.state.list('nothing/')) throw new Error('an entry')
    await expectSound(store)
  })

  test('an execution is resumed from its snapshot and the events after it', async () => {
    const store = await open()
    const session = await store.session('exec-1')
    const { seq } = await session.append('step.completed', { step: 'a' })
    const [state, step, outputs, variables] = ['running', 'a', { a: 1 }, { page: 1 }]
    await store.snapshots.save('exec-1', { state, step, outputs, variables, seq })
    await session.append('step.completed', { step: 'b' })
    const resumed = await store.snapshots.resumeFrom('exec-1')
    if (!resumed) throw new Error('no snapshot')
    const { snapshot, events } = resumed
    expect(snapshot).toMatchObject({ execution: 'exec-1', state, step, outputs, variables, seq })
    expect(events.map(({ data }) => data)).toEqual([{ step: 'b' }])
    expect(await store.snapshots.resumeFrom('unknown')).toBeUndefined()
    await expectSound(store)
  })

  test('the LangGraph saver takes the store and nothing else', async () => {
    const store = await open()
    const saver = new InkfastSaver(store)
    const checkpoint = { ...emptyCheckpoint(), channel_values: { a: 1 }, channel_versions: { a: 1 } }
    const at = { configurable: { thread_id: 't', checkpoint_ns: '' } }
    await saver.put(at, checkpoint, { source: 'input', step: 0, parents: {} }, { a: 1 })
    expect((await saver.getTuple(at))?.checkpoint.channel_values).toEqual({ a: 1 })
    await expectSound(store)
  })
})
