// A fork begins with the canvases that its source had at the fork point: each with a snapshot of its own, and with the same version.

import type { CanvasRow, CanvasUpdate } from '../../../model/canvas.ts'
import type { Json } from '../../../model/data.ts'
import { InkError } from '../../../model/errors.ts'
import { referenceGuards } from '../../content/references.ts'
import type { Fork } from '../../feature.ts'
import { decodePayload } from '../../reading/decode-event.ts'
import { forkSource, rowsAt } from '../../reading/rows-at.ts'
import type { Scope } from '../../wiring/scope.ts'
import { NOT_THERE, type Part, part, plan } from '../../writing/execute.ts'
import { putValue } from '../values/values.ts'
import { canvasId } from './canvas.ts'
import { canvas } from './canvas-decider.ts'
import { documentAt, updateIn } from './documents.ts'
import { canvasSnapshot, snapshotId } from './snapshot-decider.ts'

/** The commit of a fork has room for so many parts, beside those of other features. */
const AT_ONCE = 1000

/**
 * Copies the canvases in the commit that creates the fork. Documents are put before, so that equal ones are stored once. So are snapshots
 * beyond `AT_ONCE`: no list shows them, and after a crash in between they are unused. A canvas that is damaged, or whose name was erased, is
 * left out: it must not prevent the fork.
 */
export async function forkCanvases(scope: Scope, fork: Fork): Promise<readonly Part[]> {
  const [canvases, snapshots]: [Part[], Part[]] = [[], []]
  const { from, at } = await forkSource(scope, fork)
  for (const { row } of await rowsAt(scope, canvas, from, await throughUpdate(scope, at))) {
    if (row.name === '') continue
    try {
      const copied = await copy(scope, row, fork)
      canvases.push(copied.canvas)
      snapshots.push(copied.snapshot)
    } catch (error) {
      if (!(error instanceof InkError && error.code === 'CANVAS_DAMAGED')) throw error
      scope.engine.environment.logger.warn('a damaged canvas was left out of a fork', { canvas: row.name, session: fork.from })
    }
  }
  const parts = [...snapshots, ...canvases]
  while (parts.length > AT_ONCE) await plan(scope, parts.splice(0, Math.min(AT_ONCE, parts.length - AT_ONCE)))
  return parts
}

/**
 * A run writes an update and its entry on the tape in one commit, the entry first. A fork at the entry has the update too: its run finds the
 * entry and does not patch again.
 */
async function throughUpdate(scope: Scope, at: number): Promise<number> {
  const { engine, tenant } = scope
  const { events } = await engine.backend.journal.page(tenant, { from: at - 1, limit: 2 })
  const [entry, update] = events
  if (entry?.type !== 'run.took' || update?.type !== 'canvas.patched' || update.run !== entry.run) return at
  const made = updateIn(scope, update)
  const taken = entry.payload && (decodePayload(tenant, entry.seq, entry.payload) as Partial<CanvasUpdate>)
  return taken && made && taken.version === made.version ? update.seq : at
}

async function copy(scope: Scope, row: CanvasRow, { to }: Fork): Promise<{ readonly canvas: Part; readonly snapshot: Part }> {
  const { name, version, bytes, state, reason, parent } = row
  const ref = await putValue(scope, (await documentAt(scope, row, version)) as Json)
  const id = canvasId(scope, to, name)
  const set = { name, version, bytes, state, ...(reason !== undefined && { reason }), parent, base: { canvas: row.id, version } }
  const about = { session: to, whole: true, seen: NOT_THERE }
  return {
    canvas: part(canvas, id, { verb: 'fork', set }, about),
    snapshot: part(
      canvasSnapshot,
      snapshotId(scope, id, version),
      { verb: 'take', canvas: id, version, ref },
      { ...about, guards: referenceGuards([ref]) },
    ),
  }
}
