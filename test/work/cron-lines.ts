// Cron lines by chance: nearly all of them are lines, some are just beside it.

import fc from 'fast-check'

const numbers = (least: number, most: number): fc.Arbitrary<string> => {
  const value = fc.integer({ min: least, max: most })
  const range = fc.tuple(value, value).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`)
  const step = fc.integer({ min: 1, max: Math.min(most, 30) })
  const item = fc.oneof(
    { weight: 5, arbitrary: value.map(String) },
    { weight: 3, arbitrary: range },
    { weight: 2, arbitrary: fc.tuple(range, step).map(([of, by]) => `${of}/${by}`) },
    { weight: 2, arbitrary: step.map((by) => `*/${by}`) },
  )
  return fc.oneof(
    { weight: 1, arbitrary: fc.constant('*') },
    { weight: 3, arbitrary: fc.array(item, { minLength: 1, maxLength: 3 }).map((all) => all.join()) },
  )
}

const mostly = (usual: string, weight: number, other: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.oneof({ weight, arbitrary: fc.constant(usual) }, { weight: 3, arbitrary: other })

const day = fc.oneof(numbers(1, 31), fc.constantFrom('L', 'LW', '?', '1W', '15W,L', '31W'))
const month = fc.oneof(numbers(1, 12), fc.constantFrom('jan', 'FEB,mar', 'Sep-Dec'))
const weekday = fc.oneof(numbers(0, 7), fc.constantFrom('sun', 'MON-fri', '0L', 'sun#1', '6#5', '+0', '+sat-sun', '0#L', '?'))

/** Five fields. Most run on any day, so that one soon meets a day on which the clocks are moved. */
export const cronLines = fc
  .tuple(numbers(0, 59), numbers(0, 23), mostly('*', 9, day), mostly('*', 12, month), mostly('*', 9, weekday))
  .map((fields) => fields.join(' '))

/** Six fields, the first for seconds. */
export const cronLinesWithSeconds = fc.tuple(numbers(0, 59), cronLines).map((fields) => fields.join(' '))

const CHARACTERS = '0123456789*/,-?LW#+ @:TZjanmonsu'

/** A line of which one character is another one. */
export const brokenLines = fc
  .tuple(fc.oneof(cronLines, cronLinesWithSeconds), fc.nat(), fc.constantFrom(...CHARACTERS))
  .map(([line, at, by]) => `${line.slice(0, at % line.length)}${by}${line.slice((at % line.length) + 1)}`)

export const soup = fc.string({ unit: fc.constantFrom(...CHARACTERS), maxLength: 40 })
