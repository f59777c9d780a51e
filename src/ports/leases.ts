// End times of leases and claims, in store time. Taking one is a commit, so that its fence is recorded. Renewing it is not, and is safe to
// lose. Any node may take an expired lease; the former holder learns it from the fence.

import type { TenantId } from '../model/ids.ts'

/** Tables whose rows are held under a fence: leases of sessions and runs, and claims of work items. They share no ids. */
export type HeldTable = 'leases' | 'work'

export interface Lease {
  readonly id: string
  /** The seq of the event that granted it to the caller. */
  readonly fence: number
}

export interface LeaseTime extends Lease {
  /** The newest fence, which may differ from the one in the request; 0 if there never was a holder. */
  readonly fence: number
  /** Store time until which the holder of that fence has renewed; 0 if it never did. */
  readonly until: number
}

export interface LeaseTimes {
  /** Store time: compare `until` with this and with no other clock. */
  readonly now: number
  /** In the order of the request. */
  readonly leases: readonly LeaseTime[]
}

export interface Leases {
  /** Extends the leases to `ms` milliseconds from now. A fence that is not the newest changes nothing: a lost lease is not revived. */
  renew(tenant: TenantId, leases: readonly Lease[], ms: number, of?: HeldTable): Promise<LeaseTimes>
  read(tenant: TenantId, ids: readonly string[], of?: HeldTable): Promise<LeaseTimes>
}
