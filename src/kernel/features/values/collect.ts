// Garbage collection: marks what can be reached from events, rows and recent nodes, then removes the rest, newest first. Parents are newer
// than their children, so a crash at any point leaves no node without its children. Blobs come last.

import { InkError, refuse } from '../../../model/errors.ts'
import { limits } from '../../../model/limits.ts'
import { checkKnown, invalidOption, optionsOf } from '../../../model/options.ts'
import { type Duration, milliseconds } from '../../../model/time.ts'
import type { ScannedNode } from '../../../ports/values.ts'
import { stopIfAsked } from '../../reading/abortable.ts'
import { notBeyondTrust } from '../../time/purge-time.ts'
import { storeNow } from '../../time/store-time.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { isOutage, reasonOf } from '../../writing/commit-outcome.ts'
import { collectBlobs } from './collect-blobs.ts'
import { Marker } from './mark.ts'
import { memoryOf } from './memory.ts'
import type { PrefixSet } from './prefix-set.ts'

export interface CollectOptions {
  /** Counts what would be deleted, and deletes nothing. */
  readonly dryRun?: boolean
  /** Content that was written or named by a commit within this time is kept. The default is a day. */
  readonly grace?: Duration
  /** Stops deleting after this time. A later collection deletes the rest. */
  readonly budget?: Duration
  readonly signal?: AbortSignal
}

export interface Collected {
  readonly nodes: number
  readonly blobs: number
  readonly bytes: number
}

export interface CollectReport {
  readonly deleted: Collected
  readonly retained: Collected & {
    /** Nodes by what kept them: references of events, rows (pins among them), or having been written or named within `grace`. */
    readonly by: { readonly events: number; readonly rows: number; readonly recent: number }
  }
  /** False if `budget` ended it early. */
  readonly complete: boolean
  /** Bytes by which the file became smaller. A server keeps the space for later writes. */
  readonly freed: number
}

const PAGE = 512

/** Nodes and blobs that a targeted collection may delete. */
export interface Candidates {
  readonly nodes: PrefixSet
  readonly blobs: ReadonlySet<string>
}

/** With `only`, nothing but these is deleted, however recent; other content is kept with everything below it. */
export async function collect(scope: Scope, options?: CollectOptions, only?: Candidates): Promise<CollectReport> {
  checkOpen(scope.engine)
  const asked = optionsOf(options, 'collect')
  try {
    return await collectNow(scope, asked, only)
  } catch (error) {
    // An error of the backend's own says nothing about what was deleted before, and one of a read would say that nothing was.
    if (error instanceof InkError && !isOutage(error)) throw error
    throw refuse('COLLECTION_INTERRUPTED', { tenant: scope.tenant, reason: reasonOf(error) }, error)
  }
}

async function collectNow(scope: Scope, options: CollectOptions, only?: Candidates): Promise<CollectReport> {
  const { engine, tenant } = scope
  const { dryRun = false, grace = limits.collectGraceMs, budget, signal, ...unknown } = options
  checkKnown(unknown, 'collect')
  if (typeof dryRun !== 'boolean') throw invalidOption('dryRun', 'true or false', dryRun)
  const { backend, environment } = engine
  const graceMs = milliseconds(grace)
  const until = budget === undefined ? Infinity : environment.clock.monotonic() + milliseconds(budget)
  const { number, top } = dryRun ? { number: 0, top: Number.MAX_SAFE_INTEGER } : await backend.values.begin(tenant)
  const now = await storeNow(scope)
  const trusted = await notBeyondTrust(engine, now)
  const before = graceMs > 0 ? trusted - graceMs : Infinity
  const isRecent = (node: ScannedNode): boolean => (only ? !only.nodes.has(node.ref) : node.at >= before)
  const isOver = (): boolean => environment.clock.monotonic() > until

  const marker = new Marker(scope)
  const deleted = { nodes: 0, blobs: 0, bytes: 0 }
  const retained = { nodes: 0, blobs: 0, bytes: 0 }
  let complete = true
  try {
    await marker.events()
    await marker.rows()
    for await (const page of nodesDown(scope, top, signal))
      await marker.from(
        page.filter(isRecent).map(({ ref }) => ref),
        'recent',
      )
    let seen = 0
    for await (const page of nodesDown(scope, top, signal)) {
      let victims = page.filter(({ ref }) => !marker.nodes.has(ref) && (!only || only.nodes.has(ref)))
      while (!dryRun && victims.length > 0) {
        const answer = await backend.values.remove(
          tenant,
          number,
          victims.map(({ id }) => id),
          seen,
        )
        if (answer === 'removed') break
        if (answer === 'replaced') throw refuse('COLLECTION_REPLACED', { tenant })
        // A commit named an older node meanwhile: it and everything below it stays.
        const named = await backend.values.named(tenant, number)
        seen = named.length
        await marker.from(named, 'recent')
        victims = victims.filter(({ ref }) => !marker.nodes.has(ref))
      }
      count(deleted, victims)
      count(
        retained,
        page.filter((node) => !victims.includes(node)),
      )
      if (isOver()) {
        complete = false
        break
      }
    }
    const sweep = { marker, number: dryRun ? undefined : number, before, seen, heldMs: now - trusted, isOver, signal, only: only?.blobs }
    if (complete) complete = await collectBlobs(scope, sweep, deleted, retained)
  } catch (error) {
    // A later collection may have deleted a root that this one read before.
    const isMissing = !dryRun && error instanceof InkError && error.code === 'VALUE_DAMAGED'
    if (isMissing && (await backend.values.remove(tenant, number, [], 0)) === 'replaced')
      throw refuse('COLLECTION_REPLACED', { tenant }, error)
    throw error
  } finally {
    // Nodes that are gone must not be answered from memory.
    if (deleted.nodes > 0 && !dryRun) memoryOf(engine).clear()
    if (!dryRun) await backend.values.end(tenant, number)
  }
  const freed = dryRun || deleted.bytes === 0 ? 0 : await reclaim(scope, isOver, signal)
  // Deleted content may be erased text, and the pages that held it may still be in the log.
  if (!dryRun && deleted.bytes > 0) await backend.upkeep.scrub()
  return { deleted, retained: { ...retained, by: { ...marker.keptBy } }, complete, freed }
}

/** Slice by slice, so that writers wait for one slice only. */
async function reclaim({ engine, tenant }: Scope, isOver: () => boolean, signal: AbortSignal | undefined): Promise<number> {
  let freed = 0
  for (;;) {
    const bytes = (await engine.backend.upkeep.reclaim?.(tenant)) ?? 0
    freed += bytes
    if (bytes === 0 || isOver() || signal?.aborted) return freed
  }
}

function count(sum: { nodes: number; bytes: number }, nodes: readonly ScannedNode[]): void {
  sum.nodes += nodes.length
  for (const { bytes } of nodes) sum.bytes += bytes
}

/** Pages of all nodes up to an id, newest first. */
async function* nodesDown(scope: Scope, top: number, signal: AbortSignal | undefined): AsyncGenerator<readonly ScannedNode[]> {
  const { engine, tenant } = scope
  for (let upTo = top; ; ) {
    stopIfAsked(scope, signal)
    const page = await engine.backend.values.scan(tenant, upTo, PAGE)
    if (page.length > 0) yield page
    if (page.length < PAGE) return
    upTo = (page.at(-1) as ScannedNode).id - 1
  }
}
