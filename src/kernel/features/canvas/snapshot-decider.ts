// A snapshot of a canvas is taken once and never changes. Compaction drops it when the patches around it suffice.

import type { CanvasSnapshotRow } from '../../../model/canvas.ts'
import type { Id, SessionId } from '../../../model/ids.ts'
import { derivedId } from '../../naming/derived-id.ts'
import type { Scope } from '../../wiring/scope.ts'
import { decider, fact, type HappenedWith } from '../../writing/decider.ts'

export type CanvasSnapshotCommand =
  | { readonly verb: 'take'; readonly canvas: Id<'canvas'>; readonly version: number; readonly ref: string }
  | { readonly verb: 'drop' }

export const canvasSnapshot = decider<CanvasSnapshotRow, CanvasSnapshotCommand>({
  table: 'canvas_snapshots',

  decide: {
    // The id follows from the version, so a second snapshot of it is the same.
    take: (row, { canvas, version, ref }) => (row?.ref ? [] : [fact('canvas.snapshotted', { canvas, version, ref })]),
    drop: (row) => (row ? [fact('canvas.compacted', {})] : []),
  },

  evolve: {
    // An erased snapshot belongs to no canvas any more.
    'canvas.snapshotted': (_, e: HappenedWith<Pick<CanvasSnapshotRow, 'canvas' | 'version' | 'ref'>>) => ({
      canvas: '' as Id<'canvas'>,
      version: 0,
      ...e.data,
      id: e.subject as Id<'canvasSnapshot'>,
      session: e.session as SessionId,
    }),
    'canvas.compacted': () => undefined,
  },
})

export const snapshotId = (scope: Scope, canvas: Id<'canvas'>, version: number): Id<'canvasSnapshot'> =>
  derivedId(scope, `canvas-snapshot/${canvas}/${version}`)
