// The newest snapshot of an execution. An execution is a session.

import type { Id, SessionId } from './ids.ts'

export interface SnapshotRow {
  readonly id: Id<'snapshot'>
  readonly session: SessionId
  /** The name of the execution, as its caller gave it: the key or the id of the session. */
  readonly execution: string
  /** The last event that the snapshot covers. */
  readonly seq: number
  readonly at: number
  readonly step?: string
  readonly user?: string
  /** The value that holds state, outputs and variables. Absent when the payload was erased: then there is no snapshot. */
  readonly ref?: string
}
