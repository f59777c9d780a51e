// The jobs of a simulated year: every way to miss and to overlap in each of six zones, by line, interval and instant, some with jitter; and
// for each of them the times at which it is due, found without the calculator of the store.

import type { ScheduleOptions } from '../../src/kernel/features/cron/schedule.ts'
import type { JobOptions } from '../../src/kernel/features/cron/set-job.ts'
import type { Missed, Overlap } from '../../src/model/job.ts'
import { oracleTimes, type Walls, wallsOf } from './cron-oracle.ts'
import { Chance } from './cron-year-chance.ts'

export const MINUTE = 60_000
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR
const QUARTER = 15 * MINUTE
// Periods that are made up for may begin before anything else does.
const BEFORE = 3 * DAY

/** Their clocks are moved by an hour, by half an hour and by two, in the night and around midnight, in the north, in the south, and for Ramadan. */
export const ZONES = [
  'Europe/Paris',
  'America/New_York',
  'Australia/Lord_Howe',
  'Africa/Casablanca',
  'Antarctica/Troll',
  'America/Nuuk',
] as const

export const TENANTS = ['main', 'acme'] as const

const OVERLAPS: readonly Overlap[] = ['forbid', 'queueOne', 'replace', 'allow']
const MISSED: readonly Missed[] = ['skip', 'once', 'all']

interface Policy {
  readonly overlap: Overlap
  readonly missed: Missed
}

const POLICIES: readonly Policy[] = OVERLAPS.flatMap((overlap) => MISSED.map((missed) => ({ overlap, missed })))

export interface PlannedJob {
  readonly name: string
  readonly tenant: (typeof TENANTS)[number]
  readonly options: JobOptions & Policy
  readonly catchUpMs?: number
  readonly jitterMs: number
  /** Where each time is counted from the end of the one before. */
  readonly finishMs?: number
  /** All of its times, in order. */
  readonly times: readonly number[]
}

// Where the clocks are moved, it is the hours of the night that go wrong.
const LINES = [
  ...['30 2 * * *', '0 9 * * 1-5', '15 0-3 * * 0', '30 23 * * 6,0', '0 3 * * 0,6', '0 */6 * * 6', '0 0 1,15 * *', '59 23 L * *'],
  ...['30 2 * 2-4,10,11 *', '0 0 * 3,10 *', '*/20 1-3 * 3,4,10,11 0', '0 * * 3,10 0', '30 1,2,3 * 2-4,9-11 0', '30 22-23 * 3,10 *'],
  ...['30 1 * * SUN#L', '15 30 2 * 3,10 *', '0 2 25-31 3,10 *', '45 0,1 * 2,4,11 6,0'],
]
const INTERVALS = [13 * HOUR, 17 * HOUR + 7 * MINUTE, DAY, 45 * HOUR, 7 * DAY]

/** How the wall clocks of a zone are found; a control takes another way. */
export type WallClocks = (zone: string, from: number, until: number, step: number) => Walls

export interface PlanOptions {
  readonly seed: number
  readonly from: number
  readonly until: number
  /** One in so many of all the jobs there could be; which ones follows from the seed, and seeds in a row have all of them. */
  readonly share: number
  readonly walls?: WallClocks
}

export function planJobs({ seed, from, until, share, walls = wallsOf }: PlanOptions): readonly PlannedJob[] {
  const chance = new Chance(seed)
  const shown = new Map<string, Walls>()
  const wallsIn = (zone: string, step: number): Walls => {
    const found = shown.get(`${zone} ${step}`) ?? walls(zone, floor(from) - BEFORE, floor(until) + QUARTER, step)
    shown.set(`${zone} ${step}`, found)
    return found
  }
  const jobs: PlannedJob[] = []
  const add = (name: string, policy: Policy, schedule: ScheduleOptions, times: readonly number[], finishMs?: number): void => {
    const jitterMs = chance.happens(0.3) ? chance.pick([5000, 10 * MINUTE, 2 * HOUR]) : 0
    const catchUpMs = catchUpFor(policy, chance)
    jobs.push({
      name: `${name} ${policy.overlap} ${policy.missed}`,
      tenant: chance.pick(TENANTS),
      options: {
        ...policy,
        ...schedule,
        queue: 'q',
        attempts: 3,
        backoff: '1m',
        ...(jitterMs > 0 && { jitter: jitterMs }),
        ...(catchUpMs !== undefined && { catchUp: catchUpMs }),
      },
      jitterMs,
      times,
      ...(catchUpMs !== undefined && { catchUpMs }),
      ...(finishMs !== undefined && { finishMs }),
    })
  }
  const chosen = (shift: number): readonly Policy[] => POLICIES.filter((_, i) => (i + shift + seed) % share === 0)

  for (const [i, zone] of ZONES.entries()) {
    const lines = chance.shuffled(LINES)
    for (const policy of chosen(i)) {
      const cron = lines.pop() as string
      // Seconds are quarters of a minute here.
      const step = cron.split(' ').length === 6 ? MINUTE / 4 : MINUTE
      add(`${cron} in ${zone}`, policy, { cron, zone }, oracleTimes(cron, wallsIn(zone, step)))
    }
  }
  for (const policy of chosen(0)) {
    const every = chance.pick(INTERVALS)
    const anchor = chance.happens(0.5) ? from + chance.between(-2 * DAY, 2 * DAY) : undefined
    add(
      `every ${every} ms`,
      policy,
      { every, ...(anchor !== undefined && { anchor }) },
      gridTimes(every, anchor ?? 0, from - BEFORE, until),
    )
    const after = chance.pick(INTERVALS)
    add(`${after} ms after`, policy, { every: after, from: 'finish' }, [], after)
    // Some have passed when they are set.
    const at = chance.between(from - DAY, until)
    add(`once at ${at}`, policy, { at }, [at])
  }
  return jobs
}

function catchUpFor({ missed }: Policy, chance: Chance): number | undefined {
  if (missed === 'all') return chance.pick([DAY, DAY, 3 * HOUR, 4 * DAY])
  return missed === 'once' && chance.happens(0.3) ? 5 * HOUR : undefined
}

function gridTimes(every: number, anchor: number, from: number, until: number): readonly number[] {
  const times: number[] = []
  for (let time = anchor; time <= until; time += every) if (time >= from) times.push(time)
  return times
}

const floor = (instant: number): number => instant - (instant % QUARTER)

/** Wall clocks that are never moved: what somebody sees who forgot about summer. */
export const withoutSummer: WallClocks = (zone, from, until, step) => {
  const { shown } = wallsOf(zone, from, from + QUARTER, step)
  const offset = (shown[0] as number) - from
  return { from, step, shown: Float64Array.from({ length: (until - from) / step }, (_, i) => from + i * step + offset) }
}
