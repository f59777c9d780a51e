// A worker as the table `workers` keeps it: what a working process handles, and until when it counts as live. It stands beside the journal,
// and is safe to lose: the process writes it again.

export interface WorkerData {
  /** One for each call of `work`. */
  readonly id: string
  /** The version of this package that the process runs. */
  readonly version: string
  /** The queues that it takes items from; runs and processes have queues of their own. */
  readonly queues: readonly string[]
}

export interface WorkerRow extends WorkerData {
  /** Store time of its last renewal. */
  readonly at: number
  /** Store time until which it counts as live without another renewal. It is `at` once the worker was closed. */
  readonly until: number
}
