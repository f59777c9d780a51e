// The blob part of a garbage collection: condemns the blobs that nothing marked, and deletes those that nobody has put or named meanwhile.

import { refuse } from '../../../model/errors.ts'
import { limits } from '../../../model/limits.ts'
import type { BlobInfo } from '../../../ports/blobs.ts'
import type { Fate, Liveness, ProcessMark } from '../../../ports/environment.ts'
import { freshBlobs } from '../../content/blobs-before-commit.ts'
import { stopIfAsked } from '../../reading/abortable.ts'
import type { Scope } from '../../wiring/scope.ts'
import type { Marker } from './mark.ts'

export interface BlobSweep {
  readonly marker: Marker
  /** The number of the collection; undefined if nothing is deleted. */
  readonly number: number | undefined
  /** Blobs that were put or named at this time or later are kept. */
  readonly before: number
  /** How many named nodes are marked already. */
  readonly seen: number
  /** How far the clock of this process is beyond the time that it is trusted to show. */
  readonly heldMs: number
  readonly isOver: () => boolean
  readonly signal: AbortSignal | undefined
  /** Only these may be deleted. */
  readonly only: ReadonlySet<string> | undefined
}

export interface Counts {
  blobs: number
  bytes: number
}

const PAGE = 512

/** False if the budget ended it early. Nodes are swept first: a node that exists has its blobs. */
export async function collectBlobs(scope: Scope, sweep: BlobSweep, deleted: Counts, retained: Counts): Promise<boolean> {
  const { engine, tenant } = scope
  const { marker, number, before } = sweep
  const seen = { count: sweep.seen }
  for await (const page of pages(scope, sweep.signal)) {
    let victims = page.filter(
      ({ digest, at, state }) =>
        !marker.blobs.has(digest) &&
        (at < before || state !== 'present') &&
        (!sweep.only || sweep.only.has(digest)) &&
        !freshBlobs(engine).isAwaited(tenant, digest, engine.environment.clock.monotonic()),
    )
    if (number !== undefined && victims.length > 0) {
      const gone = new Set(await remove(scope, sweep, number, victims, seen))
      victims = victims.filter(({ digest }) => gone.has(digest))
    }
    count(deleted, victims)
    count(
      retained,
      page.filter((blob) => !victims.includes(blob)),
    )
    if (sweep.isOver()) return false
  }
  // An upload may pause for longer than a short grace, and one of a dead process waits for no grace.
  if (number !== undefined && !sweep.only)
    deleted.bytes += await engine.backend.blobs.sweep(tenant, limits.uploadQuietMs + sweep.heldMs, (mark) =>
      fateOf(engine.environment.liveness, mark),
    )
  return true
}

/** A process of this machine that is not provably gone counts as living. */
function fateOf(liveness: Liveness | undefined, mark: ProcessMark): Fate {
  const { self } = liveness ?? {}
  if (!liveness || !self || mark.host !== self.host || mark.boot !== self.boot) return 'unknown'
  return liveness.isGone(mark) ? 'gone' : 'alive'
}

async function remove(
  scope: Scope,
  { marker, before }: BlobSweep,
  number: number,
  victims: readonly BlobInfo[],
  seen: { count: number },
): Promise<readonly string[]> {
  const { engine, tenant } = scope
  const { blobs, values } = engine.backend
  for (;;) {
    const digests = victims.map(({ digest }) => digest).filter((digest) => !marker.blobs.has(digest))
    const answer = await blobs.condemn({ tenant, number, digests, before, seen: seen.count })
    if (answer === 'condemned') {
      const gone = await blobs.remove(tenant, number, digests)
      if (gone !== 'replaced') return gone
    }
    if (answer !== 'named') throw refuse('COLLECTION_REPLACED', { tenant })
    // A commit named an older node meanwhile: it and the blobs below it stay.
    const named = await values.named(tenant, number)
    seen.count = named.length
    await marker.from(named, 'recent')
  }
}

function count(sum: Counts, blobs: readonly BlobInfo[]): void {
  sum.blobs += blobs.length
  for (const { stored } of blobs) sum.bytes += stored
}

async function* pages(scope: Scope, signal: AbortSignal | undefined): AsyncGenerator<readonly BlobInfo[]> {
  const { engine, tenant } = scope
  for (let after: string | undefined; ; ) {
    stopIfAsked(scope, signal)
    const page = await engine.backend.blobs.list(tenant, after, PAGE)
    if (page.length > 0) yield page
    if (page.length < PAGE) return
    after = page.at(-1)?.digest
  }
}
