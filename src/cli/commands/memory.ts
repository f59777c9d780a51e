// Remembers, searches, lists, forgets and exports items of memory, and evaluates recall.

import { type CoreMemory, type EmbedderOption, type Hit, type MemoryItem, open, type Store } from '../../index.ts'
import { CliError, EXIT, type Exit, usage } from '../exit.ts'
import { one } from '../format.ts'
import { evaluate, half, load, type Scores } from '../memory/evaluate.ts'
import { OWN_SET, readSet } from '../memory/labelled-set.ts'
import { changeStore, findSession, tenantView, type WhoOptions, withStore } from '../store.ts'
import { printTable } from '../table.ts'
import { environment, type Terminal, verdict } from '../terminal.ts'
import { harmless, jsonLine } from '../text.ts'
import { durationWord, given, namedWords, onlyStore } from '../words.ts'

export interface MemoryWords extends WhoOptions {
  readonly about?: string
  readonly tag?: readonly string[]
  readonly kind?: string
  readonly last?: number
  readonly cursor?: string
  readonly limit?: number
  readonly ttl?: string
  readonly reason?: string
  readonly purge?: boolean
  readonly session?: string
  readonly set?: string
  readonly block?: string
  readonly embedder?: string
  readonly model?: string
}

const filterOf = ({ about, tag, kind }: MemoryWords) => given({ about, tags: tag, kind: kind as MemoryItem['kind'] | undefined })

export function addMemory(t: Terminal, words: readonly string[], options: MemoryWords): Promise<Exit> {
  const { url, names } = namedWords(words, { text: '' })
  const { ttl } = options
  return changeStore(url, options, async (store) => {
    const item = await store.memory.remember(names[0] as string, {
      ...filterOf(options),
      ...given({ ttl: ttl === undefined ? undefined : durationWord(ttl) }),
    })
    t.out(t.json ? jsonLine(item) : verdict(t, 'ok', `${item.id} is remembered about ${harmless(item.about)}`))
  })
}

export function searchMemory(t: Terminal, words: readonly string[], options: MemoryWords): Promise<Exit> {
  const { url, names } = namedWords(words, { question: '' })
  return withStore(
    url,
    async (root) => {
      const store = await tenantView(root, options.tenant)
      const hits = await store.memory.recall(names[0] as string, { ...filterOf(options), ...given({ limit: options.limit }) })
      if (t.json) t.out(jsonLine({ hits: [...hits], legs: hits.legs, ...given({ degraded: hits.degraded }) }))
      else if (hits.length === 0) t.note(`No item matches in tenant ${store.tenantId}.`)
      else for (const hit of hits) t.out(breakdown(hit))
      if (!t.json && hits.degraded !== undefined) t.note(hits.degraded)
      return EXIT.fine
    },
    { embedder: embedderOf(options) },
  )
}

/** `hash`, `local`, or the address of a server that speaks the OpenAI protocol. */
function embedderOf({ embedder, model }: MemoryWords): EmbedderOption | undefined {
  if (embedder === undefined) {
    if (model !== undefined) throw usage('--model belongs to --embedder <address>.')
    return undefined
  }
  if (/^https?:/.test(embedder)) {
    if (model === undefined) throw usage('Name the model of the server with --model.')
    return { kind: 'openai', baseUrl: embedder, model, ...given({ key: environment.embedderKey }) }
  }
  if (model !== undefined) throw usage('--model belongs to --embedder <address>.')
  if (embedder === 'hash' || embedder === 'local') return embedder
  throw usage(`--embedder is hash, local, or the address of a server, and not ${harmless(embedder)}.`)
}

/** Embeds the items that have no vector of this embedder yet. */
export async function backfillMemory(t: Terminal, words: readonly string[], options: MemoryWords): Promise<Exit> {
  const embedder = embedderOf(options)
  if (embedder === undefined) throw usage('Name the embedder with --embedder: hash, local, or the address of a server.')
  return withStore(
    onlyStore(words),
    async (root) => {
      const store = await tenantView(options.actor === undefined ? root : root.as(options.actor), options.tenant)
      const report = await store.memory.backfill({ signal: t.signal })
      const { embedded, pending, removed, reason } = report
      if (t.json) t.out(jsonLine(report))
      else {
        t.out(verdict(t, pending === 0 ? 'ok' : 'warn', `${embedded} items are embedded, ${pending} are pending`))
        if (removed > 0) t.note(`${removed} vectors of items that are gone were removed.`)
        if (reason !== undefined) t.note(`The last of the pending items has no vector: ${harmless(reason)}`)
      }
      return EXIT.fine
    },
    { write: true, append: true, embedder },
  )
}

/** The score of a hit, and what it consists of. */
function breakdown({ item, score, why }: Hit): string {
  const legs = why.legs.map(
    ({ leg, rank, calibrated, weight, terms }) =>
      `${leg} #${rank} ${calibrated.toFixed(3)} × ${weight}${terms?.length ? ` (${terms.join(', ')})` : ''}`,
  )
  const factors = [
    `age ${why.age.value} d × ${why.age.factor.toFixed(3)}`,
    `confidence ${why.confidence.value} × ${why.confidence.factor.toFixed(3)}`,
    `importance ${why.importance.value} × ${why.importance.factor.toFixed(3)}`,
  ]
  const same = why.duplicates ? [`${why.duplicates.length} near-duplicates`] : []
  return `${score.toFixed(3)}  ${harmless(item.text)}\n       ${item.id} · ${harmless(item.about)} · ${harmless([...legs, ...factors, ...same].join(' · '))}`
}

export function listMemory(t: Terminal, words: readonly string[], options: MemoryWords): Promise<Exit> {
  return withStore(onlyStore(words), async (root) => {
    const store = await tenantView(root, options.tenant)
    const page = await store.memory.list({ ...filterOf(options), ...given({ last: options.last, cursor: options.cursor }) })
    if (t.json) t.out(jsonLine(page))
    else if (page.items.length === 0) t.note(`No item matches in tenant ${store.tenantId}.`)
    else
      printTable(
        t,
        [
          { title: 'id' },
          { title: 'about', most: 24 },
          { title: 'kind' },
          { title: 'tags', most: 24, optional: true },
          { title: 'text', most: 80 },
        ],
        page.items.map(({ id, about, kind, tags, text }) => [id, about, kind, tags.join(' '), text]),
      )
    if (!t.json && page.cursor !== undefined) t.note(`More: add --cursor '${harmless(page.cursor)}'`)
    return EXIT.fine
  })
}

export function forgetMemory(t: Terminal, words: readonly string[], options: MemoryWords): Promise<Exit> {
  const filter = filterOf(options)
  const byFilter = Object.keys(filter).length > 0
  const { url, names } = byFilter ? { url: onlyStore(words), names: [] } : namedWords(words, { id: 'inkfast memory list' })
  const { reason } = options
  return changeStore(url, options, async ({ memory }) => {
    const what = byFilter ? filter : (names[0] as string)
    const done = options.purge ? await memory.purge(what, given({ reason })) : await memory.forget(what, given({ reason }))
    const [[verb, count] = ['forgotten', 0]] = Object.entries(done)
    if (count === 0 && !byFilter)
      throw new CliError(
        'MEMORY_UNKNOWN',
        EXIT.missing,
        `There is no item ${names[0]} to forget. See what exists with inkfast memory list.`,
      )
    t.out(t.json ? jsonLine(done) : verdict(t, 'ok', `${one(count, 'item')} ${verb}`))
  })
}

export async function coreOfMemory(t: Terminal, words: readonly string[], options: MemoryWords): Promise<Exit> {
  const { session, about, block, set } = options
  if ((session === undefined) === (about === undefined)) throw usage('Name either --session or --about.')
  const core = async (store: Store): Promise<CoreMemory> =>
    session === undefined ? store.memory.core(about as string) : (await findSession(store, session)).core
  if (set !== undefined) {
    if (block === undefined) throw usage('Name the block to set with --block.')
    return changeStore(onlyStore(words), options, async (store) => {
      const done = await (await core(store)).set(block, set)
      t.out(t.json ? jsonLine(done) : verdict(t, 'ok', `${block} is set, at version ${done.version}`))
    })
  }
  return withStore(onlyStore(words), async (root) => {
    const texts = await (await core(await tenantView(root, options.tenant))).get()
    if (t.json) t.out(jsonLine(texts))
    else for (const [name, text] of Object.entries(texts)) if (block === undefined || block === name) t.out(`${name}: ${harmless(text)}`)
    return EXIT.fine
  })
}

/** Counts by scope and kind. */
export function memoryStats(t: Terminal, words: readonly string[], options: MemoryWords): Promise<Exit> {
  return withStore(onlyStore(words), async (root) => {
    const counts = new Map<string, { items: number; bytes: number }>()
    for await (const { about, text } of everyItem(await tenantView(root, options.tenant), {})) {
      const { items, bytes } = counts.get(about) ?? { items: 0, bytes: 0 }
      counts.set(about, { items: items + 1, bytes: bytes + Buffer.byteLength(text) })
    }
    const rows = [...counts].sort(([a], [b]) => (a < b ? -1 : 1))
    if (t.json) t.out(jsonLine({ scopes: rows.map(([about, count]) => ({ about, ...count })) }))
    else if (rows.length === 0) t.note('There are no items.')
    else
      printTable(
        t,
        [
          { title: 'about', most: 48 },
          { title: 'items', right: true },
          { title: 'bytes', right: true },
        ],
        rows.map(([about, { items, bytes }]) => [about, String(items), String(bytes)]),
      )
    return EXIT.fine
  })
}

/** One item per line, in the form that `memory eval` reads. */
export function exportMemory(t: Terminal, words: readonly string[], options: MemoryWords): Promise<Exit> {
  return withStore(onlyStore(words), async (root) => {
    for await (const item of everyItem(await tenantView(root, options.tenant), filterOf(options))) {
      t.signal.throwIfAborted()
      const { id, text, about, kind, tags, source, importance, confidence, metadata, valid } = item
      t.out(jsonLine({ type: 'item', id, text, about, kind, tags, importance, confidence, ...given({ source, metadata, valid }) }))
    }
    return EXIT.fine
  })
}

async function* everyItem(store: Store, filter: ReturnType<typeof filterOf>): AsyncGenerator<MemoryItem> {
  for (let cursor: string | undefined; ; ) {
    const page = await store.memory.list({ ...filter, last: 500, ...given({ cursor }) })
    yield* page.items
    if (page.cursor === undefined) return
    cursor = page.cursor
  }
}

export async function evaluateMemory(t: Terminal, words: readonly string[], options: MemoryWords): Promise<Exit> {
  const [file, ...more] = words
  if (more.length > 0) throw usage('memory eval takes one file.')
  const set = readSet(file ?? OWN_SET)
  const embedder = embedderOf(options)
  const store = await open({ url: ':memory:', ...(embedder && { embedder }) })
  try {
    const ids = await load(store, set)
    if (embedder) await store.memory.backfill({ signal: t.signal })
    const all = await evaluate(store, set.questions, ids)
    const held = await evaluate(store, half(set.questions, 1), ids)
    if (t.json) {
      t.out(jsonLine({ items: set.items.length, questions: set.questions.length, ...all, heldOut: held.overall }))
      return EXIT.fine
    }
    const row = (name: string, leg: string, s: Scores) => [
      name,
      leg,
      String(s.questions),
      ...[s.at1, s.at5, s.at10, s.mrr].map((n) => n.toFixed(3)),
    ]
    const rows = (name: string, legs: Readonly<Record<string, Scores>>) => Object.entries(legs).map(([leg, s]) => row(name, leg, s))
    printTable(
      t,
      [
        { title: 'category' },
        { title: 'leg' },
        ...['questions', 'recall@1', 'recall@5', 'recall@10', 'MRR'].map((title) => ({ title, right: true })),
      ],
      [
        ...Object.entries(all.categories).flatMap(([name, legs]) => rows(name, legs)),
        ...rows('held-out half', held.overall),
        ...rows('all', all.overall),
      ],
    )
    return EXIT.fine
  } finally {
    await store.close()
  }
}
