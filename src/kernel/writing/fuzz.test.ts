// Whatever is thrown at the store is either written exactly or refused with a typed error that leaves the head where it was.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { engines, expectSound } from '../../../test/support/engines.ts'
import { rounds } from '../../../test/support/rounds.ts'
import { type Event, InkError, type Store } from '../../index.ts'

/** Runs a call; tells its result, or checks that the refusal is typed and changed nothing. */
async function tried<T>(store: Store, call: () => Promise<T> | T): Promise<T | InkError> {
  const before = await store.head()
  try {
    return await call()
  } catch (error) {
    if (!(error instanceof InkError)) throw error
    expect(await store.head()).toEqual(before)
    expect(error.message.length).toBeGreaterThan(20)
    return error
  }
}

const anything = fc.anything({
  maxDepth: 4,
  withBigInt: true,
  withDate: true,
  withMap: true,
  withSet: true,
  withSparseArray: true,
  withTypedArray: true,
  withNullPrototype: true,
})
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('', 'a.b', '__proto__', 'plan.*', '../../etc', 'x'.repeat(600)),
)

describe.each(engines)('on $name', (engine) => {
  test('any value is kept exactly or refused', async () => {
    const store = await engine.open({ redact: false })
    const session = await store.session('s')
    await fc.assert(
      fc.asyncProperty(anything, async (value) => {
        const result = await tried(store, () => session.append('a.b', value))
        if (result instanceof InkError) return
        const [event] = (await store.page({ after: result.seq - 1, limit: 1 })).items as [Event]
        expect(JSON.stringify(event.data)).toBe(JSON.stringify(value))
      }),
      { numRuns: rounds(100, 300) },
    )
    await expectSound(store)
  })

  test('any type, key, option and address is taken or refused', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    await fc.assert(
      fc.asyncProperty(text, text, anything, async (a, b, value) => {
        await tried(store, () => session.append(a, { b }))
        await tried(store, () => session.append('a.b', 1, { key: a }))
        await tried(store, () => session.append('a.b', 1, value as never))
        await tried(store, () => store.session(a, value as never))
        await tried(store, () => store.session(b, { title: a, metadata: value as never }))
        await tried(store, () => store.appendAll(value as never))
        await tried(store, () => store.appendAll([value as never]))
        await tried(store, () => store.tenant(a).as(b).head())
        await tried(store, () => store.page({ types: [a], cursor: b }))
        await tried(store, () => store.page(value as never))
        await tried(store, () => store.sessions.list(value as never))
        await tried(store, () => store.sessions.list({ cursor: a, owner: b }))
        await tried(store, () => store.sessions.get(a))
        await tried(store, () => store.erase(value as never))
        await tried(store, () => store.verify({ receipts: [value as never] }))
        await tried(store, () => session.rename(value as never))
      }),
      { numRuns: rounds(60, 120) },
    )
    await expectSound(store)
  })
})
