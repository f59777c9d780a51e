// What a handle on a run begins with.

import type { RunRow } from '../../../../model/run.ts'
import type { OwnLease } from '../../leases/keeper.ts'
import type { Underway } from '../program/shared-calls.ts'
import type { Source } from '../tape/tape.ts'

export interface OpenedRun {
  readonly row: RunRow
  readonly revision: number
  readonly hold: OwnLease
  readonly underway: Underway
  /** Whether another handle on the run is open in this process. */
  readonly shared: () => boolean
  readonly sources: readonly Source[]
  /** When the run was opened; of a fork, when the oldest run of its past was opened. */
  readonly since: number
  /** The run was opened just now, so its tape is empty. */
  readonly fresh?: boolean
  /** The tape answers every call, and nothing is executed or written. */
  readonly strict?: boolean
}
