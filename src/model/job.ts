// A job is a schedule with something to do at each of its times; an occurrence is one of those times and what came of it.

import type { Id } from './ids.ts'
import type { ErrorData, Stored } from './run.ts'
import type { WorkRow } from './work.ts'

export type JobId = Id<'job'>
export type OccurrenceId = Id<'occurrence'>

/** When: as it is stored, with every default filled in. All instants are Unix milliseconds. */
export type Schedule =
  /** The wall clock of a zone: a line of five fields, or six with seconds first. */
  | { readonly kind: 'cron'; readonly cron: string; readonly zone: string }
  /** Every so many milliseconds: from scheduled time to scheduled time, on a grid that begins with the anchor. */
  | { readonly kind: 'every'; readonly every: number; readonly from: 'start'; readonly anchor: number }
  /** The same, from the end of one to the beginning of the next. The anchor is the earliest first time. */
  | { readonly kind: 'every'; readonly every: number; readonly from: 'finish'; readonly anchor?: number }
  /** Once. */
  | { readonly kind: 'at'; readonly at: number }

/** What to do when an occurrence is due while the one before it still runs. */
export type Overlap = 'forbid' | 'replace' | 'queueOne' | 'allow'

/** What to do about occurrences that nobody was there to start. */
export type Missed = 'skip' | 'once' | 'all'

export interface JobPolicy {
  readonly overlap: Overlap
  readonly missed: Missed
  /** How late a missed occurrence may still start, in milliseconds. Absent: however late. */
  readonly catchUp?: number
  /** At most so many milliseconds after its time does an occurrence start; the same for everybody who asks. */
  readonly jitter: number
}

/** Occurrences that were not started, from the first to the last. */
export interface MissedRange {
  readonly first: number
  readonly last: number
  readonly count: number
  /** There are more than were counted. */
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
  /** How its items are offered. */
  readonly offer: Pick<WorkRow, 'priority' | 'group' | 'series' | 'attempts' | 'backoff'>
  /** Paused by itself after so many failures in a row. */
  readonly pauseAfter?: number | undefined
  /** In a row, until one succeeds. */
  readonly failures: number
  /** The occurrence that nothing may overlap with; not kept where everything may. */
  readonly running?: OccurrenceAt | undefined
  /** The one that begins when that has ended. */
  readonly waiting?: OccurrenceAt | undefined
  /** Why it is paused. */
  readonly reason?: string | undefined
  /** Every occurrence up to and including this time has been decided. It only grows, so no clock can make one happen twice. */
  readonly through: number
  /** The next occurrence; absent while none is known, or none will come. */
  readonly next?: number | undefined
  /** When somebody has to look: the next occurrence with its jitter. */
  readonly at?: number | undefined
  readonly setAt: number
  readonly changedAt: number
}

export type OccurrenceState = 'waiting' | 'running' | 'done' | 'failed' | 'cancelled' | 'skipped' | 'missed'

export interface OccurrenceRow {
  readonly id: OccurrenceId
  readonly job: JobId
  /** Its scheduled time, without jitter: with the job, its identity. */
  readonly due: number
  readonly cause: 'schedule' | 'backfill' | 'hand'
  readonly state: OccurrenceState
  /** The last time of a range that was missed; `due` is the first. */
  readonly last?: number | undefined
  readonly count?: number | undefined
  readonly attempt: number
  readonly startedAt?: number | undefined
  readonly finishedAt?: number | undefined
  /** Why it failed, or was left out. */
  readonly error?: ErrorData | undefined
}
