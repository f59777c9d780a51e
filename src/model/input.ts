// An input is something a person says to a session, before or while it works. It is for the current turn, or for the next one. A turn is a
// run.

import type { Id, RunId, SessionId } from './ids.ts'
import type { Stored } from './run.ts'

export type InputId = Id<'input'>

/**
 * `pending`: for a run that has not taken it yet. `deferred`: for the next turn. `accepted`: a run took it. `completed`: that run has
 * ended. `cancelled`: no run will get it.
 */
export type InputState = 'pending' | 'deferred' | 'accepted' | 'completed' | 'cancelled'
export const INPUT_STATES: readonly InputState[] = ['pending', 'deferred', 'accepted', 'completed', 'cancelled']

/** The earliest place in a turn that may take it: any call of `run.inputs`, or only one before completion. */
export type InputBoundary = 'afterWork' | 'beforeCompletion'
export const INPUT_BOUNDARIES: readonly InputBoundary[] = ['afterWork', 'beforeCompletion']

export interface InputRow {
  readonly id: InputId
  readonly session: SessionId
  readonly state: InputState
  readonly boundary: InputBoundary
  /** The run that it is for, or that took it. */
  readonly run?: RunId | undefined
  readonly key?: string | undefined
  /** The turn that was asked for: `next` or a run. Absent for the active one. */
  readonly turn?: string | undefined
  readonly content?: Stored | undefined
  /** The actor who said it, if the store was opened for one. */
  readonly by?: string | undefined
  readonly offeredAt: number
  readonly acceptedAt?: number | undefined
  readonly endedAt?: number | undefined
}
