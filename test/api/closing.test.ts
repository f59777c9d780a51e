// Everything that holds a resource has `close()` and works with `await using`. Closing again, and closing what is lost, changes nothing.

import { describe, expect, test } from 'vitest'
import type { Session, Store } from '../../src/index.ts'
import { engines, expectSound } from '../support/engines.ts'

type Resource = AsyncDisposable & { close(): Promise<void> }

const resources: Readonly<Record<string, (store: Store, session: Session) => Promise<Resource>>> = {
  run: (_, session) => session.run('r'),
  lease: (_, session) => session.lease(),
  claim: async (store) => {
    const claim = await store.queue('q').claim()
    if (!claim) throw new Error('the item was not given back')
    return claim
  },
  process: async (store) => (await store.processes.register('p', { kind: 'x', recovery: 'external' })).claim(),
  stream: async (_, session) => session.thread.stream('m'),
  'store.work': async (store) => store.work({ other: () => {} }),
  'queue.work': async (store) => store.queue('other').work(() => {}),
  'processes.work': async (store) => store.processes.work({ other: () => {} }),
}

describe.each(engines)('on $name', ({ open }) => {
  test('a resource that was closed, or left by its block, can be taken again, and closing twice is closing once', async () => {
    const store = await open()
    const session = await store.session('chat')
    await store.queue('q').offer(1)
    for (const [name, take] of Object.entries(resources)) {
      const one = await take(store, session)
      expect([name, typeof one.close]).toEqual([name, 'function'])
      await one.close()
      await one.close()
      {
        await using again = await take(store, session)
        expect([name, again === one]).toEqual([name, false])
      }
      await (await take(store, session)).close()
    }
    const claim = await store.queue('q').claim()
    await claim?.complete()
    await claim?.close()
    await expectSound(store)
    await store.close()
    await store.close()
  })
})
