// A canvas: a versioned JSON document of a session, which agents and people edit together. Its patches are events; a row says where it stands.

import type { Id, SessionId } from './ids.ts'
import type { PatchOperation } from './json-patch.ts'

/** Counts changes of how a canvas is stored. */
export const CANVAS_SCHEMA = 1

/** The kind of update that made a version, if not a patch. */
export type CanvasUpdateKind = 'replace' | 'undo' | 'restore'

export interface CanvasRow {
  readonly id: Id<'canvas'>
  readonly schema: typeof CANVAS_SCHEMA
  readonly session: SessionId
  /** Empty when the payload that named it was erased, until the next update. */
  readonly name: string
  /** The number of updates. A fork goes on from the version of its source. */
  readonly version: number
  /** Size of the document as JSON. */
  readonly bytes: number
  readonly state: 'open' | 'closed'
  /** Why it was closed. */
  readonly reason?: string
  readonly openedAt: number
  readonly changedAt: number
  /** The actor of the last update. */
  readonly by?: string
  /** The version of the newest snapshot; 0 means the empty document. */
  readonly snapshot: number
  /** The version that an undo leads back to. */
  readonly parent: number
  /** The minute in which updates are counted: when it began by store time, and how many there were. */
  readonly minute: { readonly from: number; readonly count: number }
  /** Updates whose payload was erased. */
  readonly erased?: number
  /** Present in a fork: the canvas it came from, and the version it began with. */
  readonly base?: { readonly canvas: Id<'canvas'>; readonly version: number }
}

/** One version as its event holds it. */
export interface CanvasUpdate {
  readonly version: number
  readonly ops: readonly PatchOperation[]
  /** Size of the document after it. */
  readonly bytes: number
  readonly kind?: CanvasUpdateKind
  /** Present for an undo or a restore: the version whose document came back. */
  readonly to?: number
  /** Present for an undo: the version that the next undo leads back to. */
  readonly parent?: number
  /** The same commit holds a snapshot of this version. */
  readonly snapshot?: true
  /** Store time at which a new minute of updates began. */
  readonly minute?: number
}

/** The whole document at one version, stored as a value. */
export interface CanvasSnapshotRow {
  readonly id: Id<'canvasSnapshot'>
  readonly canvas: Id<'canvas'>
  readonly session: SessionId
  readonly version: number
  /** Absent when the payload was erased: then there is no snapshot. */
  readonly ref?: string
}
