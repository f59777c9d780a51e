// The type of the row that each table keeps: a table's name is enough for the compiler to know what its bodies say.

import type { ApprovalRow, PermitRow } from './approval.ts'
import type { Id } from './ids.ts'
import type { InboxRow } from './inbox.ts'
import type { InputRow } from './input.ts'
import type { JobRow, OccurrenceRow } from './job.ts'
import type { LeaseRow } from './lease.ts'
import type { GrantRow, ProcessEventRow, ProcessRow } from './process.ts'
import type { Body } from './rows.ts'
import type { RunRow } from './run.ts'
import type { SessionRow } from './session.ts'
import type { SignalRow } from './signal.ts'
import type { TableName } from './tables.ts'
import type { DeliveryRow, FiringRow, SourceRow, TriggerRow } from './trigger.ts'
import type { WorkRow } from './work.ts'

interface RowTypes {
  readonly sessions: SessionRow
  readonly names: NameRow
  readonly leases: LeaseRow
  readonly runs: RunRow
  readonly work: WorkRow
  readonly approvals: ApprovalRow
  readonly signals: SignalRow
  readonly jobs: JobRow
  readonly occurrences: OccurrenceRow
  readonly triggers: TriggerRow
  readonly sources: SourceRow
  readonly firings: FiringRow
  readonly deliveries: DeliveryRow
  readonly processes: ProcessRow
  readonly process_events: ProcessEventRow
  readonly grants: GrantRow
  readonly inputs: InputRow
  readonly inbox: InboxRow
  readonly permits: PermitRow
}

/** The type of a row of this table. Where the compiler does not know which table it is, any `Body`. */
export type RowOf<T extends TableName> = TableName extends T ? Body : RowTypes[T]

/** A user-chosen key and the row that holds it. */
export interface NameRow {
  readonly target: Id
}
