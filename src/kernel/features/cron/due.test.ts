// What starts now and what was missed, against a model that lists every occurrence and looks at each.

import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JobPolicy, Schedule } from '../../../model/job.ts'
import { limits } from '../../../model/limits.ts'
import { beginsAfter, type Due, dueTimes } from './due.ts'
import { type Chance, chanceOf, firesAt } from './jitter.ts'
import { type PolicyOptions, takePolicy } from './policy.ts'
import { nextAfter, takeSchedule, timesBetween } from './schedule.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const never: Chance = () => 0
const chance = chanceOf({ sha256: (bytes) => createHash('sha256').update(bytes).digest() }, 'job')
const at = (text: string): number => Date.parse(text)
const due = (schedule: Schedule, policy: PolicyOptions, through: number, now: number): Due =>
  dueTimes(schedule, takePolicy(policy), through, now, never)
const hourly = takeSchedule({ every: '1h' })

describe('in ordinary times', () => {
  it('nothing is due before its time, and one occurrence at it', () => {
    expect(due(hourly, {}, 0, HOUR - 1)).toEqual({ start: [], through: 0, next: HOUR, at: HOUR })
    expect(due(hourly, {}, 0, HOUR)).toEqual({ start: [HOUR], through: HOUR, next: 2 * HOUR, at: 2 * HOUR })
  })

  it.each(['skip', 'once', 'all'])('an occurrence that is seen a little late starts, with missed: %s', (missed) => {
    expect(due(hourly, { missed }, 0, HOUR + limits.missedGraceMs).start).toEqual([HOUR])
  })

  it.each(['skip', 'once', 'all'])(
    'of a job that is due every second none is left out because somebody looks every few, with missed: %s',
    (missed) => {
      expect(due(takeSchedule({ every: '1s' }), { missed }, 10_000, 14_500)).toMatchObject({
        start: [11_000, 12_000, 13_000, 14_000],
        through: 14_000,
      })
    },
  )

  it('an instant is due once, and then nothing is', () => {
    const schedule = takeSchedule({ at: 5000 })
    const first = due(schedule, {}, beginsAfter(schedule, 1000), 5000)
    expect(first).toEqual({ start: [5000], through: 5000 })
    expect(due(schedule, {}, first.through, 6000)).toEqual({ start: [], through: 5000 })
  })

  it('an instant that has passed when it is set starts at once, or is told as missed', () => {
    const schedule = takeSchedule({ at: 5000 })
    const through = beginsAfter(schedule, DAY)
    expect(due(schedule, {}, through, DAY)).toEqual({ start: [5000], through: 5000 })
    expect(due(schedule, { missed: 'skip' }, through, DAY)).toEqual({
      start: [],
      missed: { first: 5000, last: 5000, count: 1 },
      through: 5000,
    })
  })
})

describe('after a downtime of four hours and a half', () => {
  const now = 4.5 * HOUR

  it('after a downtime, missed: skip leaves out what is late', () => {
    expect(due(hourly, { missed: 'skip' }, 0, now)).toEqual({
      start: [],
      missed: { first: HOUR, last: 4 * HOUR, count: 4 },
      through: 4 * HOUR,
      next: 5 * HOUR,
      at: 5 * HOUR,
    })
  })

  it('after a downtime, missed: once starts the latest', () => {
    expect(due(hourly, { missed: 'once' }, 0, now)).toMatchObject({
      start: [4 * HOUR],
      missed: { first: HOUR, last: 3 * HOUR, count: 3 },
      through: 4 * HOUR,
    })
  })

  it('after a downtime, missed: once starts none when one is in time, which makes up for them', () => {
    expect(due(hourly, { missed: 'once' }, 0, 4 * HOUR)).toMatchObject({
      start: [4 * HOUR],
      missed: { first: HOUR, last: 3 * HOUR, count: 3 },
    })
  })

  it('after a downtime, missed: once starts none that is later than catchUp', () => {
    expect(due(hourly, { missed: 'once', catchUp: '20m' }, 0, now)).toMatchObject({ start: [], missed: { count: 4 }, through: 4 * HOUR })
  })

  it('after a downtime, missed: all starts those within catchUp, oldest first', () => {
    expect(due(hourly, { missed: 'all', catchUp: '2h' }, 0, now)).toMatchObject({
      start: [3 * HOUR, 4 * HOUR],
      missed: { first: HOUR, last: 2 * HOUR, count: 2 },
    })
    expect(due(hourly, { missed: 'all' }, 0, now)).toMatchObject({ start: [HOUR, 2 * HOUR, 3 * HOUR, 4 * HOUR], through: 4 * HOUR })
    expect(due(hourly, { missed: 'all' }, 0, now)).not.toHaveProperty('missed')
  })
})

describe('after ten years of downtime of a job that is due every second', () => {
  const now = at('2026-06-01T12:00:00.500Z')
  const through = now - 3650 * DAY
  const schedule = takeSchedule({ cron: '* * * * * *', zone: 'Europe/Paris' })
  const last = Math.floor(now / 1000) * 1000

  it('missed occurrences are one range, counted up to a limit', () => {
    const { missed } = due(schedule, { missed: 'skip' }, through, now)
    expect(missed).toEqual({
      first: Math.ceil(through / 1000) * 1000,
      last: last - limits.missedGraceMs,
      count: limits.catchUpOccurrences,
      more: true,
    })
  })

  it('after ten years of downtime, missed: all starts a bounded number, the latest ones, some at a time', () => {
    const started: number[] = []
    let state = due(schedule, { missed: 'all', catchUp: '3650d' }, through, now)
    expect(state.missed).toMatchObject({ last: last - limits.catchUpOccurrences * 1000, more: true })
    for (; state.start.length > 0; state = due(schedule, { missed: 'all', catchUp: '3650d' }, state.through, now)) {
      expect(state.start.length).toBeLessThanOrEqual(limits.occurrencesAtOnce)
      started.push(...state.start)
      if (started.length < limits.catchUpOccurrences) expect(state.at).toBeLessThanOrEqual(now)
    }
    expect(started).toEqual(Array.from({ length: limits.catchUpOccurrences }, (_, i) => last - (limits.catchUpOccurrences - 1 - i) * 1000))
    expect(state).toEqual({ start: [], through: last, next: last + 1000, at: last + 1000 })
  })
})

describe('a clock that jumps', () => {
  it('a clock that jumps back finds nothing to do until it has come forward again', () => {
    const { through } = due(hourly, {}, 0, 10 * HOUR)
    for (const now of [9 * HOUR, 5 * HOUR, 10 * HOUR, 11 * HOUR - 1])
      expect(due(hourly, {}, through, now)).toEqual({ start: [], through, next: 11 * HOUR, at: 11 * HOUR })
  })

  it('a clock that jumps forward finds a downtime', () => {
    expect(due(hourly, { missed: 'skip' }, HOUR, 9.5 * HOUR)).toMatchObject({
      start: [],
      missed: { first: 2 * HOUR, last: 9 * HOUR, count: 8 },
    })
  })
})

describe('an interval that is counted from the finish', () => {
  const schedule = takeSchedule({ every: '1h', from: 'finish' })

  it('an interval that is counted from the finish has no next time until the occurrence has finished', () => {
    const begun = due(schedule, {}, 1000, HOUR + 1000)
    expect(begun).toEqual({ start: [HOUR + 1000], through: HOUR + 1000 })
    const finished = HOUR + 9000
    expect(due(schedule, {}, finished, finished)).toEqual({ start: [], through: finished, next: 2 * HOUR + 9000, at: 2 * HOUR + 9000 })
  })

  it('an interval that is counted from the finish starts one after a downtime, or begins anew when it is too late', () => {
    const now = 9.5 * HOUR
    expect(due(schedule, { missed: 'all' }, 0, now)).toEqual({ start: [HOUR], through: HOUR })
    expect(due(schedule, { missed: 'once' }, 0, now)).toEqual({ start: [HOUR], through: HOUR })
    const begun = { start: [], missed: { first: HOUR, last: HOUR, count: 1 }, through: now, next: now + HOUR, at: now + HOUR }
    expect(due(schedule, { missed: 'skip' }, 0, now)).toEqual(begun)
    expect(due(schedule, { missed: 'once', catchUp: '1h' }, 0, now)).toEqual(begun)
  })
})

const schedules = fc.oneof(
  fc.record({ every: fc.integer({ min: 1000, max: 90_000 }), anchor: fc.integer({ min: 0, max: 100_000 }) }).map(takeSchedule),
  fc
    .constantFrom('*/20 * * * * *', '* * * * *', '*/7 * * * *', '13,14,50 5 2,3 * * *')
    .map((cron) => takeSchedule({ cron, zone: 'Europe/Paris' })),
  fc.integer({ min: 0, max: 2_000_000 }).map((offset) => takeSchedule({ at: START + offset })),
)
// A quarter of an hour before Paris sets its clocks back.
const START = at('2025-10-26T00:45:00Z')
const policies = fc
  .record({
    missed: fc.constantFrom('once', 'all'),
    catchUp: fc.integer({ min: 0, max: 300_000 }),
    jitter: fc.constantFrom(0, 500, 10_000, HOUR),
  })
  .chain((options) => fc.constantFrom(options, { missed: 'skip', jitter: options.jitter }))
  .map(takePolicy)

/** Looks at every single occurrence. */
function model(
  schedule: Schedule,
  policy: JobPolicy,
  through: number,
  now: number,
): Pick<Due, 'start' | 'through'> & { readonly missed: readonly number[] } {
  const fires = (time: number) => firesAt(schedule, policy, time, chance)
  const come = timesBetween(schedule, through, now, Number.POSITIVE_INFINITY).filter((time) => fires(time) <= now)
  const grace = Math.max(policy.missed === 'all' ? (policy.catchUp ?? 0) : 0, limits.missedGraceMs)
  const inTime = come.filter((time) => now - fires(time) <= grace).slice(-limits.catchUpOccurrences)
  const latest = come.at(-1)
  if (policy.missed === 'once' && inTime.length === 0 && latest !== undefined && now - fires(latest) <= (policy.catchUp ?? 0))
    inTime.push(latest)
  const start = inTime.slice(0, limits.occurrencesAtOnce)
  const missed = come.filter((time) => !inTime.includes(time))
  return { start, missed, through: start.at(-1) ?? missed.at(-1) ?? through }
}

describe('whatever the schedule, the policy and the clock', () => {
  it('due occurrences equal those found by looking at each one', () => {
    fc.assert(
      fc.property(
        schedules,
        policies,
        fc.integer({ min: 0, max: 900_000 }),
        fc.integer({ min: -100_000, max: 900_000 }),
        (schedule, policy, from, length) => {
          const [through, now] = [START + from, START + from + length]
          const found = dueTimes(schedule, policy, through, now, chance)
          const { missed, ...expected } = model(schedule, policy, through, now)
          expect(found).toMatchObject(expected)
          expect(found.missed).toEqual(missed.length === 0 ? undefined : { first: missed[0], last: missed.at(-1), count: missed.length })
          expect(found.next).toBe(nextAfter(schedule, found.through))
        },
      ),
      { numRuns: 400 },
    )
  })

  it('each occurrence is started or told as missed, exactly once and in order', () => {
    const moves = fc.array(
      fc.oneof({ weight: 5, arbitrary: fc.integer({ min: 0, max: 40_000 }) }, fc.integer({ min: -200_000, max: 400_000 })),
      { maxLength: 40 },
    )
    fc.assert(
      fc.property(schedules, policies, moves, (schedule, policy, steps) => {
        const begin = beginsAfter(schedule, START)
        const told: number[] = []
        let [through, now] = [begin, START]
        for (const step of steps) {
          now += step
          const found = dueTimes(schedule, policy, through, now, chance)
          if (found.missed) told.push(...timesBetween(schedule, found.missed.first - 1, found.missed.last, Number.POSITIVE_INFINITY))
          for (const time of found.start) expect(firesAt(schedule, policy, time, chance)).toBeLessThanOrEqual(now)
          told.push(...found.start)
          expect(found.through).toBeGreaterThanOrEqual(through)
          through = found.through
        }
        expect(told).toEqual(timesBetween(schedule, begin, through, Number.POSITIVE_INFINITY))
      }),
      { numRuns: 200 },
    )
  })
})

describe('jitter', () => {
  const spread = takePolicy({ jitter: '10m' })

  it('jitter follows from the job and the time alone', () => {
    const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest()
    const [one, same, other] = ['a', 'a', 'b'].map((job) => firesAt(hourly, spread, HOUR, chanceOf({ sha256 }, job)))
    expect(one).toBe(same)
    expect(one).not.toBe(other)
    expect(firesAt(hourly, spread, 2 * HOUR, chanceOf({ sha256 }, 'a')) - HOUR).not.toBe(one)
  })

  it('jitter spreads over the whole of its width', () => {
    const late = Array.from({ length: 1000 }, (_, i) => firesAt(hourly, spread, i * HOUR, chance) - i * HOUR)
    expect(Math.min(...late)).toBeLessThan(10_000)
    expect(Math.max(...late)).toBeGreaterThan(590_000)
    expect(Math.max(...late)).toBeLessThan(600_000)
  })

  it('jitter never lets one occurrence overtake or meet another', () => {
    const almost: Chance = (time) => (time % 2000 === 0 ? 1 - 2 ** -48 : 0)
    for (const policy of [takePolicy({ jitter: '1h' }), takePolicy({ jitter: '2s' })]) {
      const fired = timesBetween(takeSchedule({ every: '1s' }), 0, 20_000, 99).map((time) =>
        firesAt(takeSchedule({ every: '1s' }), policy, time, almost),
      )
      expect(fired.every((time, i) => i === 0 || time > (fired[i - 1] as number))).toBe(true)
    }
  })

  it('jitter keeps an occurrence from being due, and from being missed, until its moment', () => {
    const half: Chance = () => 0.5
    const policy = takePolicy({ jitter: '10m', missed: 'skip' })
    expect(dueTimes(hourly, policy, 0, HOUR + 299_999, half)).toEqual({ start: [], through: 0, next: HOUR, at: HOUR + 300_000 })
    expect(dueTimes(hourly, policy, 0, HOUR + 300_000, half)).toMatchObject({
      start: [HOUR],
      through: HOUR,
      next: 2 * HOUR,
      at: 2 * HOUR + 300_000,
    })
  })
})
