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
}
