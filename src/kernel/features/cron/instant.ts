// An instant as people write it: a Date, Unix milliseconds, or ISO 8601 text that says its offset, in milliseconds inside.

import { refuse } from '../../../model/errors.ts'
import { expected } from '../../../model/options.ts'

// The last millisecond of the year 9999: ISO text and database timestamps end there.
const LAST = 253_402_300_799_999
const ISO = /^(\d{4})-(\d\d)-(\d\d)T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)$/

export function takeInstant(given: unknown, option: string): number {
  const instant = given instanceof Date ? given.getTime() : typeof given === 'string' ? readIso(given) : given
  if (typeof instant === 'number' && Number.isSafeInteger(instant) && instant >= 0 && instant <= LAST) return instant
  const what = 'a Date, Unix milliseconds or a text such as 2026-03-29T09:00:00+02:00'
  throw refuse('SCHEDULE_INVALID', { why: `${option}: ${expected(what, given)}` })
}

/** Refuses text without an offset, which means another instant on another machine, and 30 February, which Date.parse reads as March. */
function readIso(text: string): number | undefined {
  const [, year, month, day] = ISO.exec(text) ?? []
  if (day === undefined) return undefined
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)))
  return date.getUTCDate() === Number(day) ? Date.parse(text) : undefined
}
