// The index in memory answers like a scan of the store: after every write, of any node, with any filter, in worker threads or without memory.

import { describe, expect, test } from 'vitest'
import { memoryBackend } from '../../src/backends/memory/backend.ts'
import { nodeEnvironment } from '../../src/environment.ts'
import type { MetadataFilter, Metric, Store, VectorDocument } from '../../src/index.ts'
import { createStore } from '../../src/kernel/store.ts'
import { scorer } from '../../src/vectors/math/score.ts'
import { vectorThread } from '../../src/vectors/threads/vector-thread.ts'
import { vectorThreads } from '../../src/vectors/threads/vector-threads.ts'
import { engines, expectSound, later, lentDatabase, openIn, tempFile } from '../support/engines.ts'
import { QUICK, seeds } from '../support/rounds.ts'

function chance(seed: number): (below: number) => number {
  let state = seed | 1
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0
    return Math.floor(((state >>> 8) / 2 ** 24) * below)
  }
}

type Model = Map<string, { readonly vector: Float32Array; readonly metadata: Readonly<Record<string, unknown>> }>

const FILTERS: readonly (readonly [MetadataFilter | undefined, (metadata: Readonly<Record<string, unknown>>) => boolean])[] = [
  [undefined, () => true],
  [{ n: { gte: 2, lt: 5 } }, ({ n }) => (n as number) >= 2 && (n as number) < 5],
  [{ or: [{ kind: 'a' }, { n: 0 }] }, ({ kind, n }) => kind === 'a' || n === 0],
  [{ not: { kind: { in: ['a', 'b'] } } }, ({ kind }) => kind !== 'a' && kind !== 'b'],
  [{ kind: { prefix: 'c' }, only: { exists: true } }, ({ kind, only }) => kind === 'c' && only !== undefined],
]

/** Compares a search with brute force over the model. */
async function compare(store: Store, model: Model, metric: Metric, next: (below: number) => number, note: string): Promise<void> {
  const query = Float32Array.from({ length: 5 }, () => next(7) - 3 || 1)
  const [filter, holds] = FILTERS[next(FILTERS.length)] as (typeof FILTERS)[number]
  const top = 1 + next(6)
  const score = scorer(metric, query)
  const matching = [...model].filter(([, { metadata }]) => holds(metadata))
  const expected = matching
    .map(([id, { vector }]) => ({ id, ...score(vector) }))
    .sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))
    .slice(0, top)
  const hits = await store.vectors('docs', { dimensions: 5, metric }).search(query, { top, ...(filter && { filter }) })
  expect(
    hits.map(({ id, score: found, distance }) => ({ id, score: found, distance })),
    note,
  ).toEqual(expected)
  expect(hits.examined, note).toBe(matching.length)
}

async function walk(seed: number, writer: Store, readers: readonly Store[], steps: number): Promise<void> {
  const next = chance(seed)
  const metric = (['cosine', 'dot', 'euclidean'] as const)[seed % 3] as Metric
  const model: Model = new Map()
  const docs = writer.vectors('docs', { dimensions: 5, metric })
  await docs.ensure()
  for (let step = 0; step < steps; step++) {
    const what = next(10)
    if (what < 6) {
      const documents = Array.from({ length: 1 + next(8) }, () => {
        const metadata = { n: next(6), kind: 'abc'[next(3)], ...(next(2) === 0 && { only: true }) }
        const vector = Float32Array.from({ length: 5 }, () => next(5) - 2 || 1)
        return { id: `d${next(30)}`, vector, metadata } satisfies VectorDocument
      })
      await docs.upsert(documents)
      for (const { id, ...rest } of documents) model.set(id, rest)
    } else if (what < 8) {
      const ids = [`d${next(30)}`, `d${next(30)}`]
      await docs.delete(ids)
      for (const id of ids) model.delete(id)
    } else if (what === 8 && model.size > 0) {
      // Erasing the payload of the last event of a document removes it.
      const { seq } = await writer.head()
      for await (const event of writer.events({ types: ['vector.put'], backwards: true, limit: 1 })) {
        const { key } = (event.data ?? {}) as { readonly key?: string }
        await writer.erase({ seq: event.seq, reason: 'test' })
        const stored = key !== undefined && (await docs.get(key))
        if (key !== undefined && !stored) model.delete(key)
      }
      expect((await writer.head()).seq).toBeGreaterThanOrEqual(seq)
    } else {
      await docs.delete({ filter: { n: 5 } })
      for (const [id, { metadata }] of model) if (metadata.n === 5) model.delete(id)
    }
    for (const [r, reader] of readers.entries()) await compare(reader, model, metric, next, `seed ${seed}, step ${step}, reader ${r}`)
  }
}

describe.each(engines)('the index of a collection on $name', ({ open }) => {
  test.each(seeds(3, 100))('search equals brute force over random writes and random filters, seed %i', async (seed) => {
    const store = await open()
    await walk(seed, store, [store], 12)
    await expectSound(store)
  })

  test('a collection that does not fit into memory is read in pieces, with the same results, and says so', async () => {
    const store = await open({ vectorMemory: 64 * 20 })
    await walk(3, store, [store], 12)
    const docs = store.vectors('docs')
    await docs.upsert(Array.from({ length: 30 }, (_, i) => ({ id: `more${i}`, vector: [1, 1, 1, 1, i + 1] })))
    expect((await docs.search([1, 1, 1, 1, 1], { top: 1 }))[0]?.id).toBe('more0')
    expect((await docs.info()).search).toBe('pieces')
    await docs.delete({ filter: {} })
    await docs.search([1, 1, 1, 1, 1])
    expect(await docs.info()).toMatchObject({ search: 'memory', count: 0 })
  })

  test('the least recently used collection makes room for another one', async () => {
    const store = await open({ vectorMemory: 64 * 15 })
    const [a, b] = ['a', 'b'].map((name) => store.vectors(name, { dimensions: 2, metric: 'dot' }))
    for (const docs of [a, b]) await docs?.upsert(Array.from({ length: 10 }, (_, i) => ({ id: `${i}`, vector: [i, 1] })))
    for (const docs of [a, b, a, b]) {
      expect((await docs?.search([1, 0], { top: 1 }))?.[0]?.id).toBe('9')
      expect((await docs?.info())?.search).toBe('memory')
    }
  })
})

test.each(engines)('searches that are under way when the store closes end on $name', async ({ open }) => {
  const warnings: string[] = []
  const store = await open({ logger: { info: () => {}, warn: (message) => warnings.push(message), error: () => {} } })
  const docs = store.vectors('docs', { dimensions: 1000 })
  const vector = (i: number) => Float32Array.from({ length: 1000 }, (_, j) => Math.sin(i * j + 1))
  await docs.upsert(Array.from({ length: 300 }, (_, i) => ({ id: `${i}`, vector: vector(i) })))
  await docs.search(vector(1))
  const asked = Promise.allSettled(Array.from({ length: 10 }, () => docs.search(vector(1), { top: 1 })))
  await store.close()
  for (const one of await asked) {
    if (one.status === 'fulfilled') expect(one.value[0]?.id).toBe('1')
    else expect(one.reason).toMatchObject({ code: 'STORE_CLOSED' })
  }
  expect(warnings.filter((message) => message.includes('vectors'))).toEqual([])
})

test.skipIf(QUICK).each(['sqlite', 'postgres'])('a search sees what another handle has written, on %s', async (engine) => {
  const url = engine === 'sqlite' ? tempFile() : await lentDatabase()
  const [writer, reader] = [await openIn(url), await openIn(url)]
  await walk(5, writer, [reader, writer], 8)
})

const CORNERS = () => ({
  slots: Uint32Array.of(0, 1),
  codes: Int8Array.of(127, 0, 0, 127),
  scales: Float64Array.of(1 / 127, 0, 1, 1, 1 / 127, 0, 1, 1),
})
const TO_FIRST = { vector: Float32Array.of(1, 0), metric: 'cosine', top: 1 } as const

test('a shard in its thread answers, is lost with the thread, and the next one starts another', async () => {
  const thread = vectorThread()
  later(() => thread.close())
  const shard = thread.create(2)
  shard.put(CORNERS())
  expect(Array.from((await shard.survivors(TO_FIRST)).slots)).toEqual([0])
  shard.remove(Uint32Array.of(0))
  expect(Array.from((await shard.survivors(TO_FIRST)).slots)).toEqual([1])
  // Closed while it is asked, as by a search that is under way when the store closes.
  const asked = Promise.allSettled([shard.survivors(TO_FIRST)])
  shard.close()
  await thread.close()
  expect((await asked)[0].status).toBe('rejected')
  await expect(shard.survivors(TO_FIRST)).rejects.toThrow('lost')
  const other = thread.create(2)
  other.put(CORNERS())
  expect((await other.survivors({ ...TO_FIRST, passing: Uint8Array.of(0, 1) })).slots).toEqual(Uint32Array.of(1))
})

test('a shard that its thread cannot hold is lost alone', async () => {
  const thread = vectorThread()
  later(() => thread.close())
  const [small, large] = [thread.create(2), thread.create(2)]
  small.put(CORNERS())
  large.put({ ...CORNERS(), slots: Uint32Array.of(0, 2 ** 32 - 1) })
  await expect(large.survivors(TO_FIRST)).rejects.toThrow()
  await expect(large.survivors(TO_FIRST)).rejects.toThrow('lost')
  expect(Array.from((await small.survivors(TO_FIRST)).slots)).toEqual([0])
})

test('a large collection is searched in all threads, equal to brute force, and read from the store when one is lost', async () => {
  const used = [0, 0]
  const threads = used.map((_, i) => {
    const thread = vectorThread()
    return {
      ...thread,
      create: (dimensions: number) => {
        used[i] = (used[i] as number) + 1
        return thread.create(dimensions)
      },
    }
  })
  const warnings: string[] = []
  const logger = { ...nodeEnvironment.logger, warn: (message: string) => void (message.includes('vectors') && warnings.push(message)) }
  const environment = { ...nodeEnvironment, matrices: vectorThreads(threads), logger }
  const store = await createStore(memoryBackend(environment), environment, {})
  later(() => store.close())
  const docs = store.vectors('docs', { dimensions: 2048, metric: 'cosine' })
  const next = chance(9)
  const random = () => Float32Array.from({ length: 2048 }, () => next(1000) - 500)
  // A block has 1,009 rows, so the second thread gets the last 91 documents.
  const documents = Array.from({ length: 1100 }, (_, i) => ({ id: `d${i}`, vector: random(), metadata: { n: i % 3 } }))
  const compareAll = async () => {
    for (const filter of [undefined, { n: 1 }]) {
      const query = random()
      const score = scorer('cosine', query)
      const expected = documents
        .filter(({ metadata }) => !filter || metadata.n === filter.n)
        .map(({ id, vector }) => ({ id, score: score(vector).score }))
        .sort((a, b) => b.score - a.score)
        .slice(0, 5)
      const hits = await docs.search(query, { top: 5, ...(filter && { filter }) })
      expect(hits.map(({ id, score: found }) => ({ id, score: found }))).toEqual(expected)
    }
  }
  await docs.upsert(documents.slice(0, 400))
  await docs.search(random())
  expect(used).toEqual([1, 0])
  await docs.upsert(documents.slice(400))
  await compareAll()
  expect(used).toEqual([1, 1])
  expect(warnings).toEqual([])
  await threads[1]?.close()
  await compareAll()
  expect(warnings).toEqual(['a collection of vectors is read from the store, because its index failed'])
  expect(used).toEqual([2, 2])
})
