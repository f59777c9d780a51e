// An inbox item is work for a session that no person typed: news from a process, or a command to the agent. Items wait in the session's
// inbox, in the order offered, until a run takes them.

import type { Id, RunId, SessionId } from './ids.ts'
import type { Stored } from './run.ts'

export type InboxItemId = Id<'inbox-item'>
export type ClaimId = Id<'claim'>

/** `boundary`: at the next safe place, even within a turn. `afterTurn`: only between turns. */
export type InboxDelivery = 'boundary' | 'afterTurn'
export const DELIVERIES: readonly InboxDelivery[] = ['boundary', 'afterTurn']

/** `turn`: content for a turn. `command`: a command to the session itself, which no other item overtakes. */
export type InboxKind = 'turn' | 'command'
export const INBOX_KINDS: readonly InboxKind[] = ['turn', 'command']

export type InboxState = 'pending' | 'claimed' | 'completed' | 'cancelled'
export const INBOX_STATES: readonly InboxState[] = ['pending', 'claimed', 'completed', 'cancelled']

/** The claim on an item: the run that took it, and the fence of the session's lease at that time. */
export interface InboxItemClaim {
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
  /** The item may be taken together with its neighbours; otherwise it is taken alone. */
  readonly join: boolean
  /** Only items with the same merge text are taken together. */
  readonly merge?: string | undefined
  readonly key?: string | undefined
  readonly payload?: Stored | undefined
  /** Store time before which it is not taken. */
  readonly at?: number | undefined
  /** The delay that was asked for, in milliseconds: a retry repeats it, and gets another `at`. */
  readonly delay?: number | undefined
  readonly claim?: InboxItemClaim | undefined
  /** Number of times it was claimed. */
  readonly attempt: number
  readonly offeredAt: number
  readonly endedAt?: number | undefined
}
