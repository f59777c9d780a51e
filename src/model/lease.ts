// A lease is the exclusive right to write for a session, or for a run that has its own. The fence grows with every holder.

export interface LeaseRow {
  readonly owner: string
  /** A new value each time a store is opened, so that a restarted owner counts as a new holder. */
  readonly incarnation: string
  /** Identifies the holder's operating-system process, so that others can check whether it still exists. */
  readonly mark?: { readonly host: string; readonly boot: string; readonly pid: number; readonly started: string } | undefined
  readonly state: 'held' | 'released'
  /** Store time when the lease ends, as first granted; renewals extend it elsewhere. */
  readonly until: number
  /** How long the grant and each renewal last. */
  readonly ttlMs?: number | undefined
  /** The fence of the holder that released it; absent while it is held. */
  readonly lastFence?: number | undefined
}

/** How the previous holder of a lease ended, as the next one found it. */
export interface LeaseEnd {
  /** The holder released it, let it expire, or its operating-system process was proven gone. */
  readonly why: 'released' | 'lapsed' | 'gone'
  /** The fence of that holder. Absent if another process ended the lease, or the event was erased. */
  readonly fence?: number
  /** Store time until which its last renewal, or else the grant, was valid. Absent for a released lease. */
  readonly until?: number
  /** Store time of that renewal, or of the grant if there was none. Absent for a released lease. */
  readonly renewedAt?: number
}
