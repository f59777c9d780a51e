// When a cron line runs in a zone, found out by walking: every minute (or second) is looked up on the wall clock that Intl shows and
// compared with the fields, which are read here anew. Slow, and as simple as the rules allow:
//  - A wall-clock time is told once. When the clock jumps back, what it shows a second time is left out, unless the line runs in every
//    hour around the jump: then it runs both times.
//  - When the clock jumps forward over times of the line, it runs at the first moment after, once. Not so if it runs in every hour around
//    the jump and the jump is of whole hours, nor for times of a day that is jumped over from midnight to midnight.

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const QUARTER = 15 * MINUTE

/** What the wall clock of a zone shows, step by step. Wall clocks are in milliseconds as if they stood in UTC. */
export interface Walls {
  readonly from: number
  readonly step: number
  readonly shown: Float64Array
}

/** `from` and `until` are whole quarters of an hour. Between two quarters that are a quarter apart on the wall the clock was not touched. */
export function wallsOf(zone: string, from: number, until: number, step = MINUTE): Walls {
  const look = wallClock(zone)
  const shown = new Float64Array((until - from) / step)
  let begin = look(from)
  for (let quarter = from; quarter < until; quarter += QUARTER) {
    const end = look(quarter + QUARTER)
    const quiet = end - begin === QUARTER
    for (let at = quarter; at < quarter + QUARTER; at += step) shown[(at - from) / step] = quiet ? begin + at - quarter : look(at)
    begin = end
  }
  return { from, step, shown }
}

/** The instants at which the clock does not go on as usual. */
export function jumpsOf({ from, step, shown }: Walls): readonly number[] {
  const jumps: number[] = []
  for (let i = 1; i < shown.length; i++) if (wall(shown, i) - wall(shown, i - 1) !== step) jumps.push(from + i * step)
  return jumps
}

/** Every instant at which the line runs. */
export function oracleTimes(line: string, { from, step, shown }: Walls): readonly number[] {
  const fields = readLine(line)
  const times: number[] = []
  let repeated = Number.NEGATIVE_INFINITY
  for (let i = 0; i < shown.length; i++) {
    const now = wall(shown, i)
    const usual = i === 0 ? now : wall(shown, i - 1) + step
    if (now < usual && !isHourly(fields, now, usual)) repeated = usual
    const runs = (now >= repeated && matches(fields, now)) || (now > usual && runsAfterGap(fields, usual, now, step))
    if (runs) times.push(from + i * step)
  }
  return times
}

const wall = (shown: Float64Array, i: number): number => shown[i] as number

function wallClock(zone: string): (instant: number) => number {
  const options = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' } as const
  const format = new Intl.DateTimeFormat('en-GB', { timeZone: zone, hourCycle: 'h23', ...options })
  return (instant) => {
    const [day = 0, month = 0, year = 0, hour = 0, minute = 0, second = 0] = (format.format(instant).match(/\d+/g) ?? []).map(Number)
    return Date.UTC(year, month - 1, day, hour, minute, second)
  }
}

function runsAfterGap(fields: Fields, begin: number, end: number, step: number): boolean {
  if ((end - begin) % HOUR === 0 && isHourly(fields, begin, end)) return false
  for (let missing = begin; missing < end; missing += step) {
    const midnight = missing - (missing % DAY)
    const dayIsGone = midnight >= begin && midnight + DAY <= end
    if (!dayIsGone && matches(fields, missing)) return true
  }
  return false
}

function isHourly(fields: Fields, begin: number, end: number): boolean {
  for (let minute = begin - MINUTE; minute <= end; minute += MINUTE) if (!fields.hours[new Date(minute).getUTCHours()]) return false
  return true
}

interface Fields {
  readonly seconds: readonly boolean[]
  readonly minutes: readonly boolean[]
  readonly hours: readonly boolean[]
  readonly days: Map<number, boolean>
  readonly isDay: (midnight: number) => boolean
}

function matches({ seconds, minutes, hours, days, isDay }: Fields, now: number): boolean {
  // In whole seconds of 32 bits, which are counted until 2038: half of the oracle's time is spent here.
  const time = ((now / 1000) | 0) % 86_400
  if (!minutes[((time / 60) | 0) % 60] || !hours[(time / 3600) | 0] || !seconds[time % 60]) return false
  const midnight = now - time * 1000
  const known = days.get(midnight)
  if (known !== undefined) return known
  const is = isDay(midnight)
  days.set(midnight, is)
  return is
}

function readLine(line: string): Fields {
  const given = line.trim().split(/\s+/)
  const [second = '', minute = '', hour = '', day = '', month = '', weekday = ''] = given.length === 5 ? ['0', ...given] : given
  const months = numbers(named(month, 1, MONTHS), 1, 12)
  const both = weekday.startsWith('+')
  const week = named(weekday.replace('+', '').replace(/-sun/i, '-7'), 0, WEEKDAYS)
  const [anyDay, anyWeekday] = [day === '*' || day === '?', week === '*' || week === '?']
  const isDay = (midnight: number): boolean => {
    const date = new Date(midnight)
    if (!months[date.getUTCMonth() + 1]) return false
    const [byDay, byWeekday] = [anyDay || isDayOfMonth(day, date), anyWeekday || isWeekday(week, date)]
    return both || anyDay || anyWeekday ? byDay && byWeekday : byDay || byWeekday
  }
  return { seconds: numbers(second, 0, 59), minutes: numbers(minute, 0, 59), hours: numbers(hour, 0, 23), days: new Map(), isDay }
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']

const named = (field: string, first: number, names: readonly string[]): string =>
  names.reduce((text, name, i) => text.replaceAll(name, String(first + i)), field.toLowerCase())

function numbers(field: string, least: number, most: number): readonly boolean[] {
  const found: boolean[] = []
  for (const item of field.split(',')) {
    const [range = '', step = '1'] = item.split('/')
    const [low, high] = range === '*' || range === '?' ? [least, most] : range.split('-').map(Number)
    for (let n = low as number; n <= (high ?? (low as number)); n += Number(step)) found[n] = true
  }
  return found
}

function isDayOfMonth(field: string, date: Date): boolean {
  const [today, last] = [date.getUTCDate(), lastDay(date)]
  return field
    .toLowerCase()
    .split(',')
    .some((item) => {
      if (item === 'l') return today === last
      if (item === 'lw') return today === nearestWeekday(date, last)
      if (item.endsWith('w')) return Number.parseInt(item, 10) <= last && today === nearestWeekday(date, Number.parseInt(item, 10))
      return numbers(item, 1, 31)[today] === true
    })
}

function isWeekday(field: string, date: Date): boolean {
  const today = date.getUTCDate()
  return field.split(',').some((item) => {
    const [, days = item, nth, last] = /^([^#l]+)(?:#([1-5])|(#?l))?$/.exec(item) ?? []
    const weekdays = numbers(days, 0, 6)
    if (!weekdays[date.getUTCDay()] && !(weekdays[7] && date.getUTCDay() === 0)) return false
    if (last !== undefined) return today + 7 > lastDay(date)
    return nth === undefined || Math.ceil(today / 7) === Number(nth)
  })
}

const lastDay = (date: Date): number => new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()

/** Monday to Friday, in the same month. */
function nearestWeekday(date: Date, day: number): number {
  const weekday = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), day)).getUTCDay()
  if (weekday === 6) return day === 1 ? 3 : day - 1
  if (weekday === 0) return day === lastDay(date) ? day - 2 : day + 1
  return day
}
