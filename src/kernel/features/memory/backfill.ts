// Embeds items that have no vector of the present model yet: every ten minutes while there are any, and on demand. Every batch is one commit, so
// a crash loses and repeats at most one batch.

import { refuse } from '../../../model/errors.ts'
import { limits } from '../../../model/limits.ts'
import { checkKnown, optionsOf } from '../../../model/options.ts'
import { decodeBody } from '../../../model/rows.ts'
import { stopIfAsked } from '../../reading/abortable.ts'
import { everyRow } from '../../reading/every-row.ts'
import { enginePart } from '../../wiring/per-engine.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { isConflict } from '../../writing/commit-outcome.ts'
import { execute } from '../../writing/execute.ts'
import { collection } from '../vectors/collection-decider.ts'
import { clearCollection, deleteKeys, documentPages } from '../vectors/documents.ts'
import { embedderOf } from '../vectors/embed.ts'
import type { FoundCollection } from '../vectors/find-collection.ts'
import { indexCache } from '../vectors/index-cache.ts'
import { embedItems, type Failure, markOf } from './embed-items.ts'
import { itemCollection, itemCollections, presentCollection, type SeenItem, storeOutcomes } from './item-vectors.ts'
import { storeNow } from './store-now.ts'

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
  for await (const { row } of activeItems(scope)) active.set(row.id, row.textDigest ?? '')
  if (!embedder) return { embedded: 0, pending: active.size, failed: [] }
  const { id, version, dimensions } = embedder
  const of = dimensions === undefined ? undefined : await itemCollection(scope, { id, version, dimensions }, false)
  let embedded = 0
  if (of) for (const [item, digest] of await digestsOf(scope, of)) if (active.get(item) === digest) embedded++
  const failed: { item: string; why: string }[] = []
  for await (const stored of of ? everyRow(scope, 'vectors', { index: 'byCollection', equals: [of.id], limit: 500 }) : []) {
    const { key, failed: failure } = decodeBody(stored.body, stored)
    if (failure && key !== undefined && active.has(key) && failed.length < FAILED_SHOWN) failed.push({ item: key, why: failure.why })
  }
  const mark = { id, version, ...(dimensions !== undefined && { dimensions }) }
  return { embedder: mark, embedded, pending: active.size - embedded, failed }
}

/** A pass through a tenant's items, which ends when all of its callers have given up. */
interface Pass {
  readonly report: Promise<BackfillReport>
  readonly stop: AbortController
  callers: number
}

const running = enginePart(() => new Map<string, Pass>())

/** Embeds everything that is pending. Calls at the same time share one pass. */
export async function backfill(scope: Scope, options?: BackfillOptions): Promise<BackfillReport> {
  const { signal, ...unknown } = optionsOf(options, 'memory.backfill')
  checkKnown(unknown, 'memory.backfill')
  for (;;) {
    stopIfAsked(scope, signal)
    if (!embedderOf(scope)) throw refuse('EMBEDDER_MISSING')
    const pass = running(scope.engine).get(scope.tenant) ?? begin(scope)
    if (!pass.stop.signal.aborted) return join(pass, signal)
    await pass.report.catch(() => {})
  }
}

function begin(scope: Scope): Pass {
  const passes = running(scope.engine)
  const stop = new AbortController()
  const report = embedPending(scope, stop.signal).finally(() => passes.delete(scope.tenant))
  report.catch(() => {})
  const pass = { report, stop, callers: 0 }
  passes.set(scope.tenant, pass)
  return pass
}

async function join(pass: Pass, signal: AbortSignal | undefined): Promise<BackfillReport> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  aborted.catch(() => {})
  const abort = () => reject(refuse('ABORTED', {}, signal?.reason))
  signal?.addEventListener('abort', abort, { once: true })
  pass.callers++
  try {
    return await Promise.race([pass.report, aborted])
  } finally {
    signal?.removeEventListener('abort', abort)
    if (--pass.callers === 0) pass.stop.abort()
  }
}

async function embedPending(scope: Scope, signal: AbortSignal | undefined): Promise<BackfillReport> {
  const isEmpty = embedderOf(scope)?.dimensions === undefined && (await countActive(scope)) === 0
  if (isEmpty) return { embedded: 0, pending: 0, removed: 0 }
  const mark = await markOf(scope, signal)
  if (typeof mark === 'string') return { embedded: 0, pending: await countActive(scope), removed: 0, reason: mark }
  const into = await presentCollection(scope, mark)
  if (!into) return replaced(scope)
  try {
    return await embedInto(scope, into, signal)
  } catch (error) {
    // Another process has dropped the collection meanwhile.
    if (isConflict(error, 'vector_collections') && !(await presentCollection(scope, mark))) return replaced(scope)
    throw error
  }
}

async function replaced(scope: Scope): Promise<BackfillReport> {
  return { embedded: 0, pending: await countActive(scope), removed: 0, reason: 'another process embeds with another model now' }
}

async function embedInto(scope: Scope, into: FoundCollection, signal: AbortSignal | undefined): Promise<BackfillReport> {
  const known = await digestsOf(scope, into)
  const report = { embedded: 0, pending: 0, removed: 0, reason: undefined as string | undefined }
  let isAway = false
  let batch: SeenItem[] = []
  const flush = async () => {
    if (batch.length === 0) return
    stopIfAsked(scope, signal)
    const outcomes = await embedItems(scope, batch, signal)
    const stored = await storeOutcomes(scope, into, batch, outcomes)
    const failed = outcomes.filter((outcome): outcome is Failure => 'failed' in outcome)
    report.embedded += Math.max(0, stored - failed.length)
    report.pending += failed.length + (batch.length - stored)
    report.reason = failed.at(-1)?.failed ?? report.reason
    isAway = failed.some(({ away }) => away)
    batch = []
  }
  for await (const seen of activeItems(scope)) {
    const isPending = known.get(seen.row.id) !== (seen.row.textDigest ?? '')
    known.delete(seen.row.id)
    if (isPending && isAway) report.pending++
    else if (isPending) batch.push(seen)
    if (batch.length === limits.embedBatch) await flush()
  }
  await flush()
  report.removed = await deleteKeys(scope, into, [...known.keys()], signal)
  // The vectors of other models have served as long as this one was not complete.
  if (report.pending === 0) await drop(scope, await othersThan(scope, into))
  const { reason, ...counts } = report
  return { ...counts, ...(reason !== undefined && { reason }) }
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

/** A newer collection is that of a newer model, which another process may still be filling. After so long it is left over. */
const BEING_MADE_MS = 7 * 86_400_000

async function othersThan(scope: Scope, kept: FoundCollection): Promise<readonly FoundCollection[]> {
  const since = (await storeNow(scope)) - BEING_MADE_MS
  return (await itemCollections(scope)).filter(
    ({ id, revision, createdAt }) => id !== kept.id && (revision < kept.revision || createdAt <= since),
  )
}

async function drop(scope: Scope, collections: readonly FoundCollection[]): Promise<void> {
  for (const { id } of collections) {
    await execute(scope, collection, id, { verb: 'drop' })
    await clearCollection(scope, id)
    indexCache(scope.engine).forget(scope, id)
  }
}

/** Drops the vectors of models that are not used any more, as soon as every item has one of the present model. Returns how many models. */
export async function retireModels(scope: Scope, { dryRun }: { readonly dryRun: boolean }): Promise<number> {
  const embedder = embedderOf(scope)
  // Counting the items takes long, and mostly there is one model.
  if (embedder?.dimensions === undefined || (await itemCollections(scope)).length < 2) return 0
  const { id, version, dimensions } = embedder
  const kept = await itemCollection(scope, { id, version, dimensions }, false)
  if (!kept || (await embeddingsOf(scope)).pending > 0) return 0
  const retired = await othersThan(scope, kept)
  if (!dryRun) await drop(scope, retired)
  return retired.length
}
