// The holder of a lease or of a claim: who may write under it right now.

export interface LeaseHolder {
  readonly owner: string
  readonly fence: number
  /** When the lease ends, in store time, renewals included. */
  readonly until: number
  /** The lease has expired, or its process is provably gone: another node may take over. */
  readonly lapsed: boolean
  /** The store time now. */
  readonly now: number
}
