// Jobs in words: their schedules, times and outcomes.

import type { JobRow, OccurrenceRow, Schedule } from '../../model/job.ts'
import { count, fromNow, span, time } from '../format.ts'
import { errorText, untilText } from '../runs/text.ts'
import type { Style } from '../terminal.ts'
import { duration } from './text.ts'

export const jobStyle = (state: string): Style => (state === 'active' ? 'green' : state === 'paused' ? 'yellow' : 'dim')

const OUTCOMES: Readonly<Record<string, Style>> = { failed: 'red', missed: 'red', running: 'cyan', waiting: 'yellow', done: 'green' }
export const outcomeStyle = (state: string): Style => (Object.hasOwn(OUTCOMES, state) ? (OUTCOMES[state] as Style) : 'dim')

/** The schedule in its written form. */
export function scheduleText(schedule: Schedule): string {
  if (schedule.kind === 'cron') return `${schedule.cron} ${schedule.zone}`
  if (schedule.kind === 'at') return `once, ${time(schedule.at)} UTC`
  const { every, from, anchor = 0 } = schedule
  return `every ${duration(every)}${from === 'finish' ? ' after the last one ends' : ''}${anchor > 0 ? `, first ${time(anchor)} UTC` : ''}`
}

export function nextText({ state, next, running }: JobRow, now: number): string {
  if (next !== undefined) return untilText(next, now)
  if (state === 'active' && running) return 'after the running one ends'
  return state === 'paused' ? 'paused' : 'none'
}

/** Whether the job is due and no scheduler has acted for ten seconds. */
export const isOverdue = ({ state, at }: JobRow, now: number): boolean => state === 'active' && at !== undefined && at < now - 10_000

/** The outcome of the last occurrence, in one line. */
export function lastText(last: OccurrenceRow | undefined, now: number): string {
  if (!last) return 'none yet'
  const { state, due, startedAt, finishedAt } = last
  if (state === 'running') return `running for ${span(Math.max(0, now - (startedAt ?? due)))}`
  if (state === 'waiting') return `offered ${fromNow(due, now)}, not started`
  const why = whyText(last)
  return `${state} ${fromNow(finishedAt ?? due, now)}${why === '' ? '' : `: ${why}`}`
}

/** Why it failed or was left out, and how many were. */
export function whyText({ error, count: times = 0, last }: OccurrenceRow): string {
  const many = times > 1 ? `${count(times)} times${last === undefined ? '' : `, the last at ${time(last)}`}` : ''
  return [many, error ? errorText(error) : ''].filter((text) => text !== '').join('; ')
}

/** Formats a time by the wall clock of the zone. */
export const wallClock = (zone: string): ((ms: number) => string) => {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium', hourCycle: 'h23' })
  const day = new Intl.DateTimeFormat('en-GB', { timeZone: zone, weekday: 'short' })
  return (ms) => `${day.format(ms)} ${format.format(ms)}`
}
