// Computes what is due of a schedule: which occurrences start now, which were missed, and when to look again. An occurrence is known by
// its scheduled time. `through` is the time up to which everything is decided, and it only grows. A clock that is set back therefore
// starts nothing twice, and a clock that is set forward looks like a downtime.

import type { JobPolicy, MissedRange, Schedule } from '../../../model/job.ts'
import { limits } from '../../../model/limits.ts'
import { type Chance, firesAt } from './jitter.ts'
import { latestBetween, nextAfter, timesBetween } from './schedule.ts'

export interface Due {
  /** Scheduled times of the occurrences to start, oldest first, all of them later than those that were missed. */
  readonly start: readonly number[]
  readonly missed?: MissedRange
  /** Every occurrence after the old and up to this `through` is in `start` or in `missed`. */
  readonly through: number
  /** The next occurrence; absent when none will come, and after one of an interval that is counted from its finish. */
  readonly next?: number
  /** When to ask again: at the next occurrence plus its jitter, or now when more is due than one commit starts. */
  readonly at?: number
}

/** The time from which a schedule that is set now is counted. No earlier time belongs to the job, except a single instant in the past. */
export const beginsAfter = (schedule: Schedule, now: number): number => (schedule.kind === 'at' ? Math.min(schedule.at - 1, now) : now)

export function dueTimes(schedule: Schedule, policy: JobPolicy, through: number, now: number, chance: Chance): Due {
  if (schedule.kind === 'every' && schedule.from === 'finish') return dueAfterFinish(schedule, policy, through, now, chance)
  const fires = (time: number): number => firesAt(schedule, policy, time, chance)
  const last = latestDue(schedule, through, now, fires)
  if (last === undefined) return told(schedule, policy, { start: [], through }, chance)

  const oldest = now - (policy.missed === 'all' ? windowOf(policy) : limits.missedGraceMs)
  let edge = edgeBefore(schedule, through, Math.min(oldest, last), fires, oldest)
  if (policy.missed === 'all') edge = edgeOfLatest(schedule, edge, last, limits.catchUpOccurrences)
  if (policy.missed === 'once' && edge >= last && fires(last) >= now - windowOf(policy)) edge = last - 1

  const start = timesBetween(schedule, edge, last, limits.occurrencesAtOnce)
  const missed = rangeOf(schedule, through, edge)
  return told(schedule, policy, { start, ...(missed && { missed }), through: start.at(-1) ?? missed?.last ?? through }, chance)
}

/** Starts one occurrence per look. After a missed one the interval begins again, because nothing will finish. */
function dueAfterFinish(schedule: Schedule, policy: JobPolicy, through: number, now: number, chance: Chance): Due {
  const time = nextAfter(schedule, through) as number
  const late = now - firesAt(schedule, policy, time, chance)
  if (late < 0) return told(schedule, policy, { start: [], through }, chance)
  if (late <= (policy.missed === 'skip' ? limits.missedGraceMs : windowOf(policy))) return { start: [time], through: time }
  return told(schedule, policy, { start: [], missed: { first: time, last: time, count: 1 }, through: now }, chance)
}

/** How late an occurrence still counts as on time. The failover of a node is not a downtime. */
const windowOf = ({ catchUp = Number.POSITIVE_INFINITY }: JobPolicy): number => Math.max(catchUp, limits.missedGraceMs)

/** The latest occurrence whose moment has come. Jitter ends before the next one, so at most one is scheduled and not yet due. */
function latestDue(schedule: Schedule, through: number, now: number, fires: (time: number) => number): number | undefined {
  const latest = latestBetween(schedule, through, now)
  return latest === undefined || fires(latest) <= now ? latest : latestBetween(schedule, through, latest - 1)
}

/** The edge after which occurrences fire at `oldest` or later: those scheduled since then, and perhaps one that its jitter delays. */
function edgeBefore(schedule: Schedule, through: number, until: number, fires: (time: number) => number, oldest: number): number {
  const earlier = latestBetween(schedule, through, until)
  if (earlier === undefined) return through
  return fires(earlier) >= oldest ? earlier - 1 : earlier
}

/** The edge after which at most `most` of the times up to `last` lie. Searches from the end by doubling, then by halving, so that few times are counted twice. */
function edgeOfLatest(schedule: Schedule, edge: number, last: number, most: number): number {
  let over: number | undefined
  let within = last
  let left = most
  for (let span = most * limits.everyLeastMs; within > edge && left > 0; ) {
    const probe = over === undefined ? Math.max(edge, within - span) : over + Math.floor((within - over) / 2)
    if (probe === over) break
    const count = timesBetween(schedule, probe, within, left + 1).length
    if (count > left) over = probe
    else {
      within = probe
      left -= count
      span *= 2
    }
  }
  return within
}

function rangeOf(schedule: Schedule, after: number, until: number): MissedRange | undefined {
  const last = latestBetween(schedule, after, until)
  if (last === undefined) return undefined
  const counted = timesBetween(schedule, after, last, limits.catchUpOccurrences)
  const more = counted.at(-1) !== last
  return { first: counted[0] as number, last, count: counted.length, ...(more && { more }) }
}

function told(schedule: Schedule, policy: JobPolicy, due: Omit<Due, 'next' | 'at'>, chance: Chance): Due {
  const next = nextAfter(schedule, due.through)
  return next === undefined ? due : { ...due, next, at: firesAt(schedule, policy, next, chance) }
}
