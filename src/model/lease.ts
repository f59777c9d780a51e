// A lease is the exclusive right to write for a session, or for a run that has its own. The fence grows with every holder.

export interface LeaseRow {
  readonly owner: string
  /** One for each time a store was opened: the same owner, started again, is somebody else. */
  readonly incarnation: string
  /** Where its process can be looked for, to see whether it is still there. */
  readonly mark?: { readonly host: string; readonly boot: string; readonly pid: number; readonly started: string } | undefined
  readonly state: 'held' | 'released'
  /** In store time, as it was taken; renewals reach further. */
  readonly until: number
}
