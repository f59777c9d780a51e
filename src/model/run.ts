// A run is one execution in a session, crashes included: its input, its state, its waits and its outcome.

import type { CheckpointManifest } from './checkpoint.ts'
import type { Json } from './data.ts'
import type { EventId, Id, RunId, SessionId } from './ids.ts'
import type { ClaimId, InboxItemId } from './inbox.ts'
import type { Usage } from './usage.ts'

export type RunState = 'pending' | 'running' | 'waiting' | 'done' | 'failed' | 'cancelled'

/** Every legal transition. A run that has ended never changes its state. */
export const RUN_MOVES: Readonly<Record<RunState, readonly RunState[]>> = {
  pending: ['running', 'failed', 'cancelled'],
  running: ['running', 'waiting', 'done', 'failed', 'cancelled'],
  waiting: ['running', 'waiting', 'done', 'failed', 'cancelled'],
  done: [],
  failed: [],
  cancelled: [],
}

export const RUN_STATES = Object.keys(RUN_MOVES) as readonly RunState[]
export const isOver = (state: RunState): boolean => RUN_MOVES[state].length === 0

/** A blob, or the ref of a value. */
export type Held = string | { readonly digest: string; readonly bytes: number }

/** JSON, or a reference to the blob that holds it when it is large. */
export interface Stored {
  readonly value?: Json
  readonly blob?: { readonly digest: string; readonly bytes: number }
  /** The blobs and values that the JSON in `blob` refers to. Garbage collection finds them here. */
  readonly holds?: readonly Held[]
  /** Those in errors within the JSON, which need not exist. */
  readonly told?: readonly Held[]
  /** The member `payload` of the value is stored in this firing: once, however many deliveries share it. */
  readonly firing?: Id<'firing'>
  /** Secrets in the value are not masked, because its writer said so. */
  readonly whole?: true
}

/** An error as data: what was thrown, with its stack and the chain of its causes. Secrets are masked, and every part is bounded. */
export interface ErrorData {
  readonly name: string
  readonly message: string
  readonly stack?: string
  readonly code?: string
  readonly details?: Json
  readonly cause?: ErrorData
}

/** Identifies a call of the program during replay. */
export interface Slot {
  /** `''` is the run itself; `a` and `a/b` are its branches. */
  readonly branch: string
  readonly name: string
  /** Counted from 1 per branch and name. */
  readonly ordinal: number
  /** The number of checkpoints before the call. Absent for 0. */
  readonly epoch?: number
}

export type WaitKind = 'sleep' | 'signal' | 'ask' | 'approval' | 'child' | 'unknown' | 'retry' | 'diverged'

export interface Wait extends Slot {
  readonly kind: WaitKind
  /** Store time at which the wait ends in any case: its timeout. */
  readonly until?: number
  /** The approval or run that it waits for. */
  readonly on?: string
}

/** The kinds of things that stand on the tape with the rows they changed: inputs, inbox items, their completion and release, versions of a canvas, items of memory. */
export type TakeKind = 'inputs' | 'inbox' | 'inboxDone' | 'inboxRelease' | 'canvas' | 'remember'

/** Inbox items that a run has claimed. */
export interface Claimed {
  readonly id: ClaimId
  readonly batches: readonly InboxItemId[]
}

/** The newest checkpoint of a run. It began the epoch that the run is in. */
export interface RunCheckpoint {
  readonly epoch: number
  /** The event that saved it: replay starts after this event. */
  readonly event: EventId
  /** The run that saved it, if this run is a fork of that one. */
  readonly run?: RunId | undefined
  /** `now()` of the run when it was saved. */
  readonly now: number
  /** Undefined if its event was erased. */
  readonly manifest?: CheckpointManifest | undefined
}

export interface RunRow {
  readonly id: RunId
  readonly session: SessionId
  readonly name: string
  readonly key?: string | undefined
  readonly state: RunState
  /** Number of times a node has taken it up. */
  readonly attempt: number
  readonly input?: Stored | undefined
  readonly result?: Stored | undefined
  readonly error?: ErrorData | undefined
  /** Has a lease of its own instead of its session's. */
  readonly parallel?: boolean | undefined
  readonly parent?: RunId | undefined
  /** A node with a handler takes it up: there is a work item for it. */
  readonly queued?: boolean | undefined
  /** The run whose tape, up to this seq, its own tape begins with. */
  readonly fork?: { readonly run: RunId; readonly at: number } | undefined
  /** The first run of a line of forks; it seeds the random numbers. */
  readonly origin: RunId
  readonly waits: readonly Wait[]
  /** Number of inputs meant for it or taken by it; absent if there were none. */
  readonly prompted?: number | undefined
  readonly claims?: readonly Claimed[] | undefined
  readonly usage: readonly Usage[]
  readonly checkpoint?: RunCheckpoint | undefined
  /** Number of sealed segments of its tape. */
  readonly segments: number
  readonly openedAt: number
  readonly changedAt: number
}
