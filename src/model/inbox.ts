// A batch is work for a session that no person typed: a process that has something to tell, a command to the agent. Batches lie in the inbox of
// the session, in the order they were offered, until a run takes them up.

import type { Id, RunId, SessionId } from './ids.ts'
import type { Stored } from './run.ts'

export type InboxItemId = Id<'batch'>
export type ClaimId = Id<'claim'>

/** `boundary`: at the next safe place, also within a turn. `afterTurn`: only between turns. */
export type InboxDelivery = 'boundary' | 'afterTurn'
export const DELIVERIES: readonly InboxDelivery[] = ['boundary', 'afterTurn']

/** What a turn works on, or a command to the session itself, which nothing overtakes. */
export type InboxKind = 'turn' | 'command'
export const BATCH_KINDS: readonly InboxKind[] = ['turn', 'command']

export type InboxState = 'pending' | 'claimed' | 'completed' | 'cancelled'
export const BATCH_STATES: readonly InboxState[] = ['pending', 'claimed', 'completed', 'cancelled']

/** Who has it in hand: the run, and the fence of the session's lease under which it took it. */
export interface InboxHold {
  readonly id: ClaimId
  readonly run: RunId
  readonly fence: number
}

export interface InboxRow {
  readonly id: InboxItemId
  readonly session: SessionId
  readonly state: InboxState
  readonly kind: InboxKind
  readonly delivery: InboxDelivery
  /** May come together with those beside it; otherwise it comes alone. */
  readonly join: boolean
  /** Only those with the same one come together. */
  readonly merge?: string | undefined
  readonly key?: string | undefined
  readonly payload?: Stored | undefined
  /** Not before then, in store time. */
  readonly at?: number | undefined
  readonly claim?: InboxHold | undefined
  /** How often it was claimed. */
  readonly attempt: number
  readonly offeredAt: number
  readonly endedAt?: number | undefined
}
