// Agent processes: long-lived children of agents, registered once, heard in order, ended once.

import type { Feature } from '../../feature.ts'
import { grant } from './grant-decider.ts'
import { type LeavingReport, leaveProcesses } from './on-session-deleted.ts'
import { processDecider } from './process-decider.ts'
import { processEvent } from './process-event-decider.ts'
import { type ProcessRegistry, processesOf } from './registry.ts'

export interface ProcessStore {
  /** Long-lived children of agents. */
  readonly processes: ProcessRegistry
}

export const processes: Feature<ProcessStore, object, object, { readonly processes: LeavingReport }> = {
  name: 'processes',
  deciders: [processDecider, processEvent, grant],
  refs: 'inputs, events and results are JSON or { digest, bytes }',
  onForked: 'a fork has no handles on processes until it is granted some',
  // The node that runs a process ends it together with its item, so nothing follows the item.
  follows: { process: async () => [] },
  onSessionDeleted: async (scope, session) => ({ processes: await leaveProcesses(scope, session) }),
  store: (scope, only) => ({ processes: processesOf(scope, only) }),
}
