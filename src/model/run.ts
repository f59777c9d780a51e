// A run is one execution in a session, crashes included: what it was asked, where it stands, what it waits for, what came of it.

import type { Json } from './data.ts'
import type { Id, RunId, SessionId } from './ids.ts'
import type { ClaimId, InboxItemId } from './inbox.ts'

export type RunState = 'pending' | 'running' | 'waiting' | 'done' | 'failed' | 'cancelled'

/** Every legal move, and no other. What has ended stays as it is. */
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

/** Larger JSON lies in a blob, and this stands for it. */
export interface Stored {
  readonly value?: Json
  readonly blob?: { readonly digest: string; readonly bytes: number }
  /** The member `payload` of the value stands in this firing: it is kept once, however many are told of it. */
  readonly firing?: Id<'firing'>
}

/** An error as data: what it was called and what it said, never where in the code. */
export interface ErrorData {
  readonly name: string
  readonly message: string
  readonly code?: string
  readonly details?: Json
}

/** What an asking of the program is found by when it is replayed. */
export interface Slot {
  /** `''` is the run itself; `a`, `a/b` are branches of it. */
  readonly branch: string
  readonly name: string
  /** Counted from 1 for each branch and name. */
  readonly ordinal: number
}

export type WaitKind = 'sleep' | 'signal' | 'ask' | 'approval' | 'child' | 'unknown' | 'retry' | 'diverged'

export interface Wait extends Slot {
  readonly kind: WaitKind
  /** Store time from which it is over in any case. */
  readonly until?: number
  /** What it waits for: an approval, a run. */
  readonly on?: string
}

/** What a run takes up from its session: what was said to it, and what lies in its inbox. */
export type TakeKind = 'inputs' | 'inbox' | 'inboxDone'

/** Batches of its session's inbox that a run has in hand. */
export interface Claimed {
  readonly id: ClaimId
  readonly batches: readonly InboxItemId[]
}

export interface Usage {
  readonly source: string
  readonly model: string
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cacheReadTokens: number
  readonly cacheWriteTokens: number
  /** Part of the output. */
  readonly reasoningTokens: number
  /** In billionths of a dollar, so that sums are exact. */
  readonly costNanoUsd: number
}

export interface RunRow {
  readonly id: RunId
  readonly session: SessionId
  readonly name: string
  readonly key?: string | undefined
  readonly state: RunState
  /** How often somebody has taken it up. */
  readonly attempt: number
  readonly input?: Stored | undefined
  readonly result?: Stored | undefined
  readonly error?: ErrorData | undefined
  /** Has a lease of its own instead of its session's. */
  readonly parallel?: boolean | undefined
  readonly parent?: RunId | undefined
  /** Somebody with a handler takes it up: there is a work item for it. */
  readonly queued?: boolean | undefined
  /** Its tape begins with that of another run, up to this seq. */
  readonly fork?: { readonly run: RunId; readonly at: number } | undefined
  /** The first run of a line of forks: what chance is drawn from. */
  readonly origin: RunId
  readonly waits: readonly Wait[]
  /** How many inputs were meant for it or taken by it; absent where nobody said anything. */
  readonly prompted?: number | undefined
  readonly claims?: readonly Claimed[] | undefined
  readonly usage: readonly Usage[]
  /** Sealed segments of its tape. */
  readonly segments: number
  readonly openedAt: number
  readonly changedAt: number
}
