// A year of cron lines, in zones whose clocks are moved in every way there is, against an oracle that walks through it minute by minute.

import { Cron } from 'croner'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LONG, rounds } from '../../../../test/support/rounds.ts'
import { cronLines } from '../../../../test/work/cron-lines.ts'
import { jumpsOf, oracleTimes, wallsOf } from '../../../../test/work/cron-oracle.ts'
import { InkError } from '../../../model/errors.ts'
import { takeSchedule, timesBetween } from './schedule.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

const YEARS: readonly (readonly [zone: string, year: number, jumps: number, how: string])[] = [
  ['Europe/Paris', 2025, 2, 'an hour at two and three in the night'],
  ['America/New_York', 2025, 2, 'an hour at two, earlier and later in the year'],
  ['America/Sao_Paulo', 2018, 2, 'an hour at midnight, in the south'],
  ['Australia/Lord_Howe', 2025, 2, 'half an hour'],
  ['Africa/Casablanca', 2025, 2, 'for Ramadan'],
  ['Pacific/Apia', 2011, 3, 'an hour twice, and over a whole day'],
  ['Antarctica/Troll', 2025, 2, 'two hours'],
  ['America/Nuuk', 2024, 2, 'over the last hour of a day'],
  ['UTC', 2024, 0, 'never'],
]

// Through the whole year.
const LINES = [
  ...['0 9 * * 1-5', '30 2 * * *', '0 3 * * *', '30 1,2,3 * * *', '30 2,14 * * *', '0 0 * * *', '30 0 * * *', '30 23 * * *'],
  ...['0 0,12 * * *', '0 */6 * * *', '15 1-5 * * *', '0 * * * *', '*/15 2 * * *', '*/30 22-23 * * *', '0 0-23/3 * jan-jun mon-fri'],
  ...['0 0 1 * *', '0 0 L * *', '0 12 LW * *', '30 2 15W * *', '0 0 1W,L * *', '0 0 */2 * *', '0 12 30 * *', '0 0 29 2 *', '59 23 31 12 *'],
  ...['30 2 * * 0', '0 0 * * 7', '30 1 * * SUN#L', '0 8 * * 1#1,3#2', '0 8 ? * 5L', '0 8 13 * 5', '0 8 13 * +FRI', '30 2 25-31 3,10 0'],
]
// For a day before and after every jump, as they run often.
const DENSE = ['* * * * *', '*/7 * * * *', '*/15 * * * *', '7,37 * * * *', '* 2 * * *', '*/10 0-3 * * *', '5-55/10 * * * 0', '0 */2 * * *']
// For an hour before and three after, second by second.
const SECONDS = ['*/10 * * * * *', '30 30 2 * * *', '15,45 */5 0-3 * * *', '59 59 * * * *', '0 30 1,2 * * *']

type Calculator = (line: string, zone: string, from: number, until: number) => readonly number[]

const ours: Calculator = (line, zone, from, until) =>
  timesBetween(takeSchedule({ cron: line, zone }), from - 1, until - 1, Number.POSITIVE_INFINITY)

/** The lines about which the calculator and the oracle do not agree. */
function differences(
  calculator: Calculator,
  lines: readonly string[],
  zone: string,
  from: number,
  until: number,
  step?: number,
): readonly string[] {
  const walls = wallsOf(zone, from, until, step)
  return lines.filter((line) => oracleTimes(line, walls).join() !== calculator(line, zone, from, until).join())
}

describe('a year of cron lines is what walking through it finds', () => {
  it.each(YEARS)('cron lines in %s, %i, whose clocks are moved %i times, run as the oracle says: %s', (zone, year, jumps) => {
    const [from, until] = [Date.UTC(year, 0, 1), Date.UTC(year + 1, 0, 1)]
    // A short run tries each line in a third of the zones.
    const place = YEARS.findIndex(([name]) => name === zone)
    const lines = LINES.filter((_, i) => LONG || i % 3 === place % 3)
    expect(differences(ours, lines, zone, from, until)).toEqual([])
    const found = jumpsOf(wallsOf(zone, from, until))
    expect(found).toHaveLength(jumps)
    for (const jump of found) {
      const hour = Math.floor(jump / HOUR) * HOUR
      expect(differences(ours, DENSE, zone, hour - DAY, hour + DAY)).toEqual([])
      expect(differences(ours, SECONDS, zone, hour - HOUR, hour + 3 * HOUR, 1000)).toEqual([])
    }
  })

  it('random cron lines run as the oracle says around every jump of the clocks', () => {
    const years = YEARS.map(([zone, year]) => ({ zone, jumps: jumpsOf(wallsOf(zone, Date.UTC(year, 0, 1), Date.UTC(year + 1, 0, 1))) }))
    const days = years.flatMap(({ zone, jumps }) =>
      jumps.map((jump) => {
        const from = Math.floor(jump / HOUR) * HOUR - DAY
        return { zone, from, until: from + 2 * DAY, walls: wallsOf(zone, from, from + 2 * DAY) }
      }),
    )
    const check = (line: string) => {
      try {
        takeSchedule({ cron: line })
      } catch (error) {
        if (error instanceof InkError && /never matches/.test(error.message)) return fc.pre(false)
        throw error
      }
      for (const { zone, from, until, walls } of days)
        expect(ours(line, zone, from, until).join(), `${line} in ${zone}`).toBe(oracleTimes(line, walls).join())
    }
    fc.assert(fc.property(cronLines, check), { numRuns: rounds(20, 200) })
  })

  it('a calculator of cron lines with other rules is told apart from the oracle', () => {
    // Croner with a zone of its own: it loses and doubles times, which is why it is not asked about zones.
    const croner: Calculator = (line, zone, from, until) => {
      const times = new Cron(line, { timezone: zone }).nextRuns(800, new Date(from - 1))
      return times.map((time) => time.getTime()).filter((time) => time < until)
    }
    const [from, until] = [Date.UTC(2024, 0, 1), Date.UTC(2025, 0, 1)]
    expect(differences(croner, ['30 23 * * *', '0 9 * * 1-5'], 'America/Nuuk', from, until)).toEqual(['30 23 * * *'])
    expect(differences(croner, ['30 2,14 * * *', '30 2 * * *'], 'Europe/Paris', from, until)).toEqual(['30 2,14 * * *'])
    const hourLate: Calculator = (line, zone, ...range) => ours(line, zone, ...range).map((time, i) => (i === 99 ? time + HOUR : time))
    expect(differences(hourLate, ['0 9 * * *'], 'Europe/Paris', from, until)).toHaveLength(1)
  })
})
