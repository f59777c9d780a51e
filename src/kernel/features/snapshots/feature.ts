// Snapshots of executions: state at one point of the journal, and the events after it.

import type { SnapshotRow } from '../../../model/snapshot.ts'
import type { Feature } from '../../feature.ts'
import { snapshot } from './snapshot-decider.ts'
import { clearSession, type Snapshots, storeSnapshots } from './snapshots.ts'

export interface SnapshotStore {
  /** State of executions at one point of their journal. */
  readonly snapshots: Snapshots
}

export const snapshots: Feature<SnapshotStore> = {
  name: 'snapshots',
  deciders: [snapshot],
  refs: { snapshots: ({ ref }: SnapshotRow) => (ref === undefined ? [] : [ref]) },
  onForked: 'a fork shares the events, and saves a snapshot of its own',
  onSessionDeleted: clearSession,
  store: (scope) => ({ snapshots: storeSnapshots(scope) }),
}
