// References in the data of a caller must name what the tenant has. The commit itself looks, so a collection in between does not win.

import { describe, expect, test } from 'vitest'
import { memoryBackend } from '../../src/backends/memory/backend.ts'
import { nodeEnvironment } from '../../src/environment.ts'
import { open as openStore, type Store } from '../../src/index.ts'
import type { Backend } from '../../src/ports/backend.ts'
import { codeOf, engines, expectSound } from '../support/engines.ts'

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const long = 'long '.repeat(20_000)

/** Every write takes data with a reference somewhere in it, with keys in order and out of order, small and large. */
const places: Record<string, (store: Store, data: object) => Promise<unknown>> = {
  'an event': async (store, data) => (await store.session('s')).append('note.made', data),
  'one of several events': async (store, data) =>
    store.appendAll([
      { type: 'note.made', data: 1 },
      { type: 'note.made', data },
    ]),
  'a large event': async (store, data) =>
    (await store.session('s')).append('note.made', { data, long: long.repeat(20) }, { large: 'blob' }),
  'an entry of state': (store, data) => store.state.set('k', data),
  'an entry of state as text': (store, data) => store.state.set('k', { z: 1, data }),
  'a large entry of state': (store, data) => store.state.set('k', { data, long }),
  'a canvas': async (store, data) => (await store.session('s')).canvas('plan').replace({ data }),
  'a patch of a canvas': async (store, data) =>
    (await store.session('s')).canvas('plan').patch([{ op: 'replace', path: '', value: { data } }]),
  'a message': async (store, data) =>
    (await store.session('s')).thread.add({ id: 'm', role: 'user', parts: [{ type: 'data-file', data }] }),
  'a large message': async (store, data) =>
    (await store.session('s')).thread.add({ id: 'm', role: 'user', parts: [{ type: 'data-file', data: { data, long } }] }),
  'a node of the graph': async (store, data) =>
    (await store.session('s')).commitTurn({ turn: 't', expectedHead: 0, nodes: [{ id: 'n', parent: null, payload: { z: 1, data } }] }),
  'a large node of the graph': async (store, data) =>
    (await store.session('s')).commitTurn({ turn: 't', expectedHead: 0, nodes: [{ id: 'n', parent: null, payload: { data, long } }] }),
  'a firing': (store, data) => store.triggers.fire('src', data),
  'a work item': (store, data) => store.queue('q').offer(data),
  'the input of a run': (store, data) => store.start('r', { session: 's', input: data }),
}

const invented = { digest: 'ab'.repeat(32), bytes: 12 }

describe.each(engines)('on $name', ({ open }) => {
  test.each(Object.entries(places))(
    '%s is refused with a reference that was invented, is of another tenant, or was collected',
    async (_, write) => {
      await using store = await open()
      await store.session('s')
      const foreign = store.tenant('other')
      const gone = await store.blobs.put(bytesOf('collected'))
      const goneValue = await store.values.put(['collected'])
      await store.collect({ grace: 0 })
      const { seq } = await store.head()
      for (const blob of [invented, await foreign.blobs.put(bytesOf('foreign')), gone])
        expect(await codeOf(write(store, { name: 'report', files: [{ blob }] }))).toBe('BLOB_UNKNOWN')
      for (const value of [`value:${'A'.repeat(43)}`, await foreign.values.put(['foreign']), goneValue])
        expect(await codeOf(write(store, { name: 'report', files: [{ value }] }))).toBe('VALUE_MISSING')
      expect((await store.head()).seq).toBe(seq)

      // The negative control: the same data with references that hold, and texts that only look like one.
      const [blob, value] = [await store.blobs.put(bytesOf('mine')), await store.values.put(['mine'])]
      const alike = { digest: 'AB'.repeat(32), bytes: 1, text: `see ${goneValue}`, other: { digest: gone.digest } }
      await write(store, { name: 'report', files: [{ blob }, { value }, alike] })
      await store.collect({ grace: 0 })
      expect((await store.blobs.get(blob)).length).toBe(4)
      await expectSound(store)
    },
  )

  test('a value that data refers to is kept by an event, a row and a text, and goes with the last of them', async () => {
    await using store = await open()
    const session = await store.session('s')
    const refs = await Promise.all(['event', 'row', 'text'].map((text) => store.values.put([text])))
    const { seq } = await session.append('note.made', { value: refs[0] })
    await store.state.set('k', { value: refs[1] })
    await store.state.set('l', { z: 1, value: refs[2] })
    expect((await store.page({ types: ['note.made'] })).items[0]?.refs).toEqual([refs[0]])
    await store.collect({ grace: 0 })
    for (const [i, text] of ['event', 'row', 'text'].entries()) expect(await store.values.get(refs[i] as string)).toEqual([text])
    await store.erase({ seq, reason: 'asked for' })
    await store.state.set('k', 1)
    await store.state.set('l', 1)
    await store.collect({ grace: 0 })
    for (const ref of refs) expect(await codeOf(store.values.get(ref))).toBe('VALUE_MISSING')
    await expectSound(store)
  })

  test('a process and a trigger name an environment that was put', async () => {
    await using store = await open()
    const unknown = `process-env:sha256:${'0'.repeat(64)}`
    const { digest } = await store.blobs.put(bytesOf('{}'))
    const trigger = { source: 'src', queue: 'q' }
    for (const env of [unknown, `process-env:sha256:${digest}`, await store.tenant('other').artifacts.putEnvironment({ node: '24' })]) {
      expect(await codeOf(store.processes.register('p', { kind: 'k', recovery: 'external', env }))).toBe('ENV_UNKNOWN')
      expect(await codeOf(store.triggers.on('t', { ...trigger, env }))).toBe('ENV_UNKNOWN')
    }
    const env = await store.artifacts.putEnvironment({ node: '22' })
    await store.processes.register('p', { kind: 'k', recovery: 'external', env })
    await store.triggers.on('t', { ...trigger, env })
    await expectSound(store)
  })

  test('a run whose result refers to nothing that exists fails, and says so', async () => {
    await using store = await open()
    await using node = store.work({
      r: async () => ({ blob: invented }),
      e: async () => Promise.reject(Object.assign(new Error('damaged'), { details: invented })),
    })
    expect(node).toBeDefined()
    const session = await store.session('s')
    const outcome = async (name: string) => codeOf((await store.start(name, { session: session.id })).result())
    expect(await outcome('r')).toBe('RUN_FAILED')
    expect(await outcome('e')).toBe('RUN_FAILED')
    await node.close()
    await expectSound(store)
  })
})

/** Collects right before the commit of a plain event. `isGuarded` false takes the guards on blobs and values out of commits. */
function collecting(isGuarded: boolean): Backend {
  const backend = memoryBackend(nodeEnvironment)
  let collector: Promise<Store> | undefined
  return {
    ...backend,
    commit: async (batch) => {
      if (batch.some(({ events }) => events.some(({ type }) => type === 'note.made'))) {
        collector ??= openStore({ backend, schedule: false })
        await (await collector).collect({ grace: 0 })
      }
      const isKept = ({ kind }: { kind: string }) => isGuarded || (kind !== 'blob' && kind !== 'value')
      return backend.commit(batch.map((one) => ({ ...one, guards: one.guards.filter(isKept) })))
    },
  }
}

test.each([
  [true, ['BLOB_UNKNOWN', 'VALUE_MISSING']],
  [false, ['no error', 'no error']],
])('a collection between the call and its commit does not win (guards: %s)', async (isGuarded, codes) => {
  await using store = await openStore({ backend: collecting(isGuarded), schedule: false })
  const session = await store.session('s')
  const blob = await store.blobs.put(bytesOf('report'))
  const value = await store.values.put(['report'])
  const found = [await codeOf(session.append('note.made', { blob })), await codeOf(session.append('note.made', { value }))]
  expect(found).toEqual(codes)
})
