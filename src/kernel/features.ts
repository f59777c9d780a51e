// Every feature of a store, one line each. Hooks run in this order.

import type { DeletionOf, RunMembersOf, SessionMembersOf, StoreMembersOf } from './feature.ts'
import { approvals } from './features/approvals/feature.ts'
import { artifacts } from './features/artifacts/feature.ts'
import { attachments } from './features/attachments/feature.ts'
import { audit } from './features/audit/feature.ts'
import { canvases } from './features/canvas/feature.ts'
import { cron } from './features/cron/feature.ts'
import { graph } from './features/graph/feature.ts'
import { inputs } from './features/inputs/feature.ts'
import { leases } from './features/leases/feature.ts'
import { memory } from './features/memory/feature.ts'
import { processes } from './features/processes/feature.ts'
import { runs } from './features/runs/feature.ts'
import { sessions } from './features/sessions/feature.ts'
import { snapshots } from './features/snapshots/feature.ts'
import { keyValues } from './features/state/feature.ts'
import { threads } from './features/threads/feature.ts'
import { triggers } from './features/triggers/feature.ts'
import { turns } from './features/turns/feature.ts'
import { usage } from './features/usage/feature.ts'
import { values } from './features/values/feature.ts'
import { vectors } from './features/vectors/feature.ts'
import { queues } from './features/work/feature.ts'

export const features = [
  queues,
  leases,
  sessions,
  usage,
  runs,
  approvals,
  cron,
  triggers,
  inputs,
  processes,
  values,
  keyValues,
  threads,
  snapshots,
  artifacts,
  canvases,
  vectors,
  memory,
  audit,
  attachments,
  graph,
  turns,
] as const

/** The members that the features add to a store, to a session and to a run. */
export type StoreMembers = StoreMembersOf<(typeof features)[number]>
export type SessionMembers = SessionMembersOf<(typeof features)[number]>
export type RunMembers = RunMembersOf<(typeof features)[number]>
/** The members that the features add to the report of a deleted session. */
export type Deletion = DeletionOf<(typeof features)[number]>
