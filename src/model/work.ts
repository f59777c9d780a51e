// A work item is something to be done by somebody: due at a time, claimed under a fence, done once.

import type { RunId } from './ids.ts'
import type { LeaseRow } from './lease.ts'

export type WorkState = 'ready' | 'claimed' | 'asleep'

export interface WorkRow {
  /** The run it stands for. */
  readonly run?: RunId | undefined
  readonly queue: string
  readonly state: WorkState
  /** When somebody has to look at it again: when it is due, or when its claim runs out. Absent when nothing will happen by itself. */
  readonly at?: number | undefined
  readonly attempt: number
  /** Claims in a row that ended without a word: whoever held it died. */
  readonly strikes: number
  readonly owner?: string | undefined
  /** Where the process that claimed it can be looked for. */
  readonly mark?: LeaseRow['mark']
}

/** The queue of runs that wait for a handler of this name. */
export const runQueue = (name: string): string => `runs/${name}`
