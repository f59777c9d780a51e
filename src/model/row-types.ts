// The row type of each table, so that a table's name tells the compiler the type of its bodies.

import type { ApprovalRow, PermitRow } from './approval.ts'
import type { ArtifactRow } from './artifact.ts'
import type { AttachmentRow } from './attachment.ts'
import type { CanvasRow, CanvasSnapshotRow } from './canvas.ts'
import type { GraphNodeRow, HeadRow, TurnRow } from './graph.ts'
import type { Id } from './ids.ts'
import type { InboxRow } from './inbox.ts'
import type { InputRow } from './input.ts'
import type { JobRow, OccurrenceRow } from './job.ts'
import type { LeaseRow } from './lease.ts'
import type { CoreRow, MemoryRow } from './memory.ts'
import type { PinRow } from './pin.ts'
import type { GrantRow, ProcessEventRow, ProcessRow } from './process.ts'
import type { Body } from './rows.ts'
import type { RunRow } from './run.ts'
import type { SessionRow } from './session.ts'
import type { SignalRow } from './signal.ts'
import type { SnapshotRow } from './snapshot.ts'
import type { StateRow } from './state.ts'
import type { TableName } from './tables.ts'
import type { MessageRow, ThreadRow } from './thread.ts'
import type { DeliveryRow, FiringRow, SourceRow, TriggerRow } from './trigger.ts'
import type { UsageRow } from './usage.ts'
import type { VectorCollectionRow, VectorRow } from './vector.ts'
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
  readonly usage: UsageRow
  readonly artifacts: ArtifactRow
  readonly pins: PinRow
  readonly memory: MemoryRow
  readonly core: CoreRow
  readonly state: StateRow
  readonly snapshots: SnapshotRow
  readonly canvases: CanvasRow
  readonly canvas_snapshots: CanvasSnapshotRow
  readonly vector_collections: VectorCollectionRow
  readonly vectors: VectorRow
  readonly threads: ThreadRow
  readonly messages: MessageRow
  readonly session_heads: HeadRow
  readonly graph_nodes: GraphNodeRow
  readonly turns: TurnRow
  readonly attachments: AttachmentRow
}

/** Fails to compile while a table has no row type above. */
type OfEveryTable<Rows extends Readonly<Record<TableName, object>>> = Rows

/** The row type of a table; any `Body` if the compiler does not know the table. */
export type RowOf<T extends TableName> = TableName extends T ? Body : OfEveryTable<RowTypes>[T]

/** A user-chosen key and the row that holds it. */
export interface NameRow {
  readonly target: Id
}
