// An input is what somebody says to a session while it works, or before it does: for the turn that is underway, or for the next. A turn is a run.

import type { Id, RunId, SessionId } from './ids.ts'
import type { Stored } from './run.ts'

export type InputId = Id<'input'>

/**
 * `pending`: for a run, which has not taken it. `deferred`: for the next turn. `accepted`: a run has it. `completed`: with the run that had it.
 * `cancelled`: nobody gets it any more.
 */
export type InputState = 'pending' | 'deferred' | 'accepted' | 'completed' | 'cancelled'
export const INPUT_STATES: readonly InputState[] = ['pending', 'deferred', 'accepted', 'completed', 'cancelled']

/** Where in a turn it may be heard at the earliest: whenever the turn listens, or only when it is about to end. */
export type InputBoundary = 'afterWork' | 'beforeCompletion'
export const INPUT_BOUNDARIES: readonly InputBoundary[] = ['afterWork', 'beforeCompletion']

export interface InputRow {
  readonly id: InputId
  readonly session: SessionId
  readonly state: InputState
  readonly boundary: InputBoundary
  /** The run it is for, or that took it. */
  readonly run?: RunId | undefined
  readonly key?: string | undefined
  readonly content?: Stored | undefined
  /** Who said it, where the store was opened for somebody. */
  readonly by?: string | undefined
  readonly offeredAt: number
  readonly acceptedAt?: number | undefined
  readonly endedAt?: number | undefined
}
