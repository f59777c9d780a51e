// Embeds items that have no vector of the present model yet: every ten minutes while there are any, and on demand. Every batch is one commit, so
// a crash loses and repeats at most one batch.

import { InkError, refuse } from '../../model/errors.ts'
import { limits } from '../../model/limits.ts'
import { checkKnown, optionsOf } from '../../model/options.ts'
import { decodeBody } from '../../model/rows.ts'
import type { EmbedderMark } from '../../model/vector.ts'
import { stopIfAsked } from '../abortable.ts'
import { enginePart } from '../engine-part.ts'
import { everyRow } from '../every-row.ts'
import { execute } from '../execute.ts'
import { checkOpen, type Scope } from '../scope.ts'
import { collection } from '../vectors/collection-decider.ts'
import { clearCollection, deleteKeys, documentPages } from '../vectors/documents.ts'
import { embedderOf, embedTexts } from '../vectors/embed.ts'
import type { FoundCollection } from '../vectors/find-collection.ts'
import { indexCache } from '../vectors/index-cache.ts'
import { itemCollection, itemCollections, type Outcome, type SeenItem, storeOutcomes } from './item-vectors.ts'

export interface BackfillReport {
  readonly embedded: number
  /** Items that still have no vector. They are found by words, and tried again. */
  readonly pending: number
  /** Vectors of items that are no longer there. */
  readonly removed: number
  /** Why the last of the pending items has no vector. */
  readonly reason?: string
}

export interface BackfillOptions {
  readonly signal?: AbortSignal
}

export interface EmbeddingsReport {
  /** Absent if the store was opened without an embedder. */
  readonly embedder?: { readonly id: string; readonly version: string; readonly dimensions?: number }
  /** Items with a vector of this embedder. */
  readonly embedded: number
  readonly pending: number
  /** Pending items that were tried, with the reason of the last failure; at most 100. */
  readonly failed: readonly { readonly item: string; readonly why: string }[]
}

const FAILED_SHOWN = 100

export async function embeddingsOf(scope: Scope): Promise<EmbeddingsReport> {
  checkOpen(scope.engine)
  const embedder = embedderOf(scope)
  const active = new Map<string, string>()
  for await (const { row } of activeItems(scope)) active.set(row.id, row.digest ?? '')
  if (!embedder) return { embedded: 0, pending: active.size, failed: [] }
  const { id, version, dimensions } = embedder
  const of = dimensions === undefined ? undefined : await itemCollection(scope, { id, version, dimensions }, false)
  let embedded = 0
  if (of) for (const [item, digest] of await digestsOf(scope, of)) if (active.get(item) === digest) embedded++
  const failed: { item: string; why: string }[] = []
  for await (const stored of of ? everyRow(scope, 'vectors', { index: 'byCollection', equals: [of.id], limit: 500 }) : []) {
    const { key, failed: failure } = decodeBody(stored.body)
    if (failure && key !== undefined && active.has(key) && failed.length < FAILED_SHOWN) failed.push({ item: key, why: failure.why })
  }
  const mark = { id, version, ...(dimensions !== undefined && { dimensions }) }
  return { embedder: mark, embedded, pending: active.size - embedded, failed }
}

const running = enginePart(() => new Map<string, Promise<BackfillReport>>())

/** Embeds everything that is pending. Calls at the same time share one pass. */
export async function backfill(scope: Scope, options?: BackfillOptions): Promise<BackfillReport> {
  const { signal, ...unknown } = optionsOf(options, 'memory.backfill')
  checkKnown(unknown, 'memory.backfill')
  stopIfAsked(scope, signal)
  if (!embedderOf(scope)) throw refuse('EMBEDDER_MISSING')
  const passes = running(scope.engine)
  const pass = passes.get(scope.tenant) ?? embedPending(scope, signal).finally(() => passes.delete(scope.tenant))
  passes.set(scope.tenant, pass)
  return pass
}

async function embedPending(scope: Scope, signal: AbortSignal | undefined): Promise<BackfillReport> {
  const mark = await markOf(scope, signal)
  if (typeof mark === 'string') return { embedded: 0, pending: await countActive(scope), removed: 0, reason: mark }
  if (!mark) return { embedded: 0, pending: 0, removed: 0 }
  const into = (await itemCollection(scope, mark, true)) as FoundCollection
  const known = await digestsOf(scope, into)
  const report = { embedded: 0, pending: 0, removed: 0, reason: undefined as string | undefined }
  let batch: SeenItem[] = []
  const flush = async () => {
    if (batch.length === 0) return
    if (signal?.aborted) throw refuse('ABORTED')
    const outcomes = await embedItems(scope, batch, signal)
    const stored = await storeOutcomes(scope, into, batch, outcomes)
    const failed = outcomes.filter((outcome): outcome is { failed: string } => 'failed' in outcome)
    report.embedded += Math.max(0, stored - failed.length)
    report.pending += failed.length + (batch.length - stored)
    report.reason = failed.at(-1)?.failed ?? report.reason
    batch = []
  }
  for await (const seen of activeItems(scope)) {
    if (known.get(seen.row.id) !== (seen.row.digest ?? '')) batch.push(seen)
    known.delete(seen.row.id)
    if (batch.length === limits.embedBatch) await flush()
  }
  await flush()
  report.removed = await deleteKeys(scope, into, [...known.keys()], undefined)
  // The vectors of other models have served as long as this one was not complete.
  if (report.pending === 0) await dropOthers(scope, into)
  const { reason, ...counts } = report
  return { ...counts, ...(reason !== undefined && { reason }) }
}

/** If all texts fail together, the first one shows whether one of them is the cause or the embedder itself. */
async function embedItems(scope: Scope, items: readonly SeenItem[], signal: AbortSignal | undefined): Promise<readonly Outcome[]> {
  try {
    return await embedTexts(
      scope,
      items.map(({ row }) => row.text as string),
      { signal },
    )
  } catch (error) {
    const failed = whyOf(error)
    if (items.length === 1) return [{ failed }]
    const [first] = await embedItems(scope, items.slice(0, 1), signal)
    if (!first || 'failed' in first) {
      const rest = items.slice(1)
      // The second one too: then the embedder is away, and asking for each of the others would only take time.
      const [second] = await embedItems(scope, rest.slice(0, 1), signal)
      if (!second || 'failed' in second) return items.map(() => ({ failed }))
    }
    const outcomes: Outcome[] = [first as Outcome]
    for (const one of items.slice(1)) outcomes.push(...(await embedItems(scope, [one], signal)))
    return outcomes
  }
}

/** The reason without its sentence about what to do. Only failures of the embedder leave an item pending. */
function whyOf(error: unknown): string {
  if (error instanceof InkError && error.code === 'EMBEDDER_FAILED') return String(error.details.why)
  throw error
}

/** The model and the size of its vectors. An embedder that does not know its size embeds one item first; a text is why it cannot. */
async function markOf(scope: Scope, signal: AbortSignal | undefined): Promise<EmbedderMark | string | undefined> {
  const { id, version, dimensions } = embedderOf(scope) as NonNullable<ReturnType<typeof embedderOf>>
  if (dimensions !== undefined) return { id, version, dimensions }
  for await (const { row } of activeItems(scope)) {
    try {
      return (await embedTexts(scope, [row.text as string], { signal }))[0]?.embedder
    } catch (error) {
      return whyOf(error)
    }
  }
  return undefined
}

async function* activeItems(scope: Scope): AsyncGenerator<SeenItem, void, undefined> {
  for await (const { body, revision } of everyRow(scope, 'memory', { index: 'byState', equals: ['active'], limit: 200 })) {
    const row = decodeBody(body)
    if (row.text !== undefined) yield { row, revision }
  }
}

async function countActive(scope: Scope): Promise<number> {
  let count = 0
  for await (const _ of activeItems(scope)) count++
  return count
}

/** The texts that have a vector: item ids and the digests of the texts. */
async function digestsOf(scope: Scope, of: FoundCollection): Promise<Map<string, string>> {
  const digests = new Map<string, string>()
  const inMemory = await indexCache(scope.engine).with(scope, of, async (index) => {
    for (const { key, metadata } of index.entries()) digests.set(key, String(metadata?.digest ?? ''))
    return true
  })
  if (inMemory) return digests
  for await (const page of documentPages(scope, of.id))
    for (const { key, metadata } of page) digests.set(key, String(metadata?.digest ?? ''))
  return digests
}

async function dropOthers(scope: Scope, kept: FoundCollection): Promise<void> {
  for (const { id } of await itemCollections(scope)) {
    if (id === kept.id) continue
    await execute(scope, collection, id, { verb: 'drop' })
    await clearCollection(scope, id)
    indexCache(scope.engine).forget(scope, id)
  }
}
