// What a read decodes: the payloads of the events that it gives, and no others.

import { describe, expect, test, vi } from 'vitest'
import { later, layouts } from './support/engines.ts'

const MARK = 'a payload that is counted'

/** Counts the payloads that are parsed from now on. */
function counting(): () => number {
  const spy = vi.spyOn(JSON, 'parse')
  later(() => spy.mockRestore())
  return () => {
    const decoded = spy.mock.calls.filter(([text]) => text.includes(MARK)).length
    spy.mockClear()
    return decoded
  }
}

describe.each(layouts)('on $name', ({ open }) => {
  test('the last events of a session, a page of them and recent() decode only what they return', async () => {
    const store = await open()
    const [session, other] = [await store.session('s'), await store.session('other')]
    const events = Array.from({ length: 400 }, (_, i) => ({
      session: (i % 2 === 0 ? session : other).id,
      type: 'a.b',
      data: { i, of: MARK },
    }))
    await store.appendAll(events)
    const fork = await session.fork({ at: (await store.head()).seq })
    const decoded = counting()
    for (const id of [session.id, fork.id]) {
      const last: unknown[] = []
      for await (const event of store.events({ session: id, types: ['a.b'], backwards: true, limit: 100 })) last.push(event.data)
      expect([last.length, last[0], decoded()]).toEqual([100, { i: 398, of: MARK }, 100])
      // A reader that leaves early.
      for await (const event of store.events({ session: id, types: ['a.b'], backwards: true })) if (event.seq < 400) break
      expect(decoded()).toBeLessThan(10)
    }
    const { items } = await store.page({ session: session.id, types: ['a.b'], backwards: true, limit: 100 })
    expect([items.length, decoded()]).toEqual([100, 100])
    const recent = store.recent().filter(({ type }) => type === 'a.b')
    expect(decoded()).toBe(recent.length)
    expect(recent.length).toBeGreaterThan(90)
  })
})
