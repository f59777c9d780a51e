// Exact search for the nearest vectors, beside sqlite-vec: with and without a filter, while writing, and the memory it takes.

import { createRequire } from 'node:module'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { open, type Store, type VectorCollection } from '../../src/index.ts'
import { interleave } from '../lib/rounds.ts'
import { percentile, ratios, spread } from '../lib/stats.ts'
import { number } from '../lib/table.ts'
import { atLeast, type Findings, type Measure, type Settings, type Workload } from '../lib/workload.ts'

const TOP = 10
const KINDS = 10
const QUERIES = 20
const BATCH = 1000

export const vectorWorkload = (dimensions: number): Workload => ({
  name: `vectors-${dimensions}`,
  title: `the ${TOP} nearest of many vectors with ${dimensions} numbers, cosine, SQLite`,
  needsPeers: true,
  run: async (settings): Promise<Findings> => {
    const sizes = settings.quick ? [2_000] : dimensions === 768 ? [100_000] : [10_000, 100_000]
    const measures: Measure[] = []
    const notes: string[] = []
    for (const count of sizes) {
      const found = await measureSize(settings, dimensions, count)
      measures.push(...found.measures)
      notes.push(...found.notes)
    }
    return { measures, notes: [...notes, ...NOTES] }
  },
})

const NOTES = [
  'vectors have unit length and no clusters; each query is new; every answer of ours was compared with brute force in float64 in the first round',
  'sqlite-vec: a vec0 table in memory, distance_metric=cosine, through node:sqlite; its filter is a metadata column',
  'ours: open(path), the index in memory, rows of candidates read from the file; a filter keeps one document in ten',
]

async function measureSize({ folder, rounds, say }: Settings, dimensions: number, count: number): Promise<Findings> {
  const next = chance(dimensions + count)
  const vectors = Array.from({ length: count }, () => unit(dimensions, next))
  await using store = await open(join(folder, `${count}.db`))
  const docs = store.vectors('docs', { dimensions, metric: 'cosine' })
  const ingest = await fill(docs, vectors, say)
  const before = process.memoryUsage.rss()
  const start = performance.now()
  await docs.search(unit(dimensions, next))
  const [loadMs, resident] = [performance.now() - start, process.memoryUsage.rss() - before]
  await compareWithBruteForce(docs, vectors, unit(dimensions, next))
  const appends = await appendsDuringSearches(store, docs, () => unit(dimensions, next))
  const peer = sqliteVec(dimensions, vectors)
  const queries = Array.from({ length: QUERIES }, () => unit(dimensions, next))
  const found = await interleave(rounds, {
    ours: () => medianOf(queries, async (query) => void (await docs.search(query, { top: TOP }))),
    peer: () => medianOf(queries, async (query) => void peer.search(query)),
    filtered: () => medianOf(queries, async (query) => void (await docs.search(query, { top: TOP, filter: { kind: 3 } }))),
    peerFiltered: () => medianOf(queries, async (query) => void peer.search(query, 3)),
  })
  peer.close()
  const times = ratios(found.peer, found.ours)
  const goal = count === 100_000 && dimensions === 384 ? { goal: atLeast(10, times) } : {}
  const name = `${number(count)} vectors`
  const pair = (own: readonly number[], other: readonly number[]) => ({
    unit: 'ms',
    ours: spread(own),
    peer: spread(other),
    peerName: 'sqlite-vec',
    ratio: ratios(other, own),
  })
  return {
    measures: [
      { what: `${name}, search (ratio: times faster)`, ...pair(found.ours, found.peer), ...goal },
      { what: `${name}, filtered`, ...pair(found.filtered, found.peerFiltered) },
      { what: `${name}, upsert`, unit: 'documents/s', ours: spread([ingest]) },
      { what: `${name}, first search, which loads the index`, unit: 'ms', ours: spread([loadMs]) },
      { what: `${name}, resident memory of the index`, unit: 'MiB', ours: spread([resident / 2 ** 20]) },
      { what: `${name}, append during searches, p99`, unit: 'ms', ours: spread([appends]) },
    ],
    notes: [`sqlite-vec ${peer.version}`],
  }
}

async function fill(docs: VectorCollection, vectors: readonly Float32Array[], say: (line: string) => void): Promise<number> {
  const start = performance.now()
  for (let at = 0; at < vectors.length; at += BATCH) {
    await docs.upsert(
      vectors.slice(at, at + BATCH).map((vector, i) => ({ id: `d${at + i}`, vector, metadata: { kind: (at + i) % KINDS } })),
    )
    if (at > 0 && at % 20_000 === 0) say(`${number(at)} documents are in`)
  }
  return (vectors.length * 1000) / (performance.now() - start)
}

async function compareWithBruteForce(docs: VectorCollection, vectors: readonly Float32Array[], query: Float32Array): Promise<void> {
  const dot = (a: Float32Array, b: Float32Array): number => a.reduce((sum, value, i) => sum + value * (b[i] as number), 0)
  const length = Math.sqrt(dot(query, query))
  const expected = vectors
    .map((vector, i) => ({ id: `d${i}`, score: dot(vector, query) / (Math.sqrt(dot(vector, vector)) * length) }))
    .sort((a, b) => b.score - a.score)
    .slice(0, TOP)
  const hits = (await docs.search(query, { top: TOP })).map(({ id, score }) => ({ id, score }))
  if (JSON.stringify(hits) !== JSON.stringify(expected)) throw new Error('the search differs from brute force')
}

/** The p99 of appends while searches run one after the other. */
async function appendsDuringSearches(store: Store, docs: VectorCollection, query: () => Float32Array): Promise<number> {
  const session = await store.session('during searches')
  let over = false
  const searching = (async () => {
    while (!over) await docs.search(query(), { top: TOP })
  })()
  const took: number[] = []
  for (let i = 0; i < 200; i++) {
    const start = performance.now()
    await session.append('note.made', { i })
    took.push(performance.now() - start)
  }
  over = true
  await searching
  return percentile(took, 0.99)
}

async function medianOf(queries: readonly Float32Array[], one: (query: Float32Array) => Promise<void>): Promise<number> {
  const took: number[] = []
  for (const query of queries) {
    const start = performance.now()
    await one(query)
    took.push(performance.now() - start)
  }
  return percentile(took, 0.5)
}

function sqliteVec(dimensions: number, vectors: readonly Float32Array[]) {
  const { getLoadablePath } = createRequire(import.meta.url)('sqlite-vec') as { getLoadablePath(): string }
  const db = new DatabaseSync(':memory:', { allowExtension: true })
  db.loadExtension(getLoadablePath())
  db.exec(`create virtual table v using vec0(vector float[${dimensions}] distance_metric=cosine, kind integer)`)
  const insert = db.prepare('insert into v(rowid, vector, kind) values (?, ?, ?)')
  db.exec('begin')
  for (const [i, vector] of vectors.entries()) insert.run(BigInt(i + 1), bytesOf(vector), BigInt(i % KINDS))
  db.exec('commit')
  const all = db.prepare('select rowid, distance from v where vector match ? and k = ? order by distance')
  const some = db.prepare('select rowid, distance from v where vector match ? and k = ? and kind = ? order by distance')
  return {
    version: (db.prepare('select vec_version() as version').get() as { version: string }).version,
    search: (query: Float32Array, kind?: number) =>
      kind === undefined ? all.all(bytesOf(query), BigInt(TOP)) : some.all(bytesOf(query), BigInt(TOP), BigInt(kind)),
    close: () => db.close(),
  }
}

const bytesOf = (vector: Float32Array): Uint8Array => new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength)

/** Repeatable numbers from 0 to 1. */
function chance(seed: number): () => number {
  let state = seed | 1
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0
    return ((state ^ (state >>> 13)) >>> 0) / 2 ** 32
  }
}

/** A random direction. The sum of uniform numbers is close enough to a normal one. */
function unit(dimensions: number, next: () => number): Float32Array {
  const vector = Float32Array.from({ length: dimensions }, () => next() + next() + next() + next() - 2)
  const length = Math.hypot(...vector)
  return vector.map((value) => value / length)
}
