// Until when leases and claims are held, in store time. Taking one is a commit, so that its fence is a fact; holding on to it is not, and is safe
// to lose. Whoever finds that a lease has run out may take it; whoever lost one learns it from the fence.

import type { TenantId } from '../model/ids.ts'

/** The tables whose rows are held under a fence: leases of sessions and runs, and claims of work items. They share no ids. */
export type HeldTable = 'leases' | 'work'

export interface Lease {
  readonly id: string
  /** The seq of the event that granted it to whoever asks. */
  readonly fence: number
}

export interface LeaseTime extends Lease {
  /** The newest fence, which need not be the one that was asked for; 0 where nobody ever held it. */
  readonly fence: number
  /** How long the holder of that fence holds on, in store time; 0 when it has never said so. */
  readonly until: number
}

export interface LeaseTimes {
  /** Store time: `until` is compared with this and with no other clock. */
  readonly now: number
  /** In the order asked. */
  readonly leases: readonly LeaseTime[]
}

export interface Leases {
  /** Holds on for so many milliseconds from now. A fence that is not the newest changes nothing: what is lost is not revived. */
  renew(tenant: TenantId, leases: readonly Lease[], ms: number, of?: HeldTable): Promise<LeaseTimes>
  read(tenant: TenantId, ids: readonly string[], of?: HeldTable): Promise<LeaseTimes>
}
