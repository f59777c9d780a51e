// One event: found by its id or by its key.

import { describe, expect, test } from 'vitest'
import type { Event, Store } from '../src/index.ts'
import { codeOf, layouts } from './support/engines.ts'

const all = async (store: Store): Promise<readonly Event[]> => {
  const events: Event[] = []
  for await (const event of store.events()) events.push(event)
  return events
}

describe.each(layouts)('one event on $name', (engine) => {
  test('an event is found by its id, also an event of the kernel, and an unknown id finds nothing', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    await session.append('a.b', { n: 1 })
    const events = await all(store)
    expect(events).toHaveLength(2)
    for (const event of events) expect(await store.event(event.id)).toEqual(event)
    expect(await store.event(session.id)).toBeUndefined()
    expect(await codeOf(store.event('no id'))).toBe('ID_INVALID')
    expect(await codeOf(store.event(undefined as never))).toBe('ID_INVALID')
  })

  test('an event is found by the key it was appended under, in the session of that key', async () => {
    const store = await engine.open()
    const [one, other] = [await store.session('one'), await store.session('other')]
    const first = await one.append('a.b', 1, { key: 'req-81' })
    const second = await other.append('a.b', 2, { key: 'req-81' })
    expect((await store.event({ key: 'req-81', session: one.id }))?.id).toBe(first.id)
    expect((await store.event({ key: 'req-81', session: other.id }))?.id).toBe(second.id)
    expect(await store.event({ key: 'req-81' })).toBeUndefined()
    expect(await store.event({ key: 'req-82', session: one.id })).toBeUndefined()
    expect(await codeOf(store.event({ key: '', session: one.id }))).toBe('KEY_INVALID')
    expect((await store.event({ key: 'req-81', session: 'other' }))?.id).toBe(second.id)
  })

  test('a key of appendAll finds the first event of its commit', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const events = [1, 2, 3].map((n) => ({ session: session.id, type: 'a.b', data: n }))
    const [first] = await store.appendAll(events, { key: 'import' })
    expect((await store.event({ key: 'import' }))?.seq).toBe(first?.seq)
    expect(await store.event({ key: 'import', session: session.id })).toBeUndefined()
  })

  test('an erased event is found without its data, and the event of another tenant is not found', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const { id, seq } = await session.append('a.b', 'secret', { key: 'k' })
    expect(await store.tenant('acme').event(id)).toBeUndefined()
    expect(await store.tenant('acme').event({ key: 'k', session: session.id })).toBeUndefined()
    await store.erase({ seq, reason: 'a test' })
    for (const found of [await store.event(id), await store.event({ key: 'k', session: session.id })])
      expect(found).toMatchObject({ seq, data: undefined, erased: true })
  })
})
