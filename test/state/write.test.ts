// `state.write`: several keys in one commit, all or none.

import { describe, expect, test } from 'vitest'
import { limits } from '../../src/model/limits.ts'
import { codeOf, engines, expectSound } from '../support/engines.ts'

const all = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

describe.each(engines)('state.write on $name', ({ open, openInTime }) => {
  test('several keys are set and deleted in one commit, and returned in their order', async () => {
    const store = await open()
    await store.state.set('c', 'old')
    const { revision: before } = await store.state.set('b', 1)
    const written = await store.state.write([{ set: 'a', value: 1 }, { set: 'b', value: 2, expect: before }, { delete: 'c' }])
    expect(written).toEqual([
      { key: 'a', revision: before + 1 },
      { key: 'b', revision: before + 2 },
      { key: 'c', revision: 0 },
    ])
    expect(await all(store.state.list())).toEqual([
      { key: 'a', value: 1, revision: before + 1 },
      { key: 'b', value: 2, revision: before + 2 },
    ])
    const events = await all(store.events({ types: ['state.*'], after: before }))
    expect(events.map(({ type }) => type)).toEqual(['state.set', 'state.set', 'state.deleted'])
    const [, { revision } = { revision: -1 }] = written
    expect(await store.state.write([{ set: 'b', value: 3, expect: revision }, { delete: 'gone' }])).toHaveLength(2)
    expect(await store.state.write([])).toEqual([])
    await expectSound(store)
  })

  test('one wrong revision refuses all of them, and nothing is written', async () => {
    const store = await open()
    const { revision } = await store.state.set('b', 1)
    const large = 'x'.repeat(3000)
    const refused = [
      () =>
        store.state.write([
          { set: 'a', value: large },
          { set: 'b', value: 2, expect: revision + 1 },
        ]),
      () =>
        store.state.write([
          { set: 'a', value: new Uint8Array(2000) },
          { delete: 'b', expect: 0 },
        ]),
      () =>
        store.state.write([
          { set: 'a', value: 1 },
          { delete: 'none', expect: 7 },
        ]),
    ]
    for (const one of refused) expect(await codeOf(one())).toBe('STATE_CHANGED')
    expect((await store.head()).seq).toBe(revision)
    expect(await all(store.state.list())).toMatchObject([{ key: 'b', value: 1 }])
    await expectSound(store)
  })

  test('of writers that expect the same revisions one wins, with all its keys', async () => {
    const store = await open()
    const keys = ['a', 'b', 'c']
    const first = await store.state.write(keys.map((set) => ({ set, value: 0 })))
    const writers = [1, 2, 3, 4].map((value) => store.state.write(first.map(({ key: set, revision: expect }) => ({ set, value, expect }))))
    const unguarded = store.state.write([{ set: 'd', value: 1 }])
    const answers = await Promise.allSettled([...writers, unguarded])
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
    for (const answer of answers) if (answer.status === 'rejected') expect(answer.reason).toMatchObject({ code: 'STATE_CHANGED' })
    const values = (await all(store.state.list())).filter(({ key }) => keys.includes(key)).map(({ value }) => value)
    expect(new Set(values).size).toBe(1)
    await expectSound(store)
  })

  test('a delete that expects no entry holds off a writer that makes one', async () => {
    const store = await open()
    for (let round = 0; round < 10; round++) {
      const [lock, mark] = [`lock/${round}`, `mark/${round}`]
      const [taken, marked] = await Promise.allSettled([
        store.state.set(lock, 'mine', { expect: 0 }),
        store.state.write([
          { delete: lock, expect: 0 },
          { set: mark, value: 'free' },
        ]),
      ])
      expect(taken.status).toBe('fulfilled')
      const seqOf = async (key: string) => (await store.state.get(key))?.revision ?? Infinity
      // The mark was written before the lock was taken, or not at all.
      if (marked.status === 'fulfilled') expect(await seqOf(mark)).toBeLessThan(await seqOf(lock))
      else expect(await store.state.exists(mark)).toBe(false)
    }
    await expectSound(store)
  })

  test('large JSON, bytes, odd JSON and expiry stand beside small ones, and a collection keeps them', async () => {
    const { store, pass } = await openInTime()
    const long = Array.from({ length: 500 }, (_, i) => ({ role: 'user', content: `message ${i}` }))
    const values: Readonly<Record<string, unknown>> = {
      small: { page: 7 },
      long,
      other: [...long, 'one more'],
      odd: ['\ud800', -0],
      order: { b: 1, a: 2 },
      bytes: Uint8Array.from([0, 255, 1]),
    }
    await store.state.write([
      ...Object.entries(values).map(([set, value]) => ({ set, value })),
      { set: 'brief', value: long, ttl: '1h' },
      { set: 'masked', value: { password: 'hunter2hunter2' }, redact: true },
    ])
    for (const [key, value] of Object.entries(values)) expect((await store.state.get(key))?.value, key).toEqual(value)
    expect(JSON.stringify((await store.state.get('masked'))?.value)).not.toContain('hunter2')
    await pass(3_600_000)
    expect(await store.state.exists('brief')).toBe(false)
    expect(await store.state.write([{ set: 'brief', value: 2, expect: 0 }, { delete: 'long' }])).toHaveLength(2)
    await store.collect({ grace: 0 })
    expect((await store.state.get('other'))?.value).toEqual(values.other)
    await expectSound(store)
  })

  test('a session writes its own keys while it is open', async () => {
    const store = await open()
    const session = await store.session('s')
    await store.state.set('a', 'tenant')
    await session.state.write([
      { set: 'a', value: 1 },
      { set: 'b', value: 2 },
    ])
    expect((await store.state.get('a'))?.value).toBe('tenant')
    expect(await all(session.state.list())).toMatchObject([{ value: 1 }, { value: 2 }])
    await session.archive()
    expect(await codeOf(session.state.write([{ set: 'a', value: 3 }]))).toBe('SESSION_ARCHIVED')
    await expectSound(store)
  })

  test('a write that is no list of changes, names a key twice or has too many is refused', async () => {
    const store = await open()
    const many = Array.from({ length: limits.stateChanges + 1 }, (_, i) => ({ set: `k/${i}`, value: i }))
    const wrong: readonly unknown[] = [
      undefined,
      {},
      [undefined],
      [{}],
      [{ set: 'a', delete: 'b', value: 1 }],
      [{ set: 'a', value: 1, mispelt: true }],
      [{ delete: 'a', value: 1 }],
      [{ delete: 'a', ttl: '1h' }],
      [{ set: 'a', value: 1, expect: -1 }],
      [{ set: 'a', value: 1 }, { delete: 'a' }],
      many,
    ]
    for (const changes of wrong) expect(await codeOf(store.state.write(changes as never)), JSON.stringify(changes)).toBe('OPTION_INVALID')
    await expect(store.state.write([{ set: 'a', value: 1 }, { delete: 'a' }])).rejects.toThrow("'a'")
    expect(await codeOf(store.state.write([{ set: '', value: 1 }]))).toBe('KEY_INVALID')
    expect(await codeOf(store.state.write([{ set: 'a', value: () => 1 }]))).toBe('DATA_INVALID')
    expect((await store.head()).seq).toBe(0)
    expect(await store.state.write(many.slice(1))).toHaveLength(limits.stateChanges)
  })
})
