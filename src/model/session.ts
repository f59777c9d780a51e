// A session is a durable conversation or task. Runs, inputs and events belong to it.

import type { Json } from './data.ts'
import type { SessionId } from './ids.ts'

export type SessionState = 'open' | 'archived' | 'deleted'
export const SESSION_STATES: readonly SessionState[] = ['open', 'archived', 'deleted']

/** `root` stands alone, `branch` was forked from another, `source` has been forked. */
export type BranchState = 'root' | 'branch' | 'source'
export const BRANCH_STATES: readonly BranchState[] = ['root', 'branch', 'source']

export interface SessionRelation {
  readonly kind: string
  readonly session: SessionId
  /** The seq in the other session up to which this one shares its events. */
  readonly at?: number
}

export interface SessionRow {
  readonly id: SessionId
  readonly state: SessionState
  readonly branch: BranchState
  readonly key?: string | undefined
  readonly title?: string | undefined
  readonly owner?: string | undefined
  readonly relation?: SessionRelation | undefined
  readonly metadata?: { readonly [key: string]: Json } | undefined
  readonly openedAt: number
  readonly changedAt: number
}
