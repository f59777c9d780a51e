// Canvases: versioned JSON documents of sessions, patched by agents and people.

import type { CanvasSnapshotRow } from '../../../model/canvas.ts'
import type { Feature } from '../../feature.ts'
import type { Page, PageOptions } from '../../reading/list-rows.ts'
import { found, refuseDeleted } from '../../session/refuse-deleted.ts'
import { type Canvas, CanvasHandle } from './canvas.ts'
import { canvas } from './canvas-decider.ts'
import { type CanvasSummary, clearSession, compactAll, listOfSession, type StoreCanvases, storeCanvases } from './canvases.ts'
import { forkCanvases } from './fork-canvases.ts'
import { memoryOf } from './memory.ts'
import { canvasOptionsOf } from './options.ts'
import { type RunCanvas, runCanvas } from './run-canvas.ts'
import { canvasSnapshot } from './snapshot-decider.ts'

export interface CanvasStore {
  /** The canvases of all sessions. */
  readonly canvases: StoreCanvases
}

export interface CanvasSession {
  /** A versioned JSON document of this session. It begins with its first update. */
  canvas(name: string): Canvas
  /** Lists the canvases of this session, in the order of their names. */
  canvases(options?: PageOptions): Promise<Page<CanvasSummary>>
}

export interface CanvasRun {
  /** A canvas of the session, updated on the tape of this run. */
  canvas(name: string): RunCanvas
}

export const canvases: Feature<CanvasStore, CanvasSession, CanvasRun> = {
  name: 'canvas',
  deciders: [canvas, canvasSnapshot],
  refs: {
    canvases: 'documents are the values of their snapshots',
    canvas_snapshots: ({ ref }: CanvasSnapshotRow) => (ref === undefined ? [] : [ref]),
  },
  onOpen: (engine) => void canvasOptionsOf(engine),
  onSessionDeleted: clearSession,
  onForked: forkCanvases,
  onErased: async ({ engine }) => memoryOf(engine).clear(),
  onMaintain: async (scope) => ({ canvasSnapshotsDropped: (await compactAll(scope)).dropped }),
  store: (scope) => ({ canvases: storeCanvases(scope) }),
  session: ({ scope, id }) => ({
    canvas: (name) =>
      refuseDeleted(scope, id, new CanvasHandle(scope, id, name), {
        reads: ['get', 'at', 'history'],
        writes: ['undo', 'restore', 'close', 'compact'],
      }),
    canvases: (options) => found(scope, id, listOfSession(scope, id, options)),
  }),
  run: { canvas: runCanvas },
  runHandles: ['canvas'],
}
