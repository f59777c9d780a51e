// A refused write or denied request, as the audit keeps it. It stands beside the journal: outside the hash chain, and without a payload.

import type { ErrorCode } from './errors.ts'

export interface Refusal {
  readonly id: string
  /** Store time. Of a row that counts several refusals, the time of the last one. */
  readonly at: number
  readonly code: ErrorCode
  /** Empty if the caller gave none, and where the refusing part does not know it: reads of a closed tenant, and counted refusals. */
  readonly actor: string
  /** The thing the caller asked for: a table such as `sessions` or `work`, `events`, or the call. Empty for counted refusals. */
  readonly noun: string
  /** The id of what the caller asked for, if it has one. */
  readonly subject: string
  /** 1, or how many refusals this row counts that came too fast to be kept one by one. */
  readonly count: number
}
