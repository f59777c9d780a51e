// A session is a durable conversation or task. Runs, inputs and events belong to it.

import type { Cause } from './cause.ts'
import type { Json } from './data.ts'
import type { RunId, SessionId } from './ids.ts'
import type { RunState } from './run.ts'

export type SessionState = 'open' | 'archived' | 'deleted'
export const SESSION_STATES: readonly SessionState[] = ['open', 'archived', 'deleted']

/** `root` stands alone, `branch` was forked from another, `source` has been forked. */
export type BranchState = 'root' | 'branch' | 'source'
export const BRANCH_STATES: readonly BranchState[] = ['root', 'branch', 'source']

/** `given`: with the session. `derived`: from the first message. `hand`: by `rename`, and then it is locked. */
export type TitleSource = 'given' | 'derived' | 'hand'

export const titleSourceOf = ({ title, titleSource }: Pick<SessionRow, 'title' | 'titleSource'>): TitleSource | undefined =>
  title === undefined ? undefined : (titleSource ?? 'given')

export interface SessionRelation {
  readonly kind: string
  readonly session: SessionId
  /** The seq in the other session up to which this one shares its events. */
  readonly at?: number
  /** Why the child was opened. */
  readonly cause?: Cause
}

export interface SessionRow {
  readonly id: SessionId
  readonly schema: number
  readonly state: SessionState
  readonly branch: BranchState
  readonly key?: string | undefined
  readonly title?: string | undefined
  /** Absent if the title was given when the session was opened. */
  readonly titleSource?: TitleSource | undefined
  readonly owner?: string | undefined
  readonly relation?: SessionRelation | undefined
  readonly metadata?: { readonly [key: string]: Json } | undefined
  readonly openedAt: number
  readonly changedAt: number
}

/** Members of a conversation that a list of sessions shows. */
/** What a session holds before any feature tells of it. */
export const NO_COUNTS: SessionSummary['counts'] = { turns: 0, nodes: 0, messages: 0 }

export interface SessionSummary {
  /** Working directory and model, as `configure` set them. */
  readonly cwd?: string
  readonly model?: string
  /** The beginning of the first message of the user. */
  readonly firstMessage?: string
  /** The beginning of the newest message. */
  readonly preview?: string
  /** The last thing that the user asked for. */
  readonly intent?: string
  readonly counts: { readonly turns: number; readonly nodes: number; readonly messages: number }
  readonly lastRun?: { readonly id: RunId; readonly name: string; readonly state: RunState; readonly changedAt: number }
  /** When the session, its conversation or its last run last changed. */
  readonly activeAt: number
}
