// A job is a schedule with something to do at each of its times. An occurrence is one of those times and its outcome.

import type { Id } from './ids.ts'
import type { ErrorData, Stored } from './run.ts'
import type { WorkRow } from './work.ts'

export type JobId = Id<'job'>
export type OccurrenceId = Id<'occurrence'>

/** A schedule as it is stored, with every default filled in. All instants are Unix milliseconds. */
export type Schedule =
  /** By the wall clock of a time zone: a cron line of five fields, or six with seconds first. */
  | { readonly kind: 'cron'; readonly cron: string; readonly zone: string }
  /** At a fixed interval in milliseconds between scheduled times, on a grid that begins at the anchor. */
  | { readonly kind: 'every'; readonly every: number; readonly from: 'start'; readonly anchor: number }
  /** At a fixed interval in milliseconds from the end of one occurrence to the start of the next. The anchor is the earliest first time. */
  | { readonly kind: 'every'; readonly every: number; readonly from: 'finish'; readonly anchor?: number }
  /** Once. */
  | { readonly kind: 'at'; readonly at: number }

/** The policy for an occurrence that is due while the previous one still runs. */
export type Overlap = 'forbid' | 'replace' | 'queueOne' | 'allow'

/** The policy for occurrences that came due while no scheduler was running. */
export type Missed = 'skip' | 'once' | 'all'

export interface JobPolicy {
  readonly overlap: Overlap
  readonly missed: Missed
  /** The longest delay in milliseconds after which a missed occurrence still starts. Absent: no limit. */
  readonly catchUp?: number
  /** The largest random delay of a start, in milliseconds. Every node computes the same delay for an occurrence. */
  readonly jitter: number
}

/** A range of occurrences that were not started. */
export interface MissedRange {
  readonly first: number
  readonly last: number
  readonly count: number
  /** The range has more occurrences than were counted. */
  readonly more?: true
}

export interface OccurrenceAt {
  readonly id: OccurrenceId
  readonly due: number
}

export type JobState = 'active' | 'paused' | 'over'

export interface JobRow {
  readonly id: JobId
  readonly name: string
  readonly state: JobState
  readonly schedule: Schedule
  readonly policy: JobPolicy
  readonly queue: string
  readonly payload?: Stored | undefined
  /** Options with which its work items are offered. */
  readonly offer: Pick<WorkRow, 'priority' | 'group' | 'series' | 'attempts' | 'backoff'>
  /** Number of failures in a row after which the job is paused automatically. */
  readonly pauseAfter?: number | undefined
  /** Failures in a row; a success resets it to 0. */
  readonly failures: number
  /** The occurrence that no other may overlap; not recorded with `overlap: 'allow'`. */
  readonly running?: OccurrenceAt | undefined
  /** The occurrence that starts when `running` has ended. */
  readonly waiting?: OccurrenceAt | undefined
  /** Why it is paused. */
  readonly reason?: string | undefined
  /** Every occurrence up to and including this time has been decided. It only grows, so no clock step can start one twice. */
  readonly through: number
  /** The next occurrence; absent if none is known or none will come. */
  readonly next?: number | undefined
  /** When the scheduler must look at the job: the next occurrence plus its jitter. */
  readonly at?: number | undefined
  readonly setAt: number
  readonly changedAt: number
}

export type OccurrenceState = 'waiting' | 'running' | 'done' | 'failed' | 'cancelled' | 'skipped' | 'missed'

export interface OccurrenceRow {
  readonly id: OccurrenceId
  readonly job: JobId
  /** Its scheduled time without jitter; job and due time identify the occurrence. */
  readonly due: number
  readonly cause: 'schedule' | 'backfill' | 'hand'
  readonly state: OccurrenceState
  /** The last time of a missed range; `due` is the first. */
  readonly last?: number | undefined
  readonly count?: number | undefined
  readonly attempt: number
  readonly startedAt?: number | undefined
  readonly finishedAt?: number | undefined
  /** Why it failed or was skipped. */
  readonly error?: ErrorData | undefined
}
