// Parts of values: lists and objects that stand in several values, and appends that are saved together with something else.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Store, ValuePart } from '../../src/index.ts'
import { codeOf, engines, expectSound } from '../support/engines.ts'
import { rounds, SEED } from '../support/rounds.ts'

const text = (n: number): string => `message ${n} `.repeat(20)
const texts = (from: number, to: number): readonly string[] => Array.from({ length: to - from }, (_, i) => text(from + i))

/** The ref of the value under a key. */
async function refOf(store: Store, key: string): Promise<string> {
  for await (const event of store.events({ types: ['state.set'] })) {
    const data = event.data as { readonly key: string; readonly content: { readonly ref: string } }
    if (data.key === key) return data.content.ref
  }
  throw new Error(`no event sets ${key}`)
}

describe.each(engines)('parts of values on $name', ({ open }) => {
  it('a value made of parts has the ref of the whole value', async () => {
    const store = await open()
    let list = store.values.part([])
    const whole: unknown[] = []
    for (let n = 0; n < 60; n += 3) {
      list = store.values.part(texts(n, n + 3), { after: list })
      whole.push(...texts(n, n + 3))
      expect(await store.values.put({ n, list })).toBe(await store.values.put({ n, list: whole }))
    }
    expect(await store.values.get(list)).toEqual(whole)
    expect(await store.values.slice(list, -2)).toEqual(texts(58, 60))
    await expectSound(store)
  })

  it('a value made of random parts has the ref of the whole value', async () => {
    const store = await open()
    const items = fc.array(fc.oneof(fc.integer({ min: 0, max: 255 }), fc.string({ maxLength: 300 }), fc.constant(null)), { maxLength: 40 })
    await fc.assert(
      fc.asyncProperty(fc.array(items, { minLength: 1, maxLength: 4 }), async (lists) => {
        let part: ValuePart | undefined
        for (const list of lists) {
          part = store.values.part(list, part && { after: part })
          if (list.length % 2 === 0) await store.values.put([part])
        }
        expect(await store.values.put({ part })).toBe(await store.values.put({ part: lists.flat() }))
      }),
      { seed: SEED, numRuns: rounds(15, 150) },
    )
  })

  it('a lazy read leaves long lists as parts, which stand in other values', async () => {
    const store = await open()
    const ref = await store.values.put({ short: [1], long: texts(0, 30), deep: { long: texts(0, 30) } })
    const read = (await store.values.get(ref, '', { lazy: true })) as { short: unknown; long: ValuePart; deep: { long: ValuePart } }
    expect(read.short).toEqual([1])
    expect(await store.values.slice(read.long, 1, 3)).toEqual(texts(1, 3))
    const longer = store.values.part([text(30)], { after: read.deep.long })
    expect(await store.values.put([longer, read.long])).toBe(await store.values.put([texts(0, 31), texts(0, 30)]))
  })

  it('state keeps a part as a ref, and reads it lazily', async () => {
    const store = await open()
    const { revision } = await store.state.set('log', store.values.part([{ small: 1 }]))
    const log = (await store.state.get('log', { lazy: true }))?.value as readonly unknown[]
    expect(log).toEqual([{ small: 1 }])
    const long = store.values.part(texts(0, 30), { after: store.values.part(log) })
    await store.state.set('log', long, { expect: revision })
    expect((await store.state.get('log'))?.value).toEqual([{ small: 1 }, ...texts(0, 30)])
    expect(await refOf(store, 'log')).toMatch(/^value:/)
    await expectSound(store)
  })

  it('a part whose commit was refused is stored by the next one', async () => {
    const store = await open()
    const part = store.values.part(texts(0, 30))
    expect(await codeOf(store.state.set('log', part, { expect: 7 }))).toBe('STATE_CHANGED')
    expect(await codeOf(store.values.get(part))).toBe('OPTION_INVALID')
    await store.state.set('log', part)
    expect(await store.values.get(part)).toEqual(texts(0, 30))
  })

  it('a part that garbage collection removed is refused where it is used again', async () => {
    const store = await open()
    const part = store.values.part(texts(0, 30))
    await store.values.put({ part })
    await store.collect({ grace: 0 })
    expect(await codeOf(store.state.set('log', { part }))).toBe('VALUE_MISSING')
    expect(await store.state.get('log')).toBeUndefined()
  })

  it('parts refuse content that is no list, and masking', async () => {
    const store = await open()
    const part = store.values.part([1])
    expect(() => store.values.part('text' as never)).toThrow(/an array or an object/)
    expect(() => store.values.part({ a: 1 }, { after: part })).toThrow(/an array/)
    expect(() => store.values.part([1], { after: 'value:x' as never })).toThrow(/after/)
    expect(await codeOf(store.values.put({ part }, { redact: true }))).toBe('OPTION_INVALID')
    expect(await codeOf(store.state.set('k', { part }, { redact: true }))).toBe('OPTION_INVALID')
  })
})
