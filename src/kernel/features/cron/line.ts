// A cron line: what its fields may hold, and which wall-clock times it means. Croner calculates on a calendar without zones: a wall clock
// is counted in milliseconds as if it stood in UTC. wall-clock.ts applies the zone.

import { Cron, CronPattern } from 'croner'
import { refuse } from '../../../model/errors.ts'
import { limits } from '../../../model/limits.ts'
import { expected } from '../../../model/options.ts'

export interface Line {
  /** For each hour of the day: does the line run in it? */
  readonly hours: readonly boolean[]
  /** The first wall-clock time strictly after this one; undefined when there is none before the year 3000. */
  readonly next: (wall: number) => number | undefined
}

/** A line as it is stored: upper case, single spaces, nicknames written out. */
export function takeLine(given: unknown): string {
  if (typeof given !== 'string') throw bad(`cron: ${expected('a text', given)}`)
  if (given.length > limits.cronChars) throw bad(`the cron expression has ${given.length} characters; the limit is ${limits.cronChars}`)
  const text = given.trim().replace(/\s+/g, ' ').toUpperCase()
  const fields = (NICKNAMES[text] ?? text).split(' ')
  if (text === '@REBOOT') throw bad("'@reboot' is not supported, because jobs belong to the store and not to a machine")
  if (fields.length !== 5 && fields.length !== 6)
    throw bad(`'${given}' has ${text === '' ? 0 : fields.length} fields; a cron expression has 5 or 6`)
  const names = fields.length === 5 ? FIELDS.slice(1) : FIELDS
  const taken = fields.map((field, i) => takeField(field, names[i] as Field, given)).join(' ')
  let line: Line
  try {
    line = lineOf(taken)
  } catch (error) {
    throw bad(`'${given}' is not a cron expression: ${error instanceof Error ? error.message.replace(/^\w+: /, '') : error}`, error)
  }
  // The calendar repeats after 400 years, and croner looks that far.
  if (line.next(Date.UTC(2000, 0, 1)) === undefined) throw bad(`'${given}' never matches: there is no such day within 400 years`)
  return taken
}

const remembered = new Map<string, Line>()

/** Returns the calculator for a checked line. */
export function lineOf(text: string): Line {
  const known = remembered.get(text)
  if (known) return known
  // Croner only calculates here: without a function it starts no timer, with an instant it asks no clock, and with a fixed offset it uses no zone.
  const cron = new Cron(text, { utcOffset: 0, mode: '5-or-6-parts' })
  const hours = new CronPattern(text).hour.map(Boolean)
  const line: Line = { hours, next: (wall) => cron.nextRun(new Date(wall))?.getTime() }
  if (remembered.size >= limits.linesRemembered) remembered.clear()
  remembered.set(text, line)
  return line
}

type Field = (typeof FIELDS)[number]
const FIELDS = ['second', 'minute', 'hour', 'day of the month', 'month', 'day of the week'] as const

const NICKNAMES: Readonly<Record<string, string>> = {
  '@YEARLY': '0 0 1 1 *',
  '@ANNUALLY': '0 0 1 1 *',
  '@MONTHLY': '0 0 1 * *',
  '@WEEKLY': '0 0 * * 0',
  '@DAILY': '0 0 * * *',
  '@MIDNIGHT': '0 0 * * *',
  '@HOURLY': '0 * * * *',
}

const NUMBER = '\\d{1,2}'
const MONTH = `(?:${NUMBER}|JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC)`
const WEEKDAY = '(?:[0-7]|SUN|MON|TUE|WED|THU|FRI|SAT)'
const ordinary = (value: string): string => `\\*/${NUMBER}|${value}(?:-${value}(?:/${NUMBER})?)?`
const listOf = (item: string, before = ''): RegExp => new RegExp(`^${before}(?:\\*|(?:${item})(?:,(?:${item}))*)$`)

// Croner accepts more than this, and reads some of it as something else: '15L' as the 15th and the last day, '1W5' as the weekday nearest to the 1st.
const GRAMMAR: Readonly<Record<Field, RegExp>> = {
  second: listOf(ordinary(NUMBER)),
  minute: listOf(ordinary(NUMBER)),
  hour: listOf(ordinary(NUMBER)),
  'day of the month': new RegExp(`^LW$|${listOf(`${ordinary(NUMBER)}|${NUMBER}W|L`).source}`),
  month: listOf(ordinary(MONTH)),
  'day of the week': listOf(`${WEEKDAY}(?:-${WEEKDAY})?(?:#[1-5L]|L)|${ordinary(WEEKDAY)}`, '\\+?'),
}

function takeField(field: string, name: Field, line: string): string {
  const plain = field === '?' && name.startsWith('day') ? '*' : field
  if (!GRAMMAR[name].test(plain)) throw bad(`'${field}' in '${line}' is not a valid ${name}`)
  return plain
}

const bad = (why: string, cause?: unknown) => refuse('SCHEDULE_INVALID', { why }, cause)
