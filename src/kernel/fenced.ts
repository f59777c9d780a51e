// The handles that hold a fence: a write under one is refused once a newer holder exists.

import type { SessionLease } from './features/leases/session-lease.ts'
import type { Run } from './features/runs/program/run-calls.ts'
import type { Claim } from './features/work/claim.ts'

export type Fenced = Claim | Run | SessionLease
