// Rows of canvases and of their snapshots, as they are stored. Damage of one row stops neither its canvas nor others.

import type { CanvasRow, CanvasSnapshotRow } from '../../../model/canvas.ts'
import type { Id } from '../../../model/ids.ts'
import { decodeBody, type TableRow } from '../../../model/rows.ts'
import { foldTo } from '../../reading/rows-at.ts'
import type { Scope } from '../../wiring/scope.ts'
import { type DoneRow, NOT_THERE } from '../../writing/execute.ts'
import { canvas } from './canvas-decider.ts'

export async function readCanvas(scope: Scope, id: Id<'canvas'>): Promise<DoneRow<CanvasRow>> {
  const stored = await scope.engine.backend.rows.get(scope.tenant, 'canvases', id)
  return stored ? { body: await canvasIn(scope, stored), revision: stored.revision } : NOT_THERE
}

/** A row that is damaged is folded again from its events. */
export async function canvasIn(scope: Scope, stored: TableRow<'canvases'>): Promise<CanvasRow | undefined> {
  return decoded<CanvasRow>(stored) ?? foldTo<CanvasRow>(scope, canvas, stored.id as Id, Number.MAX_SAFE_INTEGER)
}

/** Undefined if the row is damaged. */
export function snapshotIn(stored: TableRow<'canvas_snapshots'>): CanvasSnapshotRow | undefined {
  const row = decoded<CanvasSnapshotRow>(stored)
  return row && Number.isSafeInteger(row.version) ? row : undefined
}

function decoded<Row extends object>({ body }: { readonly body: string }): Row | undefined {
  try {
    return decodeBody(body) as Row
  } catch {
    return undefined
  }
}
