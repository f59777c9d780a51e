// What may be a schedule, and the times it has.

import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { InkError } from '../../../model/errors.ts'
import { limits } from '../../../model/limits.ts'
import { latestBetween, nextAfter, type ScheduleOptions, takeSchedule, timesBetween } from './schedule.ts'

const at = (text: string): number => Date.parse(text)
const iso = (instant: number | undefined): string | undefined => (instant === undefined ? undefined : new Date(instant).toISOString())

function refusal(call: () => unknown): InkError {
  try {
    call()
  } catch (error) {
    if (error instanceof InkError) return error
    throw error
  }
  throw new Error('it was not refused')
}

describe('a schedule is stored', () => {
  it.each<[ScheduleOptions, object]>([
    [
      { cron: '0 9 * * 1-5', zone: 'Europe/Paris' },
      { kind: 'cron', cron: '0 9 * * 1-5', zone: 'Europe/Paris' },
    ],
    [{ cron: '  0\t9 * *   mon-fri ' }, { kind: 'cron', cron: '0 9 * * MON-FRI', zone: 'UTC' }],
    [
      { cron: '@daily', zone: 'europe/paris' },
      { kind: 'cron', cron: '0 0 * * *', zone: 'Europe/Paris' },
    ],
    [
      { cron: '0 0 ? * 5l', zone: 'Asia/Kolkata' },
      { kind: 'cron', cron: '0 0 * * 5L', zone: 'Asia/Kolkata' },
    ],
    [
      { cron: '*/10 * * * * *', zone: 'utc' },
      { kind: 'cron', cron: '*/10 * * * * *', zone: 'UTC' },
    ],
    [{ every: '15m' }, { kind: 'every', every: 900_000, from: 'start', anchor: 0 }],
    [
      { every: 1000, anchor: 7, from: 'start' },
      { kind: 'every', every: 1000, from: 'start', anchor: 7 },
    ],
    [
      { every: '1d', from: 'finish' },
      { kind: 'every', every: 86_400_000, from: 'finish' },
    ],
    [
      { every: '1h', from: 'finish', anchor: new Date(5) },
      { kind: 'every', every: 3_600_000, from: 'finish', anchor: 5 },
    ],
    [{ at: new Date(1000) }, { kind: 'at', at: 1000 }],
    [{ at: '2026-03-29T09:00:00+02:00' }, { kind: 'at', at: at('2026-03-29T07:00:00Z') }],
    [{ at: '2024-02-29T23:59Z' }, { kind: 'at', at: at('2024-02-29T23:59:00Z') }],
  ])('a schedule is stored as plain JSON with its defaults: %j', (given, stored) => {
    const schedule = takeSchedule(given)
    expect(schedule).toEqual(stored)
    expect(JSON.parse(JSON.stringify(schedule))).toEqual(schedule)
  })
})

describe('a schedule is refused', () => {
  it.each<[ScheduleOptions | unknown, string, string]>([
    [{}, 'SCHEDULE_INVALID', 'got none'],
    [{ cron: '* * * * *', every: '1h' }, 'SCHEDULE_INVALID', 'cron and every'],
    [{ every: '1h', zone: 'UTC' }, 'SCHEDULE_INVALID', 'zone can only be used with cron'],
    [{ at: 1, anchor: 1 }, 'SCHEDULE_INVALID', 'anchor can only be used with every'],
    [{ cron: '* * * * *', from: 'finish' }, 'SCHEDULE_INVALID', 'from can only be used with every'],
    [{ every: '1h', from: 'middle' }, 'SCHEDULE_INVALID', "got 'middle'"],
    [{ cron: '* * * * *', zone: 'Mars/Olympus' }, 'ZONE_UNKNOWN', 'Mars/Olympus'],
    [{ cron: '* * * * *', zone: '+01:00' }, 'ZONE_UNKNOWN', '+01:00'],
    [{ cron: '* * * * *', zone: '' }, 'ZONE_UNKNOWN', "''"],
    [{ cron: '* * * * *', zone: 7 }, 'ZONE_UNKNOWN', 'number'],
    [{ every: 0 }, 'SCHEDULE_INVALID', 'at least 1000 ms, got 0'],
    [{ every: '0s' }, 'SCHEDULE_INVALID', 'at least'],
    [{ every: 999 }, 'SCHEDULE_INVALID', 'at least'],
    [{ every: -5 }, 'SCHEDULE_INVALID', 'got -5'],
    [{ every: '-5m' }, 'SCHEDULE_INVALID', "got '-5m'"],
    [{ every: Number.NaN }, 'SCHEDULE_INVALID', 'NaN'],
    [{ every: Number.POSITIVE_INFINITY }, 'SCHEDULE_INVALID', 'Infinity'],
    [{ every: 1000.5 }, 'SCHEDULE_INVALID', 'whole milliseconds'],
    [{ every: '3651d' }, 'SCHEDULE_INVALID', "at most 3650 days, got '3651d'"],
    [{ every: `${'9'.repeat(400)}d` }, 'SCHEDULE_INVALID', 'expected a duration'],
    [{ every: { ms: 1 } }, 'SCHEDULE_INVALID', 'expected a duration'],
    [{ every: Symbol('soon') }, 'SCHEDULE_INVALID', 'expected a duration'],
    [{ every: '1h', anchor: 'noon' }, 'SCHEDULE_INVALID', 'anchor: expected a Date'],
    [{ at: new Date(Number.NaN) }, 'SCHEDULE_INVALID', 'expected a Date'],
    [{ at: Number.POSITIVE_INFINITY }, 'SCHEDULE_INVALID', 'expected a Date'],
    [{ at: -1 }, 'SCHEDULE_INVALID', 'expected a Date'],
    [{ at: 1.5 }, 'SCHEDULE_INVALID', 'expected a Date'],
    [{ at: '2026-03-29T09:00:00' }, 'SCHEDULE_INVALID', '+02:00'],
    [{ at: '2026-02-30T09:00:00Z' }, 'SCHEDULE_INVALID', 'expected a Date'],
    [{ at: '2026-02-28T25:00:00Z' }, 'SCHEDULE_INVALID', 'expected a Date'],
    [{ at: null }, 'SCHEDULE_INVALID', 'expected a Date'],
    ['* * * * *', 'OPTION_INVALID', 'an object'],
    [null, 'OPTION_INVALID', 'an object'],
  ])('a schedule is refused: %j', (given, code, said) => {
    const error = refusal(() => takeSchedule(given as ScheduleOptions))
    expect(error.code).toBe(code)
    expect(error.message).toContain(said)
  })
})

describe('the next time', () => {
  it('the next time of an interval lies on the grid that begins with its anchor', () => {
    const schedule = takeSchedule({ every: '10m', anchor: at('2026-01-01T00:03:00Z') })
    expect(iso(nextAfter(schedule, at('2020-01-01T00:00:00Z')))).toBe('2026-01-01T00:03:00.000Z')
    expect(iso(nextAfter(schedule, at('2026-01-01T00:03:00Z')))).toBe('2026-01-01T00:13:00.000Z')
    expect(iso(nextAfter(schedule, at('2026-01-01T00:12:59.999Z')))).toBe('2026-01-01T00:13:00.000Z')
  })

  it('the next time of an interval without anchor is a whole number of intervals since 1970', () => {
    expect(iso(nextAfter(takeSchedule({ every: '15m' }), at('2026-01-01T00:07:00Z')))).toBe('2026-01-01T00:15:00.000Z')
  })

  it('the next time of an interval from the finish is counted from the instant that is given', () => {
    const schedule = takeSchedule({ every: '10m', from: 'finish' })
    expect(nextAfter(schedule, 12_345)).toBe(612_345)
    const later = takeSchedule({ every: '10m', from: 'finish', anchor: 5_000_000 })
    expect(nextAfter(later, 12_345)).toBe(5_000_000)
    expect(nextAfter(later, 5_000_000)).toBe(5_600_000)
  })

  it('the next time of an instant is the instant, until it has been', () => {
    const schedule = takeSchedule({ at: 5000 })
    expect(nextAfter(schedule, 4999)).toBe(5000)
    expect(nextAfter(schedule, 5000)).toBeUndefined()
  })

  it('the next time of 29 February on a Monday is found decades ahead', () => {
    const schedule = takeSchedule({ cron: '0 0 29 2 +MON', zone: 'Asia/Tokyo' })
    expect(iso(nextAfter(schedule, at('2072-03-01T00:00:00Z')))).toBe('2112-02-28T15:00:00.000Z')
  })

  it('the next time of a cron line ends with the calendar of the calculator', () => {
    expect(nextAfter(takeSchedule({ cron: '* * * * *' }), Date.UTC(3000, 0, 1))).toBeUndefined()
  })
})

const schedules = fc.oneof(
  fc
    .tuple(
      fc.constantFrom('* * * * * *', '*/15 * * * *', '30 2 * * *', '0 9 * * 1-5', '0 0 L * *', '0 0 29 2 *', '15 1,2 * 3,10 0'),
      fc.constantFrom('UTC', 'Europe/Paris', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Tehran', 'Pacific/Apia'),
    )
    .map(([cron, zone]) => takeSchedule({ cron, zone })),
  fc
    .record({
      every: fc.integer({ min: limits.everyLeastMs, max: 1e9 }),
      anchor: fc.option(fc.integer({ min: 0, max: 2e12 }), { nil: undefined }),
    })
    .map(({ every, anchor }) => takeSchedule({ every, ...(anchor !== undefined && { anchor }) })),
  fc.integer({ min: 0, max: 4e12 }).map((instant) => takeSchedule({ at: instant })),
)
const instants = fc.integer({ min: 0, max: 4e12 })

describe('whatever the schedule', () => {
  it('the next time is strictly later, and there is none between', () => {
    fc.assert(
      fc.property(schedules, instants, fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), (schedule, instant, part) => {
        const next = nextAfter(schedule, instant)
        if (next === undefined) return
        expect(next).toBeGreaterThan(instant)
        expect(nextAfter(schedule, instant + Math.floor((next - instant) * part))).toBe(next)
        expect(nextAfter(schedule, next - 1)).toBe(next)
      }),
    )
  })

  it('the latest time of a range is the last that is listed', () => {
    fc.assert(
      fc.property(schedules, instants, fc.integer({ min: -5000, max: 3_000_000 }), (schedule, after, length) => {
        const listed = timesBetween(schedule, after, after + length, 4000)
        expect(latestBetween(schedule, after, after + length)).toBe(listed.at(-1))
      }),
    )
  })

  it('a list is as long as it may be', () => {
    expect(timesBetween(takeSchedule({ every: '1s' }), 0, Number.POSITIVE_INFINITY, 3)).toEqual([1000, 2000, 3000])
    expect(timesBetween(takeSchedule({ every: '1s' }), 0, 2500, 9)).toEqual([1000, 2000])
    expect(timesBetween(takeSchedule({ every: '1s' }), 0, 2500, 0)).toEqual([])
    expect(timesBetween(takeSchedule({ every: '1m', from: 'finish' }), 5, 200_000, 9)).toEqual([60_005, 120_005, 180_005])
  })

  it('the latest of ten years of seconds is found at once', () => {
    const now = at('2026-06-01T12:00:00.500Z')
    const schedule = takeSchedule({ cron: '* * * * * *', zone: 'Europe/Paris' })
    expect(iso(latestBetween(schedule, now - 3650 * 86_400_000, now))).toBe('2026-06-01T12:00:00.000Z')
  })
})

describe('the clock and the zone of the machine', () => {
  const zone = process.env.TZ
  afterEach(() => {
    vi.useRealTimers()
    process.env.TZ = zone
    if (zone === undefined) delete process.env.TZ
  })

  it('the clock and the zone of the machine have no part in a schedule', () => {
    const schedule = takeSchedule({ cron: '30 2 * * 0', zone: 'Europe/Paris' })
    const times = () => timesBetween(schedule, Date.UTC(2025, 0, 1), Date.UTC(2026, 0, 1), 100)
    const before = times()
    expect(before).toHaveLength(52)
    vi.useFakeTimers({ now: Date.UTC(2031, 6, 6) })
    process.env.TZ = 'America/New_York'
    expect(times()).toEqual(before)
    expect(takeSchedule({ cron: '30 2 * * 0', zone: 'Europe/Paris' })).toEqual(schedule)
    expect(vi.getTimerCount()).toBe(0)
  })
})
