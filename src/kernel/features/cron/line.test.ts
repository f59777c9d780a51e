// What may be a cron line, and what is refused before the calculator could read it as something else.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { brokenLines, cronLines, cronLinesWithSeconds, soup } from '../../../../test/work/cron-lines.ts'
import { InkError } from '../../../model/errors.ts'
import { lineOf, takeLine } from './line.ts'

const FROM = Date.UTC(2024, 0, 1)
const days = (line: string, count: number): string =>
  Array.from({ length: count })
    .reduce<number[]>((found) => [...found, lineOf(takeLine(line)).next(found.at(-1) ?? FROM) as number], [])
    .map((wall) => new Date(wall).toISOString().slice(0, 10))
    .join(' ')

describe('a cron line', () => {
  it.each([
    ['0 0 L * *', '2024-01-31 2024-02-29 2024-03-31'],
    ['0 0 LW * *', '2024-01-31 2024-02-29 2024-03-29'],
    ['0 0 1,L * *', '2024-01-31 2024-02-01 2024-02-29'],
    ['0 0 13W * *', '2024-01-12 2024-02-13 2024-03-13'],
    ['0 0 * * FRI#2', '2024-01-12 2024-02-09 2024-03-08'],
    ['0 0 * * 5L', '2024-01-26 2024-02-23 2024-03-29'],
    ['0 0 13 * 5', '2024-01-05 2024-01-12 2024-01-13'],
    ['0 0 13 * +5', '2024-09-13 2024-12-13 2025-06-13'],
    ['0 0 * * 7', '2024-01-07 2024-01-14 2024-01-21'],
    ['0 0 * * fri-sun', '2024-01-05 2024-01-06 2024-01-07'],
    ['0 0 1 */4 *', '2024-05-01 2024-09-01 2025-01-01'],
    ['@yearly', '2025-01-01 2026-01-01 2027-01-01'],
    ['@Weekly', '2024-01-07 2024-01-14 2024-01-21'],
  ])('the cron line %s means %s', (line, expected) => expect(days(line, 3)).toBe(expected))

  it.each([
    ['0 0 31 2 *', 'never matches'],
    ['0 0 30 feb *', 'never matches'],
    ['0 0 31 4,6,9,11 *', 'never matches'],
    ['0 0 31W 2 *', 'never matches'],
    ['', 'has 0 fields'],
    ['* * * *', 'has 4 fields'],
    ['0 0 0 1 1 * 2030', 'has 7 fields'],
    ['@reboot', 'is not supported'],
    ['@fortnightly', 'has 1 fields'],
    ['2026-01-01T00:00:00', 'has 1 fields'],
    ['60 * * * *', 'minute'],
    ['* 24 * * *', 'hour'],
    ['0 0 0 * *', 'day'],
    ['0 0 1 13 *', 'month'],
    ['0 0 * * 8', "'8' in '0 0 * * 8' is not a valid day of the week"],
    ['*/0 * * * *', 'stepping'],
    ['*/61 * * * *', 'steps'],
    ['5/5 * * * *', "'5/5'"],
    ['30-10 * * * *', 'From value is larger'],
    ['0 0 * * fri-mon', 'From value is larger'],
    ['0 0 15L * *', "'15L'"],
    ['0 0 5LW * *', "'5LW'"],
    ['0 0 1W5 * *', "'1W5'"],
    ['0 0 L-3 * *', "'L-3'"],
    ['0 0 * * 1#2#3', "'1#2#3'"],
    ['0 0 * * 1#6', "'1#6'"],
    ['? * * * *', "'?'"],
    ['*,5 * * * *', "'*,5'"],
    ['1,,2 * * * *', "'1,,2'"],
    ['٣ * * * *', "'٣'"],
    ['0 0 * * MONDAY', "'MONDAY'"],
    ['toString * * * *', "'TOSTRING'"],
    [`${'1,'.repeat(200)}1 * * * *`, 'the limit is 256'],
    [5, 'expected a text, got 5'],
    [null, 'got null'],
  ])('a cron line is refused: %s', (line, said) => {
    expect(() => takeLine(line)).toThrow(expect.objectContaining({ code: 'SCHEDULE_INVALID', message: expect.stringContaining(said) }))
  })
})

describe('anything at all', () => {
  it.each([
    ['shaped like a line', fc.oneof(cronLines, cronLinesWithSeconds), 1000, 500],
    ['beside a line', brokenLines, 1500, 100],
    ['made of its characters', soup, 1500, 0],
    ['text', fc.string({ unit: 'binary' }), 500, 0],
    ['value', fc.anything(), 500, 0],
  ] as const)('anything that is %s is a cron line with a later next time, or is refused with a reason', (_, given, numRuns, least) => {
    let taken = 0
    fc.assert(
      fc.property(given, fc.integer({ min: 0, max: 4e12 }), (value: unknown, from) => {
        let line: string
        try {
          line = takeLine(value)
        } catch (error) {
          if (!(error instanceof InkError) || error.code !== 'SCHEDULE_INVALID') throw error
          return
        }
        taken++
        expect(takeLine(line)).toBe(line)
        const next = lineOf(line).next(from) as number
        expect(next).toBeGreaterThan(from)
        expect(lineOf(line).next(next - 1)).toBe(next)
        expect(lineOf(line).hours[new Date(next).getUTCHours()]).toBe(true)
      }),
      { numRuns },
    )
    expect(taken).toBeGreaterThanOrEqual(least)
  })
})
