// Recall by words, and by words and vectors together, on both engines: within one scope, without a filter, with one, and while writing.

import { join } from 'node:path'
import { open, type Store } from '../../src/index.ts'
import { type ChatText, chatQuestion, chatText } from '../../test/memory/chat-texts.ts'
import { interleave } from '../lib/rounds.ts'
import { percentile, ratios, spread } from '../lib/stats.ts'
import { number } from '../lib/table.ts'
import { atMost, type Findings, type Measure, type Settings, type Workload } from '../lib/workload.ts'
import { startBenchServer } from '../postgres/server.ts'
import { fts5 } from './fts5.ts'

const SCOPES = 1000
const QUESTIONS = 300
const AT_ONCE = 1000
const DIMENSIONS = 64
/** The write budget of the store. */
const BUDGET_MS = 25

type Engine = 'SQLite' | 'PostgreSQL'

export const wordsWorkload = (engine: Engine): Workload => ({
  name: `words-${engine.toLowerCase()}`,
  title: `recall of memory items by their words, ${engine}`,
  run: async (settings): Promise<Findings> => {
    const sizes = settings.quick ? [2_000] : [10_000, 100_000]
    const measures: Measure[] = []
    await using server = engine === 'PostgreSQL' ? await startBenchServer() : undefined
    for (const count of sizes) {
      const url = server ? await server.database() : join(settings.folder, `${count}.db`)
      measures.push(...(await measureSize(settings, engine, url, count)))
    }
    return { measures, notes: [...NOTES, ...(server ? [server.settings] : [])] }
  },
})

const NOTES = [
  `texts of 18 words with the frequencies of a chat, in ${number(SCOPES)} scopes and sessions; ${QUESTIONS} questions of one to six words a round, the p95 of each round`,
  'FTS5: porter stemming and bm25() in a WAL file, written in one transaction; its statistics are of the whole table, not of a tenant',
  `fused: a second store with an embedder of ${DIMENSIONS} numbers that answers at once, so that only our own work is measured`,
]

async function measureSize(settings: Settings, engine: Engine, url: string, count: number): Promise<readonly Measure[]> {
  await using store = await open({ url, memory: { every: '1h' } })
  const before = process.memoryUsage.rss()
  const { perSecond, appendP99 } = await ingest(store, count, settings.say)
  const recall = async (i: number, options: object) => void (await store.memory.recall(chatQuestion(i), options))
  const peer = engine === 'SQLite' ? fts5(join(settings.folder, `fts5-${count}.db`), textsUpTo(count)) : undefined
  const contestants = {
    scope: (i: number) => recall(i, { about: `user/u${i % SCOPES}` }),
    all: (i: number) => recall(i, {}),
    kind: (i: number) => recall(i, { kind: 'fact' }),
    ...(peer && {
      peerScope: async (i: number) => peer.search(chatQuestion(i), `user/u${i % SCOPES}`),
      peerAll: async (i: number) => peer.search(chatQuestion(i)),
    }),
  }
  const found = await interleave(
    settings.rounds,
    Object.fromEntries(Object.entries(contestants).map(([name, ask]) => [name, () => p95(ask)])) as Record<
      'scope' | 'all' | 'kind' | 'peerScope' | 'peerAll',
      () => Promise<number>
    >,
  )
  peer?.close()
  const resident = process.memoryUsage.rss() - before
  const pair = (own: readonly number[], other: readonly number[] | undefined) => ({
    unit: 'ms',
    ours: spread(own),
    ...(peer && other && { peer: spread(other), peerName: 'FTS5', ratio: ratios(other, own) }),
  })
  const isJudged = count === 100_000
  const name = `${number(count)} items`
  const [scope, all] = [pair(found.scope, found.peerScope), pair(found.all, found.peerAll)]
  return [
    { what: `${name}, p95 in one scope`, ...scope, ...(isJudged && { goal: atMost(20, scope.ours, 'ms') }) },
    { what: `${name}, p95 without a filter`, ...all, ...(isJudged && { goal: atMost(60, all.ours, 'ms') }) },
    { what: `${name}, p95 of one kind in five`, ...pair(found.kind, undefined) },
    { what: `${name}, remembered during searches`, unit: 'items/s', ours: spread([perSecond]) },
    {
      what: `${name}, append meanwhile, p99`,
      unit: 'ms',
      ours: spread([appendP99]),
      ...(isJudged && { goal: atMost(BUDGET_MS, spread([appendP99]), 'ms') }),
    },
    { what: `${name}, resident memory, all of it`, unit: 'MiB', ours: spread([resident / 2 ** 20]) },
    ...(await measureFused(settings, url, name)),
  ]
}

/** The texts of a scope are one session, so each has neighbours that count in its score. */
const inSession = (number: number) => ({ ...chatText(number, SCOPES), source: { session: `s${number % SCOPES}` } })

/** Remembers all texts while one program searches and another appends. */
async function ingest(store: Store, count: number, say: (line: string) => void): Promise<{ perSecond: number; appendP99: number }> {
  const session = await store.session('during ingest')
  let over = false
  const searching = (async () => {
    for (let i = 0; !over; i++) await store.memory.recall(chatQuestion(i), { about: `user/u${i % SCOPES}` })
  })()
  const took: number[] = []
  const appending = (async () => {
    for (let i = 0; !over; i++) {
      const start = performance.now()
      await session.append('note.made', { i })
      took.push(performance.now() - start)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  })()
  const start = performance.now()
  for (let at = 0; at < count; at += AT_ONCE) {
    await store.memory.rememberAll(Array.from({ length: Math.min(AT_ONCE, count - at) }, (_, i) => inSession(at + i)))
    if (at > 0 && at % 20_000 === 0) say(`${number(at)} items are in`)
  }
  const perSecond = (count * 1000) / (performance.now() - start)
  over = true
  await Promise.all([searching, appending])
  return { perSecond, appendP99: percentile(took, 0.99) }
}

async function measureFused(settings: Settings, url: string, name: string): Promise<readonly Measure[]> {
  const embed = async (texts: readonly string[]) => texts.map(directionOf)
  await using store = await open({ url, memory: { every: '1h' }, embedder: { id: 'bench', version: '1', dimensions: DIMENSIONS, embed } })
  const start = performance.now()
  const { embedded } = await store.memory.backfill()
  const perSecond = (embedded * 1000) / (performance.now() - start)
  const found = await interleave(settings.rounds, {
    scope: () => p95(async (i) => void (await store.memory.recall(chatQuestion(i), { about: `user/u${i % SCOPES}` }))),
    all: () => p95(async (i) => void (await store.memory.recall(chatQuestion(i)))),
  })
  return [
    { what: `${name}, fused, p95 in one scope`, unit: 'ms', ours: spread(found.scope) },
    { what: `${name}, fused, p95 without a filter`, unit: 'ms', ours: spread(found.all) },
    { what: `${name}, backfill`, unit: 'items/s', ours: spread([perSecond]) },
  ]
}

async function p95(one: (i: number) => Promise<void>): Promise<number> {
  const took: number[] = []
  for (let i = 0; i < QUESTIONS; i++) {
    const start = performance.now()
    await one(i)
    took.push(performance.now() - start)
  }
  return percentile(took, 0.95)
}

function* textsUpTo(count: number): Generator<ChatText> {
  for (let i = 0; i < count; i++) yield chatText(i, SCOPES)
}

/** A direction for each text, from its characters. It means nothing, and costs nearly nothing. */
function directionOf(text: string): number[] {
  const vector = new Array<number>(DIMENSIONS).fill(0)
  for (let i = 0; i < text.length; i++) {
    const at = (text.charCodeAt(i) * 31 + i) % DIMENSIONS
    vector[at] = (vector[at] as number) + 1
  }
  return vector
}
