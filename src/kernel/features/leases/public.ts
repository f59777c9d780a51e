// The types of this feature that users see.

export type { LeaseOptions } from './keeper.ts'
export type { LeaseHolder } from './lease-holder.ts'
export type { Displaced, SessionLease, SessionLeaseOptions } from './session-lease.ts'
