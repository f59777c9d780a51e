// Agent processes in words: their state, their end, and the wake-ups of their events.

import type { Evidence, ProcessRequest, ProcessRow, WakeNote } from '../../model/process.ts'
import { fromNow } from '../format.ts'
import { errorText, storedText } from '../runs/text.ts'
import type { Style } from '../terminal.ts'
import { jsonLine } from '../text.ts'

const STYLES: Readonly<Record<string, Style>> = {
  running: 'cyan',
  pending: 'yellow',
  waiting: 'yellow',
  completed: 'green',
  cancelled: 'dim',
}
export const processStyle = (state: string): Style => (Object.hasOwn(STYLES, state) ? (STYLES[state] as Style) : 'red')

/** An erased process has no name. */
export const processName = ({ name }: Pick<ProcessRow, 'name'>): string => (name === '' ? '(erased)' : name)

/** The current state, a pending request, or the end, in one line. */
export function processStanding(row: ProcessRow, now: number): string {
  const asked = row.abandon ? `to be abandoned: ${row.abandon.reason}` : row.cancel ? `to be cancelled: ${row.cancel.reason}` : ''
  switch (row.state) {
    case 'pending':
      return joined('not started', asked)
    case 'running':
      return joined(row.started ? `started ${fromNow(row.started.at, now)} by ${row.started.owner}` : '', asked)
    case 'waiting':
      return joined(waitText(row, now), asked)
    default:
      return endText(row) ?? ''
  }
}

const joined = (...texts: readonly string[]): string => texts.filter((text) => text !== '').join('; ')

export const waitText = ({ wait }: ProcessRow, now: number): string =>
  wait ? `waits for ${wait.kind}${wait.on === undefined ? '' : ` ${jsonLine(wait.on)}`} since ${fromNow(wait.since, now)}` : ''

export const requestText = ({ reason, at, by }: ProcessRequest, now: number): string =>
  `asked for ${fromNow(at, now)}${by === undefined || by === '' ? '' : ` by ${by}`}: ${reason}`

/** The value, the error, the reason of the cancellation, or the evidence that the process was abandoned. */
export function endText({ state, value, error, reason, evidence }: ProcessRow): string | undefined {
  if (state === 'completed') return storedText(value)
  if (state === 'failed') return error && errorText(error)
  if (state === 'abandoned') return evidence && evidenceText(evidence)
  return reason
}

const WRITERS: Readonly<Record<Evidence['writer'], string>> = {
  ownerDrain: 'its owner shut down',
  sweep: 'its owner died',
  reconciled: 'on request, while no worker held it',
}

function evidenceText({ writer, owner, fence }: Evidence): string {
  const who = owner === undefined ? '' : ` (${owner}${fence === undefined ? '' : `, fence ${fence}`})`
  return `${Object.hasOwn(WRITERS, writer) ? WRITERS[writer] : writer}${who}`
}

/** Describes the wake-up of an event. */
export function wakeText(wake: WakeNote | undefined): string {
  if (!wake) return ''
  return wake.offered ? 'woke' : `no wake-up${wake.why === undefined || wake.why === 'nobody' ? '' : ` (${wake.why})`}`
}
