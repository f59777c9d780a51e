// The days on which the clocks are moved, one rule after the other, as people would read them off the wall.

import { describe, expect, it } from 'vitest'
import { takeSchedule, timesBetween } from './schedule.ts'

/** What runs on these days, as the wall shows it with its offset: `02:30+1`. */
function runs(cron: string, zone: string, from: string, until: string): string {
  const wall = new Intl.DateTimeFormat('en-GB', { timeZone: zone, timeStyle: 'short' })
  const offset = new Intl.DateTimeFormat('en-GB', { timeZone: zone, timeZoneName: 'shortOffset' })
  return timesBetween(takeSchedule({ cron, zone }), Date.parse(from) - 1, Date.parse(until) - 1, 100)
    .map((time) => `${wall.format(time)}${/GMT([+-][\d:]+)/.exec(offset.format(time))?.[1]}`)
    .join(' ')
}

const march = ['Europe/Paris', '2025-03-30T00:00+01:00', '2025-03-31T00:00+02:00'] as const
const october = ['Europe/Paris', '2025-10-26T00:00+02:00', '2025-10-27T00:00+01:00'] as const

describe('a wall-clock time that does not exist', () => {
  it('a wall-clock time that does not exist runs at the first moment after the gap', () =>
    expect(runs('30 2 * * *', ...march)).toBe('03:00+2'))
  it('a wall-clock time that does not exist runs also when the line has other times', () =>
    expect(runs('30 2,14 * * *', ...march)).toBe('03:00+2 14:30+2'))
  it('a wall-clock time that does not exist runs once, however many fell into the gap', () =>
    expect(runs('*/15 2 * * *', ...march)).toBe('03:00+2'))
  it('a wall-clock time that does not exist runs once with what is due at that moment', () =>
    expect(runs('0 2,3 * * *', ...march)).toBe('03:00+2'))
  it('a wall-clock time that does not exist runs on the next day when the gap ends the day', () =>
    expect(runs('30 23 * * *', 'America/Nuuk', '2024-03-30T12:00Z', '2024-04-01T01:00Z')).toBe('00:00-1 23:30-1'))
  it('a wall-clock time that does not exist runs at one where midnight is left out', () =>
    expect(runs('0 0 * * *', 'America/Sao_Paulo', '2018-11-03T12:00Z', '2018-11-05T12:00Z')).toBe('01:00-2 00:00-2'))
  it('a wall-clock time that does not exist does not run when its whole day does not exist, as on 30 February', () =>
    expect(runs('0 12 * * *', 'Pacific/Apia', '2011-12-29T12:00Z', '2011-12-31T12:00Z')).toBe('12:00-10 12:00+14'))
  it('a wall-clock time that does not exist is not made up for by a line that runs every hour: the next hour has its minutes at the same moments', () =>
    expect(runs('7,37 0-4 * * *', ...march)).toBe('00:07+1 00:37+1 01:07+1 01:37+1 03:07+2 03:37+2 04:07+2 04:37+2'))
  it('a wall-clock time that does not exist is made up for by a line that runs every hour when half an hour is left out', () =>
    expect(runs('0 * * * *', 'Australia/Lord_Howe', '2025-10-04T14:00Z', '2025-10-04T17:30Z')).toBe(
      '01:00+10:30 02:30+11 03:00+11 04:00+11',
    ))
})

describe('a wall-clock time that exists twice', () => {
  it('a wall-clock time that exists twice runs the first time', () => expect(runs('30 2 * * *', ...october)).toBe('02:30+2'))
  it('a wall-clock time that exists twice runs the first time also when the line has other times', () =>
    expect(runs('30 2,14 * * *', ...october)).toBe('02:30+2 14:30+1'))
  it('a wall-clock time that exists twice runs the first time for a line that has only that hour', () =>
    expect(runs('*/30 2 * * *', ...october)).toBe('02:00+2 02:30+2'))
  it('a wall-clock time that exists twice runs the first time for every other hour, which is no rhythm that an hour more fits into', () =>
    expect(runs('0 */2 * * *', ...october)).toMatch(/^00:00\+2 02:00\+2 04:00\+1 06:00\+1/))
  it('a wall-clock time that exists twice runs the first time where midnight is repeated', () =>
    expect(runs('0 0,12 * * *', 'America/Havana', '2025-11-01T12:00Z', '2025-11-03T00:00Z')).toBe('12:00-4 00:00-4 12:00-5'))
  it('a wall-clock time that exists twice runs both times for a line that runs in the hours before and after: it keeps its distance', () =>
    expect(runs('*/30 1-3 * * *', ...october)).toBe('01:00+2 01:30+2 02:00+2 02:30+2 02:00+1 02:30+1 03:00+1 03:30+1'))
})

it('a line that runs every quarter of an hour does so through every change, whatever the wall shows', () => {
  const quarter = 15 * 60_000
  const seasons = [
    [Date.UTC(2025, 2, 25), Date.UTC(2025, 3, 10)],
    [Date.UTC(2025, 9, 1), Date.UTC(2025, 9, 31)],
  ] as const
  for (const zone of ['Europe/Paris', 'Australia/Lord_Howe', 'Antarctica/Troll', 'America/Nuuk']) {
    for (const [from, until] of seasons) {
      const times = timesBetween(takeSchedule({ cron: '*/15 * * * *', zone }), from - 1, until - 1, 40_000)
      expect(times).toEqual(Array.from({ length: (until - from) / quarter }, (_, i) => from + i * quarter))
    }
  }
})

it('asking in the middle of a repeated hour finds what asking before it finds', () => {
  const schedule = takeSchedule({ cron: '30 2 * * *', zone: 'Europe/Paris' })
  const [first, second] = timesBetween(schedule, Date.parse('2025-10-26T00:00+02:00'), Date.parse('2025-10-28T00:00Z'), 2) as [
    number,
    number,
  ]
  for (let instant = first; instant < second; instant += 60_000 * 7) expect(timesBetween(schedule, instant, second, 9)).toEqual([second])
})

it('asking right after a change of the clocks, where a stretch of the calendar begins, finds the same', () => {
  const schedule = takeSchedule({ cron: '30 2 * * *', zone: 'Europe/Chisinau' })
  expect(timesBetween(schedule, Date.parse('2020-10-25T00:10Z'), Date.parse('2020-10-27T00:00Z'), 9)).toEqual([
    Date.parse('2020-10-26T00:30Z'),
  ])
})
