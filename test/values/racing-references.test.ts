// References to a blob inside the data of a caller. A collection that is about to delete the blob hears of them.

import { describe, expect, test } from 'vitest'
import { memoryBackend } from '../../src/backends/memory/backend.ts'
import { nodeEnvironment } from '../../src/environment.ts'
import { type BlobRef, open as openStore, type Store } from '../../src/index.ts'
import type { Backend } from '../../src/ports/backend.ts'
import { codeOf, engines, expectSound } from '../support/engines.ts'

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const long = 'long '.repeat(20_000)
// Keys out of order: such data stands in its event as text.
const about = (blob: BlobRef) => ({ name: 'report', blob, at: 1 })

const places: Record<string, (store: Store, blob: BlobRef) => Promise<unknown>> = {
  'an event': async (store, blob) => (await store.session('s')).append('note.made', about(blob)),
  'an entry of state': (store, blob) => store.state.set('k', about(blob)),
  'a large entry of state': (store, blob) => store.state.set('k', { ...about(blob), long }),
  'a value with a pin': async (store, blob) => store.pin(await store.values.put({ ...about(blob), long })),
  'a message': async (store, blob) =>
    (await store.session('s')).thread.add({ id: 'm', role: 'user', parts: [{ type: 'data-file', data: about(blob) }] }),
  'a large message': async (store, blob) =>
    (await store.session('s')).thread.add({ id: 'm', role: 'user', parts: [{ type: 'data-file', data: { ...about(blob), long } }] }),
  'a node of the graph': async (store, blob) =>
    (await store.session('s')).commitTurn({ turn: 't', expectedHead: 0, nodes: [{ id: 'n', parent: null, payload: { ...about(blob) } }] }),
  'a large node of the graph': async (store, blob) =>
    (await store.session('s')).commitTurn({
      turn: 't',
      expectedHead: 0,
      nodes: [{ id: 'n', parent: null, payload: { ...about(blob), long } }],
    }),
  'the checkpoint of a turn': async (store, blob) =>
    (await store.session('s')).commitTurn({ turn: 't', expectedHead: 0, checkpoint: { toolState: about(blob) } }),
  'the checkpoint of a run': async (store, blob) => {
    await using run = await (await store.session('s')).run('r')
    await run.checkpoint({ toolState: about(blob) })
  },
  'a snapshot of an execution': (store, blob) => store.snapshots.save('s', { state: 'running', outputs: about(blob) }),
  'a canvas': async (store, blob) => (await store.session('s')).canvas('plan').replace({ ...about(blob) }),
  'a work item': (store, blob) => store.queue('q').offer(about(blob)),
}

/** Writes right before the collection condemns a blob that was put by hand. Tells whether the blob is left. */
async function survives(write: (typeof places)[string], isGuarded = true): Promise<boolean> {
  const backend = memoryBackend(nodeEnvironment)
  let meanwhile: () => Promise<unknown> = async () => {}
  const interrupted: Backend = {
    ...backend,
    commit: (batch) =>
      backend.commit(isGuarded ? batch : batch.map((one) => ({ ...one, guards: one.guards.filter(({ kind }) => kind !== 'blob') }))),
    blobs: {
      ...backend.blobs,
      condemn: async (asked) => {
        await meanwhile()
        meanwhile = async () => {}
        return backend.blobs.condemn(asked)
      },
    },
  }
  await using store = await openStore({ backend: interrupted, schedule: false })
  await store.session('s')
  const blob = await store.blobs.put(bytesOf('report'))
  meanwhile = () => write(store, blob)
  await store.collect({ grace: 0 })
  const isLeft = (await codeOf(store.blobs.get(blob))) === 'no error'
  // What is left is left for a reason that the next collection finds too.
  if (isLeft) expect((await store.collect({ grace: 0 })).deleted.blobs).toBe(0)
  await expectSound(store)
  return isLeft
}

test.each(Object.entries(places))('%s keeps a blob that a collection is about to delete', async (_, write) => {
  expect(await survives(write)).toBe(true)
})

test('without guards on blobs, the collection deletes a blob that an entry of state refers to', async () => {
  expect(await survives(places['an entry of state'] as (typeof places)[string], false)).toBe(false)
})

describe.each(engines)('on $name', ({ open }) => {
  test('a fork has a message whose blob was replaced and collected since', async () => {
    await using store = await open()
    const session = await store.session('s')
    const blob = await store.blobs.put(bytesOf('report'))
    const parts = [
      { type: 'text', text: 'see the report' },
      { type: 'data-file', data: about(blob) },
    ]
    await session.thread.add({ id: 'm', role: 'user', parts })
    const { seq: at } = await store.head()
    await session.thread.update('m', (message) => ({ ...message, parts: [{ type: 'text', text: 'no report' }] }))
    expect((await store.collect({ grace: 0 })).deleted.blobs).toBe(1)
    const fork = await session.fork({ at })
    expect((await fork.thread.get('m'))?.parts).toEqual(parts)
    await expectSound(store)
  })
})
