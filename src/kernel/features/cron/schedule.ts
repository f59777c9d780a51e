// A schedule: a set of instants, in order. Callers pass the instant that they ask about; nothing here reads a clock.

import { InkError, refuse } from '../../../model/errors.ts'
import type { Schedule } from '../../../model/job.ts'
import { limits } from '../../../model/limits.ts'
import { expected, optionsOf } from '../../../model/options.ts'
import { type Duration, milliseconds } from '../../../model/time.ts'
import { takeInstant } from './instant.ts'
import { lineOf, takeLine } from './line.ts'
import { nextOn } from './wall-clock.ts'
import { takeZone } from './zone.ts'

/** Exactly one of `cron`, `every` and `at`. */
export interface ScheduleOptions {
  /** `minute hour day month weekday`, or six fields with seconds first. Sunday is 0 or 7; L, W, # and names are known, and @daily and the like. */
  readonly cron?: string
  /** The IANA zone of the wall clock that the cron line means. The default is UTC. */
  readonly zone?: string
  readonly every?: Duration
  /** The first time of an interval. The default counts from 1970 in UTC, so that setting a job again moves nothing. */
  readonly anchor?: Date | number | string
  /** The start of the next interval: the scheduled time (the default), or the moment at which the last occurrence finished. */
  readonly from?: 'start' | 'finish'
  readonly at?: Date | number | string
}

/** Checks a schedule and returns it as it is stored. */
export function takeSchedule(options: ScheduleOptions): Schedule {
  const given = optionsOf(options, 'schedule')
  const kinds = KINDS.filter((kind) => given[kind] !== undefined)
  if (kinds.length !== 1) throw bad(`expected exactly one of cron, every and at, got ${kinds.length === 0 ? 'none' : kinds.join(' and ')}`)
  const kind = kinds[0] as Schedule['kind']
  for (const [option, of] of Object.entries(BELONGS)) {
    if (given[option as keyof typeof BELONGS] !== undefined && of !== kind)
      throw bad(`${option} can only be used with ${of}, not with ${kind}`)
  }
  if (kind === 'cron') return { kind, cron: takeLine(given.cron), zone: given.zone === undefined ? 'UTC' : takeZone(given.zone) }
  if (kind === 'at') return { kind, at: takeInstant(given.at, 'at') }
  const every = takeInterval(given.every)
  const anchor = given.anchor === undefined ? undefined : takeInstant(given.anchor, 'anchor')
  const { from = 'start' } = given
  if (from === 'start') return { kind, every, from, anchor: anchor ?? 0 }
  if (from === 'finish') return { kind, every, from, ...(anchor !== undefined && { anchor }) }
  throw bad(`from: ${expected("'start' or 'finish'", from)}`)
}

/**
 * The first time strictly after an instant; undefined when there is none. An interval that is counted from the finish has no times of
 * its own: give it the instant at which the last one finished, or the job was set.
 */
export function nextAfter(schedule: Schedule, instant: number): number | undefined {
  switch (schedule.kind) {
    case 'cron':
      return nextOn(lineOf(schedule.cron), schedule.zone, instant)
    case 'at':
      return schedule.at > instant ? schedule.at : undefined
    case 'every': {
      const { every, from, anchor = 0 } = schedule
      if (anchor > instant) return anchor
      return from === 'finish' ? instant + every : anchor + (Math.floor((instant - anchor) / every) + 1) * every
    }
  }
}

/** Such a schedule has no next time until the last occurrence has finished. */
export const isFromFinish = (schedule: Schedule): boolean => schedule.kind === 'every' && schedule.from === 'finish'

/** The times after `after` up to and including `until`, oldest first, and no more than `most` of them. */
export function timesBetween(schedule: Schedule, after: number, until: number, most: number): readonly number[] {
  const times: number[] = []
  for (let time = nextAfter(schedule, after); time !== undefined && time <= until && times.length < most; ) {
    times.push(time)
    time = nextAfter(schedule, time)
  }
  return times
}

/** The last time after `after` up to and including `until`, found by halving. */
export function latestBetween(schedule: Schedule, after: number, until: number): number | undefined {
  const within = (instant: number): number | undefined => {
    const time = nextAfter(schedule, instant)
    return time !== undefined && time <= until ? time : undefined
  }
  let latest = within(after)
  if (latest === undefined) return undefined
  // Nothing lies after `clear`. In most cases nothing lies after the first time either.
  let clear = within(latest) === undefined ? latest : until
  while (latest < clear) {
    const middle: number = latest + Math.floor((clear - latest) / 2)
    const later = within(middle)
    if (later === undefined) clear = middle
    else latest = later
  }
  return latest
}

const KINDS = ['cron', 'every', 'at'] as const
const BELONGS = { zone: 'cron', anchor: 'every', from: 'every' } as const

function takeInterval(given: unknown): number {
  const every = readInterval(given)
  if (every < limits.everyLeastMs) throw bad(`every: ${expected(`at least ${limits.everyLeastMs} ms`, given)}`)
  if (every > limits.everyMostMs) throw bad(`every: ${expected(`at most ${limits.everyMostMs / 86_400_000} days`, given)}`)
  return every
}

function readInterval(given: unknown): number {
  try {
    if (typeof given !== 'number' || Number.isSafeInteger(given)) return milliseconds(given as Duration)
  } catch (error) {
    if (!(error instanceof InkError)) throw error
  }
  throw bad(`every: ${expected("a duration such as '30s', '5m', '2h', '3d' or whole milliseconds", given)}`)
}

const bad = (why: string) => refuse('SCHEDULE_INVALID', { why })
