// Long-term memory, core memory and vector collections, in lines as a program writes them.

import { describe, expect, test } from 'vitest'
import { codeOf, engines, expectSound } from '../support/engines.ts'

/** A vector of 384 numbers that begins with these. */
const vectorOf = (...numbers: readonly number[]) => [...numbers, ...Array(384 - numbers.length).fill(0)]

describe.each(engines)('on $name', ({ open }) => {
  test('an item about a user is recalled, hidden and purged', async () => {
    const store = await open()
    const item = await store.memory.remember('Ada prefers metric units', { about: 'user/ada', tags: ['preference'], ttl: '90d' })
    await store.memory.remember('Bob prefers imperial units', { about: 'user/bob', ttl: 86_400_000 })
    const hits = await store.memory.recall('which units?', { about: 'user/ada', limit: 5 })
    expect(hits.map((hit) => hit.item.text)).toEqual(['Ada prefers metric units'])
    for (const { item: found, score, why } of hits.items) {
      expect(found.id).toBe(item.id)
      expect(score).toBeGreaterThan(0)
      expect(why.legs.length).toBeGreaterThan(0)
    }
    expect(await store.memory.recall('which units?', { about: 'user/nobody' })).toHaveLength(0)
    const { items } = await store.memory.list({ tags: ['preference'] })
    expect(items.map(({ text }) => text)).toEqual(['Ada prefers metric units'])
    expect((await store.memory.list({ tags: ['nothing'] })).items).toEqual([])

    expect(await store.memory.forget({ about: 'user/ada' })).toEqual({ forgotten: 1 })
    expect(await store.memory.recall('which units?', { about: 'user/ada' })).toHaveLength(0)
    expect(await store.memory.purge({ about: 'user/ada' })).toEqual({ purged: 1 })
    expect((await store.memory.list({ about: 'user/ada', forgotten: true })).items).toEqual([])
    for await (const event of store.events()) expect(JSON.stringify(event)).not.toContain('metric')
    expect((await store.memory.list()).items).toHaveLength(1)
    await expectSound(store)
  })

  test('core memory has blocks of text', async () => {
    const store = await open()
    const session = await store.session('chat')
    await session.core.set('human', 'Ada, engineer')
    await session.core.append('scratchpad', 'look into the bill')
    expect(await session.core.get()).toMatchObject({ human: 'Ada, engineer', scratchpad: 'look into the bill' })
    expect(await codeOf(session.core.set('human', 'x'.repeat(2001)))).toBe('CORE_TOO_LONG')
    await expectSound(store)
  })

  test('documents are upserted, searched with filters, counted and deleted', async () => {
    const store = await open()
    const docs = store.vectors('docs', { dimensions: 384, metric: 'cosine' })
    expect(await docs.search(vectorOf(1), { top: 10 })).toHaveLength(0)
    const metadata = { lang: 'en', n: 1, x: 'a', y: 1, z: 0 }
    await docs.upsert([{ id: 'one', content: 'first', vector: vectorOf(1), metadata }])
    await docs.upsert([
      { id: 'two', content: 'second', vector: vectorOf(0, 1), metadata: { lang: 'de', n: 9 } },
      { id: 'three', vector: Float32Array.from(vectorOf(1, 1)) },
    ])
    const vector = vectorOf(1, 0.1)
    const filter = {
      lang: 'en',
      n: { gte: 1, lt: 9 },
      x: { in: ['a'] },
      y: { exists: true },
      not: { z: 1 },
      or: [{ lang: 'en' }, { lang: 'fr' }],
    }
    const hits = await docs.search(vector, { top: 10, filter })
    expect(hits.map(({ id, content }) => ({ id, content }))).toEqual([{ id: 'one', content: 'first' }])
    expect(hits.items[0]?.metadata).toEqual(metadata)
    expect((await docs.search(vector)).map(({ id }) => id)).toEqual(['one', 'three', 'two'])
    expect(await docs.search(vector, { filter: { ...filter, or: [{ lang: 'fr' }, { n: { gt: 5 } }] } })).toHaveLength(0)
    expect(await docs.search(vector, { filter: { y: { exists: false } } })).toHaveLength(2)
    expect(await docs.count()).toBe(3)
    expect(await docs.info()).toMatchObject({ name: 'docs', dimensions: 384, metric: 'cosine', count: 3 })
    expect(await docs.delete({ filter: { lang: 'en' } })).toBe(1)
    expect(await docs.delete({ filter: { lang: 'en' } })).toBe(0)
    expect(await docs.count()).toBe(2)
    await expectSound(store)
  })

  test('a store is opened with an embedder of its own', async () => {
    const embed = async (texts: readonly string[]) => texts.map((text) => vectorOf(text.includes('cat') ? 1 : 0, 1))
    const withModel = await open({ embedder: { id: 'm', dimensions: 384, version: '1', embed } })
    const docs = withModel.vectors('docs', { dimensions: 384, metric: 'cosine' })
    await docs.upsert([
      { id: 'cat', content: 'a cat' },
      { id: 'dog', content: 'a dog' },
    ])
    expect((await docs.search('cats', { top: 1 })).map(({ id }) => id)).toEqual(['cat'])
    await withModel.memory.remember('the cat sleeps', { about: 'user/ada' })
    const hits = await withModel.memory.recall('cat', { about: 'user/ada' })
    expect(hits[0]?.item.text).toBe('the cat sleeps')
    await expectSound(withModel)
    const hashed = await open({ embedder: 'hash' })
    expect((await hashed.memory.recall('nothing')).length).toBe(0)
  })
})
