// What content refers to is kept by the row that names the content, also where the content is stored as a value or a blob.

import { describe, expect, test } from 'vitest'
import type { Store } from '../../src/index.ts'
import { codeOf, engines, expectSound } from '../support/engines.ts'

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

/** Sizes between which content leaves the row for a value or a blob. */
const sizes = [10, 3_000, 40_000, 200_000]

const places: Record<string, (store: Store, data: object) => Promise<unknown>> = {
  'an entry of state': (store, data) => store.state.set('k', data),
  'a message': async (store, data) =>
    (await store.session('s')).thread.add({ id: 'm', role: 'user', parts: [{ type: 'data-file', data }] }),
  'a node of the graph': async (store, data) =>
    (await store.session('s')).commitTurn({ turn: 't', expectedHead: 0, nodes: [{ id: 'n', parent: null, payload: data as never }] }),
  'a work item': (store, data) => store.queue('q').offer(data),
  'an item of the inbox': async (store, data) => (await store.session('s')).inbox.offer(data, { delivery: 'afterTurn', kind: 'turn' }),
  'a firing': async (store, data) => {
    await store.triggers.on('t', { source: 'src', queue: 'q' })
    await store.triggers.fire('src', data)
  },
  'a cron job': (store, data) => store.cron.set('c', { every: '1d', queue: 'q', payload: data }),
  'the input of a run': (store, data) => store.start('r', { session: 's', input: data }),
  'the input of a process': (store, data) => store.processes.register('p', { kind: 'k', recovery: 'external', input: data }),
  'an approval': (store, data) => store.approvals.request({ subject: 'tool', data } as never),
}

describe.each(engines)('on $name', ({ open }) => {
  test.each(Object.entries(places))('%s keeps the values and blobs in its content', async (_, write) => {
    for (const size of sizes) {
      await using store = await open()
      await store.session('s')
      const blob = await store.blobs.put(bytesOf('kept'))
      const [plain, told] = [await store.values.put(['kept']), await store.values.put(['told'])]
      const error = { name: 'Error', message: 'no', transcript: told, file: { digest: 'ab'.repeat(32), bytes: 3 } }
      await write(store, { blob, list: [{ plain }], error, fill: 'x '.repeat(size / 2) })
      // The negative control: nothing refers to this one.
      const loose = await store.values.put(['loose'])
      await store.collect({ grace: 0 })
      expect(await store.values.get(plain), `${size}`).toEqual(['kept'])
      expect(await store.values.get(told), `${size}`).toEqual(['told'])
      expect((await store.blobs.get(blob)).length).toBe(4)
      expect(await codeOf(store.values.get(loose))).toBe('VALUE_MISSING')
      await expectSound(store)
    }
  })
})
