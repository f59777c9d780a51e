// Work items, holders and times in words.

import type { LeaseHolder, WorkItem } from '../../index.ts'
import { fromNow, time } from '../format.ts'
import { errorText, untilText } from '../runs/text.ts'
import type { Style, Terminal } from '../terminal.ts'

export const itemStyle = (state: string): Style =>
  state === 'dead' ? 'red' : state === 'claimed' ? 'cyan' : state === 'delayed' ? 'yellow' : 'green'

/** A ready item that is due later is shown as delayed, as in the counts of its queue. */
export const itemState = ({ state, at }: Pick<WorkItem, 'state' | 'at'>, now: number): string =>
  state === 'ready' && (at ?? 0) > now ? 'delayed' : state

/** `2 of 5`. */
export const triesText = ({ attempt, attempts }: Pick<WorkItem, 'attempt' | 'attempts'>): string =>
  attempts === undefined ? String(attempt) : `${attempt} of ${attempts}`

/** The next step of an item, or how it ended, in one line. */
export function itemStanding(item: WorkItem, holder: LeaseHolder | undefined, now: number): string {
  const { state, at = 0, error, diedAt } = item
  if (state === 'claimed') return heldText(item, holder)
  if (state === 'dead')
    return `died${diedAt === undefined ? '' : ` ${fromNow(diedAt, now)}`}${error ? `: ${errorText(error)}` : ', without an error'}`
  const failed = error ? `; failed: ${errorText(error)}` : ''
  if (state === 'asleep') return `asleep until it is woken${failed}`
  return `${at > now ? `due ${untilText(at, now)}` : 'due now'}${failed}`
}

const heldText = ({ owner = 'an unnamed owner' }: WorkItem, holder: LeaseHolder | undefined): string =>
  !holder || holder.lapsed
    ? `abandoned by ${owner}; the next worker takes it up`
    : `held by ${owner} until ${untilText(holder.until, holder.now)}`

/** The holder of a claim or lease, and until when. */
export function holderText(holder: LeaseHolder | undefined): string {
  if (!holder) return 'none'
  const { owner, fence, until, lapsed, now } = holder
  if (lapsed) return `${owner}, fence ${fence}, is gone or its lease expired; the next worker takes it up`
  return `${owner}, fence ${fence}, until ${untilText(until, now)} unless renewed`
}

const UNITS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
  [1000, 's'],
] as const

/** A duration in its largest whole unit: 90000 is 90s. */
export function duration(ms: number): string {
  const [size, unit] = UNITS.find(([each]) => ms >= each && ms % each === 0) ?? [1, 'ms']
  return `${ms / size}${unit}`
}

const ROOM_FOR_YEARS = 100

/** Formats times for a table; a narrow terminal omits the current year. */
export function shortTime(t: Terminal, now: number): (ms: number | undefined) => string {
  const year = (t.width ?? Infinity) < ROOM_FOR_YEARS ? time(now).slice(0, 5) : undefined
  return (ms) => {
    const text = ms === undefined ? '' : time(ms)
    return year !== undefined && text.startsWith(year) ? text.slice(year.length) : text
  }
}

/** Number of attempts, and their backoff. */
export const attemptsText = ({ attempts, backoff }: Pick<WorkItem, 'attempts' | 'backoff'>): string | undefined =>
  attempts === undefined ? undefined : `${attempts}${backoff && attempts > 1 ? `, backoff ${duration(backoff.firstMs)}` : ''}`
