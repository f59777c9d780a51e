// Compaction drops snapshots where the patches since an older one lead to the same document. It compares both before it drops anything.

import type { CanvasRow } from '../../../model/canvas.ts'
import type { Id } from '../../../model/ids.ts'
import { jsonEqual } from '../../../model/json-equal.ts'
import { applyPatch } from '../../../model/json-patch.ts'
import { limits } from '../../../model/limits.ts'
import { everyRow } from '../../reading/every-row.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { part, plan } from '../../writing/execute.ts'
import { readValue } from '../values/values.ts'
import { EMPTY, PATCHED, updateOf } from './documents.ts'
import { readCanvas, snapshotIn } from './rows.ts'
import { canvasSnapshot } from './snapshot-decider.ts'

export interface CompactReport {
  /** Snapshots that were dropped now. */
  readonly dropped: number
  readonly kept: number
}

interface Kept {
  readonly version: number
  readonly document: unknown
  /** Patches after this seq lead to later versions. */
  readonly through: number
}

interface Candidate {
  readonly id: Id
  readonly version: number
  readonly ref: string | undefined
  readonly born: number
}

const PAGE = 100

export async function compactCanvas(scope: Scope, { id }: { readonly id: Id<'canvas'> }): Promise<CompactReport> {
  checkOpen(scope.engine)
  const row = (await readCanvas(scope, id)).body
  if (!row) return { dropped: 0, kept: 0 }
  const found: Candidate[] = []
  for await (const stored of everyRow(scope, 'canvas_snapshots', { index: 'byCanvas', equals: [id], limit: PAGE })) {
    const row = snapshotIn(stored)
    if (row) found.push({ id: stored.id as Id, version: row.version, ref: row.ref, born: stored.born })
  }
  const gone = await unneeded(scope, row, found)
  for (let i = 0; i < gone.length; i += PAGE)
    await plan(
      scope,
      gone.slice(i, i + PAGE).map((one) => part(canvasSnapshot, one.id, { verb: 'drop' }, { session: row.session })),
    )
  return { dropped: gone.length, kept: found.length - gone.length }
}

/** The newest snapshot is kept, and so many others that no version is more than `canvasReplay` patches away from one. */
async function unneeded(scope: Scope, row: CanvasRow, found: readonly Candidate[]): Promise<readonly Candidate[]> {
  const gone: Candidate[] = []
  let kept: Kept | undefined = row.base ? undefined : { version: 0, document: EMPTY, through: 0 }
  let at = kept
  for (const [i, one] of found.entries()) {
    const next = found[i + 1]
    const replayed = at && (await replayTo(scope, row, at, one.version))
    const stored = one.ref === undefined ? undefined : await readValue(scope, one.ref).catch(() => undefined)
    const same = replayed && (stored === undefined || jsonEqual(replayed.document, stored))
    if (next && kept && same && next.version - kept.version <= limits.canvasReplay) {
      gone.push(one)
      at = replayed
    } else if (stored !== undefined) {
      kept = { version: one.version, document: stored, through: one.born }
      at = kept
    } else at = replayed
  }
  return gone
}

/** Undefined where a patch on the way is erased, damaged or missing: then the snapshot behind it is needed. */
async function replayTo(scope: Scope, row: CanvasRow, from: Kept, version: number): Promise<Kept | undefined> {
  let { document, through } = from
  let at = from.version
  try {
    for (let more = true; more && at < version; ) {
      const query = { subject: row.id, types: PATCHED, from: through, limit: version - at, bytes: limits.pageBytes }
      const page = await scope.engine.backend.journal.page(scope.tenant, query)
      for (const event of page.events) {
        const update = updateOf(scope, event)
        if (update.version !== at + 1) return undefined
        document = applyPatch(document, update.ops)
        through = event.seq
        at++
      }
      more = page.more
    }
  } catch {
    return undefined
  }
  return at === version ? { version, document, through } : undefined
}
