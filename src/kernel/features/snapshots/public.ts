// The types of this feature that users see.

export type { ExecutionSnapshot, SnapshotOptions, SnapshotSummary, Snapshots } from './snapshots.ts'
