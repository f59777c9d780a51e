// Collections of vectors: documents, exact search, filters, tenants.

import { describe, expect, test } from 'vitest'
import type { SearchHit, VectorDocument } from '../../src/index.ts'
import { codeOf, engines, expectSound, layouts } from '../support/engines.ts'

const lang = (id: string, vector: readonly number[], metadata: Readonly<Record<string, unknown>>): VectorDocument => ({
  id,
  content: `text of ${id}`,
  vector,
  metadata,
})

const LANGUAGES: readonly VectorDocument[] = [
  lang('a', [1, 0, 0], { lang: 'en', n: 1, x: 'a', y: true }),
  lang('b', [0.9, 0.1, 0], { lang: 'en', n: 5, x: 'b', tags: ['red', 'blue'] }),
  lang('c', [0, 1, 0], { lang: 'de', n: 9, z: 1 }),
  lang('d', [0, 0, -1], { lang: 'de-AT', n: 12, y: null }),
]

const ids = (hits: readonly SearchHit[]): string => hits.map(({ id }) => id).join('')

describe.each(engines)('collections of vectors on $name', ({ open }) => {
  test('documents read back as float32 holds them, are replaced by id, and are deleted by id and by filter', async () => {
    const store = await open()
    const docs = store.vectors('docs', { dimensions: 3, metric: 'cosine' })
    expect([await docs.exists(), await docs.count(), await docs.get('a'), await docs.search([1, 0, 0])]).toEqual([false, 0, undefined, []])
    expect(await docs.upsert(LANGUAGES)).toEqual({ count: 4 })
    expect(await docs.get('b')).toEqual({
      id: 'b',
      content: 'text of b',
      vector: [Math.fround(0.9), Math.fround(0.1), 0],
      metadata: { lang: 'en', n: 5, x: 'b', tags: ['red', 'blue'] },
    })
    await docs.upsert({ id: 'b', vector: Float32Array.of(0, -0, 2) })
    expect(await docs.get('b')).toEqual({ id: 'b', vector: [0, -0, 2] })
    const { seq } = await store.head()
    await docs.upsert([{ id: 'b', vector: [0, -0, 2] }])
    expect((await store.head()).seq, 'the same document again').toBe(seq)
    expect([await docs.count(), await docs.count({ filter: { lang: 'en' } })]).toEqual([4, 1])
    expect(await docs.delete({ filter: { lang: 'en' } })).toBe(1)
    expect([await docs.delete(['b', 'none']), await docs.delete('b'), await docs.delete({ ids: ['c'] })]).toEqual([1, 0, 1])
    expect(await docs.info()).toMatchObject({ name: 'docs', dimensions: 3, metric: 'cosine', count: 1 })
    await expectSound(store)
  })

  test('larger scores are nearer for every metric, the raw distance is told, and ties are ordered by id', async () => {
    const store = await open()
    const query = [2, 1, 0]
    const [fl9, fl1] = [Math.fround(0.9), Math.fround(0.1)]
    const expected = {
      cosine: ['bacd', (2 * fl9 + fl1) / (Math.hypot(fl9, fl1) * Math.sqrt(5)), 1 - 2 / Math.sqrt(5)],
      dot: ['abcd', 2, -(2 * fl9 + fl1)],
      euclidean: ['abcd', -Math.SQRT2, Math.hypot(2 - fl9, 1 - fl1)],
    } as const
    for (const metric of ['cosine', 'dot', 'euclidean'] as const) {
      const docs = store.vectors(metric, { dimensions: 3, metric })
      await docs.upsert(LANGUAGES)
      const [order, score, second] = expected[metric]
      const hits = await docs.search(query)
      expect(ids(hits), metric).toBe(order)
      expect(hits[0]?.score).toBeCloseTo(score, 12)
      expect(hits[1]?.distance).toBeCloseTo(second, 12)
      expect(hits.examined).toBe(4)
      expect(ids(await docs.search(query, { minScore: hits[1]?.score as number }))).toBe(order.slice(0, 2))
    }
    const same = store.vectors('same', { dimensions: 1, metric: 'dot' })
    await same.upsert(['z', 'ä', 'b', '\u{1f600}', '\uffff'].map((id) => ({ id, vector: [1] })))
    expect(ids(await same.search([1], { top: 4 }))).toBe('bzä\uffff')
    await expectSound(store)
  })

  test('filters: equality, sets, ranges, existence, prefixes, and, or and not', async () => {
    const store = await open()
    const docs = store.vectors('docs', { dimensions: 3, metric: 'cosine' })
    await docs.upsert(LANGUAGES)
    const found = async (filter: object): Promise<string> => {
      const hits = await docs.search([1, 1, -1], { filter } as never)
      expect(hits.examined, JSON.stringify(filter)).toBe(hits.length)
      expect(await docs.count({ filter } as never)).toBe(hits.length)
      return [...ids(hits)].sort().join('')
    }
    expect(await found({ lang: 'en' })).toBe('ab')
    expect(await found({ lang: { eq: 'en' }, n: { gte: 1, lt: 5 } })).toBe('a')
    expect(await found({ n: { gt: 1, lte: 9 } })).toBe('bc')
    expect(await found({ lang: { gt: 'de', lt: 'en' } })).toBe('d')
    expect(await found({ x: { in: ['a', 'b'] } })).toBe('ab')
    expect(await found({ y: { exists: true } })).toBe('ad')
    expect(await found({ y: { exists: false } })).toBe('bc')
    expect(await found({ y: null })).toBe('d')
    expect(await found({ lang: { prefix: 'de' } })).toBe('cd')
    expect(await found({ tags: 'blue' })).toBe('b')
    expect(await found({ not: { z: 1 } })).toBe('abd')
    expect(await found({ or: [{ x: 'a' }, { n: { gte: 12 } }] })).toBe('ad')
    expect(await found({ and: [{ lang: 'en' }, { not: { x: 'a' } }] })).toBe('b')
    expect(
      await found({ lang: 'en', n: { gte: 1, lt: 9 }, x: { in: ['a'] }, y: { exists: true }, not: { z: 1 }, or: [{ n: 1 }, { n: 2 }] }),
    ).toBe('a')
    expect(await found({})).toBe('abcd')
    expect(await found({ or: [] })).toBe('')
    expect(await found({ constructor: 'x' })).toBe('')
  })

  test('a collection keeps its settings, is listed by name, and is empty when it is dropped and created again', async () => {
    const store = await open()
    const docs = store.vectors('docs', { dimensions: 2, metric: 'dot', fields: ['lang'] })
    await Promise.all([docs.ensure(), docs.ensure(), docs.upsert({ id: 'a', vector: [1, 2], metadata: { lang: 'en', other: 1 } })])
    await store.vectors('archive', { dimensions: 1 }).ensure()
    expect((await store.collections.list()).items).toMatchObject([
      { name: 'archive', dimensions: 1, metric: 'cosine' },
      { name: 'docs', dimensions: 2, metric: 'dot', fields: ['lang'] },
    ])
    expect((await store.vectors('docs').get('a'))?.vector).toEqual([1, 2])
    expect(await codeOf(store.vectors('docs', { dimensions: 3, metric: 'dot' }).count())).toBe('COLLECTION_DIFFERS')
    expect(await codeOf(store.vectors('docs', { dimensions: 2 }).count())).toBe('COLLECTION_DIFFERS')
    expect(await codeOf(store.vectors('none').count())).toBe('COLLECTION_UNKNOWN')
    expect(await store.vectors('none').exists()).toBe(false)
    expect(await codeOf(docs.search([1, 1], { filter: { other: 1 } }))).toBe('FILTER_INVALID')
    expect((await docs.search([1, 1], { filter: { lang: 'en' } })).length).toBe(1)
    expect([await store.collections.drop('docs'), await store.collections.drop('docs')]).toEqual([true, false])
    await store.vectors('docs', { dimensions: 1 }).upsert({ id: 'b', vector: [1] })
    expect((await store.vectors('docs').info()).count).toBe(1)
    expect((await store.maintain()).collectionsCleared).toBe(0)
    await expectSound(store)
  })

  test('secrets in text and metadata are masked unless the caller wants them whole, and an erased document is gone', async () => {
    const store = await open()
    const docs = store.vectors('docs', { dimensions: 1 })
    await docs.upsert({ id: 'a', vector: [1], content: 'password: hunter2-hunter2', metadata: { password: 'hunter2-hunter2' } })
    expect(JSON.stringify(await docs.get('a'))).not.toContain('hunter2')
    const { seq } = await store.head()
    await docs.upsert({ id: 'b', vector: [1], metadata: { password: 'hunter2-hunter2' } }, { redact: false })
    expect((await docs.get('b'))?.metadata).toEqual({ password: 'hunter2-hunter2' })
    await store.erase({ seq, reason: 'r' })
    expect([await docs.get('a'), ids(await docs.search([1])), await docs.count()]).toEqual([undefined, 'b', 1])
    await docs.upsert({ id: 'a', vector: [2] })
    expect((await docs.get('a'))?.vector).toEqual([2])
    await expectSound(store)
  })

  test('bad input is a typed error, and nothing is written', async () => {
    const store = await open()
    const docs = store.vectors('docs', { dimensions: 2 })
    await docs.upsert({ id: 'a', vector: [1, 1] })
    const { seq } = await store.head()
    const upsert = (document: unknown) => codeOf(docs.upsert([{ id: 'ok', vector: [1, 1] }, document] as never))
    for (const vector of [[1], [1, 2, 3], [1, Number.NaN], [1, Number.POSITIVE_INFINITY], [1, 1e39], [1, '2'], [0, 0], 'text', null])
      expect(await upsert({ id: 'b', vector }), JSON.stringify(vector)).toBe('VECTOR_INVALID')
    expect(await upsert({ id: 'b' })).toBe('VECTOR_INVALID')
    expect(await upsert({ id: '', vector: [1, 1] })).toBe('KEY_INVALID')
    expect(await upsert({ id: 'b', vector: [1, 1], content: 7 })).toBe('OPTION_INVALID')
    expect(await upsert({ id: 'b', vector: [1, 1], metadata: { n: Number.NaN } })).toBe('DATA_INVALID')
    expect(await upsert({ id: 'b', vector: [1, 1], metadata: { n: 'x'.repeat(20_000) } })).toBe('DATA_TOO_LARGE')
    expect(await upsert({ id: 'b', vector: [1, 1], content: 'x'.repeat(300_000) })).toBe('DATA_TOO_LARGE')
    // Text and vector fit into an event, but not together: the whole call is refused, not only its last commit.
    const large = store.vectors('large', { dimensions: 4096 })
    const vector = Array.from({ length: 4096 }, (_, i) => i + 1)
    const documents = Array.from({ length: 65 }, (_, i) => ({ id: `${i}`, vector }))
    expect(await codeOf(large.upsert([...documents, { id: 'b', vector, content: 'x'.repeat(250_000) }]))).toBe('DATA_TOO_LARGE')
    expect(await upsert({ id: 'b', vector: [1, 1], embedding: [1, 1] })).toBe('OPTION_INVALID')
    expect(await codeOf(docs.search([1]))).toBe('VECTOR_INVALID')
    expect(await codeOf(docs.search([0, 0]))).toBe('VECTOR_INVALID')
    for (const top of [0, 1.5, 1001, '3']) expect(await codeOf(docs.search([1, 1], { top } as never))).toBe('OPTION_INVALID')
    for (const filter of [
      null,
      [],
      'x',
      { n: { like: 1 } },
      { n: {} },
      { n: [1] },
      { or: {} },
      { n: { in: 1 } },
      { n: { gt: true } },
      { not: 1 },
    ])
      expect(await codeOf(docs.search([1, 1], { filter } as never)), JSON.stringify(filter)).toBe('FILTER_INVALID')
    for (const which of [{}, undefined, { ids: ['a'], filter: {} }, { ids: 'a' }])
      expect(await codeOf(docs.delete(which as never)), JSON.stringify(which)).toBe('OPTION_INVALID')
    const opening = async (options: object) => store.vectors('x', options as never)
    expect(await codeOf(opening({ dimensions: 0 }))).toBe('OPTION_INVALID')
    expect(await codeOf(opening({ dimensions: 2, metric: 'manhattan' }))).toBe('OPTION_INVALID')
    expect((await store.head()).seq).toBe(seq)
  })
})

describe.each(layouts)('collections of several tenants on $name', ({ open }) => {
  test('a tenant sees its own collections and documents alone', async () => {
    const store = await open()
    const other = store.tenant('other')
    await store.vectors('docs', { dimensions: 1 }).upsert({ id: 'a', vector: [1] })
    expect([await other.vectors('docs').exists(), (await other.collections.list()).items]).toEqual([false, []])
    await other.vectors('docs', { dimensions: 2 }).upsert({ id: 'a', vector: [1, 2] })
    expect((await store.vectors('docs').get('a'))?.vector).toEqual([1])
    expect(await other.collections.drop('docs')).toBe(true)
    expect(ids(await store.vectors('docs').search([1]))).toBe('a')
    await expectSound(store)
  })
})
