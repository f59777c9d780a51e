// Every feature of a store, one line each. Hooks run in this order.

import { approvals } from './approvals/feature.ts'
import { artifacts } from './artifacts/feature.ts'
import { attachments } from './attachments/feature.ts'
import { audit } from './audit/feature.ts'
import { canvases } from './canvas/feature.ts'
import { cron } from './cron/feature.ts'
import type { RunMembersOf, SessionMembersOf, StoreMembersOf } from './feature.ts'
import { graph } from './graph/feature.ts'
import { inputs } from './inputs/feature.ts'
import { leases } from './leases/feature.ts'
import { memory } from './memory/feature.ts'
import { processes } from './processes/feature.ts'
import { runs } from './runs/feature.ts'
import { sessions } from './sessions/feature.ts'
import { snapshots } from './snapshots/feature.ts'
import { keyValues } from './state/feature.ts'
import { threads } from './threads/feature.ts'
import { triggers } from './triggers/feature.ts'
import { turns } from './turns/feature.ts'
import { usage } from './usage/feature.ts'
import { values } from './values/feature.ts'
import { vectors } from './vectors/feature.ts'
import { queues } from './work/feature.ts'

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
