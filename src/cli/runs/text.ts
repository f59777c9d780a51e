// Runs in words: their waits, inputs, results and costs.

import type { CheckpointManifest, ErrorData, RunRow, UsageCounts, Wait } from '../../index.ts'
import { isId } from '../../model/ids.ts'
import { bytes, count, fromNow, time } from '../format.ts'
import type { Style } from '../terminal.ts'
import { jsonLine } from '../text.ts'

export const stateStyle = (state: string): Style =>
  state === 'failed' ? 'red' : state === 'waiting' || state === 'pending' ? 'yellow' : state === 'cancelled' ? 'dim' : 'green'

/** An erased run has no name. */
export const nameText = ({ name }: Pick<RunRow, 'name'>): string => (name === '' ? '(erased)' : name)

/** A deadline, absolute and relative to now. */
export const untilText = (until: number, now: number): string => `${time(until)} (${fromNow(until, now)})`

const WAITS: Readonly<Record<Wait['kind'], (name: string) => string>> = {
  sleep: () => 'sleep',
  signal: (name) => `signal '${name}'`,
  ask: (name) => `an answer to '${name}'`,
  approval: (name) => `approval '${name}'`,
  child: (name) => `run '${name}'`,
  unknown: (name) => `the outcome of '${name}' (inkfast runs resolve)`,
  retry: (name) => `another attempt at '${name}'`,
  diverged: () => 'the code it began with',
}

/** Describes what ends the wait, apart from its timeout. */
export const waitText = ({ kind, name }: Wait): string => (Object.hasOwn(WAITS, kind) ? WAITS[kind](name) : `${kind} '${name}'`)

const waitLine = (wait: Wait, now: number): string =>
  `${waitText(wait)}${wait.branch === '' ? '' : ` in ${wait.branch}`}${wait.until === undefined ? '' : `, until ${untilText(wait.until, now)}`}`

/** Describes what the run waits for, or how it ended, in one line. */
export function standing({ state, waits, error }: RunRow, now: number): string {
  const [first, ...more] = waits.toSorted((a, b) => (a.until ?? Infinity) - (b.until ?? Infinity))
  if (first) return `${waitLine(first, now)}${more.length > 0 ? `, and ${count(more.length)} more` : ''}`
  if (!error) return ''
  return state === 'waiting' ? `an operator: ${errorText(error)}` : errorText(error)
}

export const errorText = ({ name, code, message }: ErrorData): string =>
  `${code ?? name}: ${message.split('\n')[0]}${message.includes('\n') ? ' …' : ''}`

/** Shows a stored input or result; a large one is named by its blob. */
export function storedText(stored: RunRow['input']): string | undefined {
  if (stored?.blob) return `(a blob of ${bytes(stored.blob.bytes)}, ${stored.blob.digest})`
  return stored?.value === undefined ? undefined : jsonLine(stored.value)
}

/** The components of a checkpoint, each with its revision. */
export function componentsText({ components }: CheckpointManifest): string {
  const named = Object.entries(components)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { revision }]) => `${name} (revision ${revision})`)
  return named.length === 0 ? 'no components' : named.join(', ')
}

/** Returns a key that a caller chose, and '' for a generated one. */
export const chosenKey = (key: string | undefined): string =>
  key === undefined || isId(key) || /^child\/[0-9a-f]{32,}$/.test(key) ? '' : key

const NANO = 1_000_000_000n

/** Exact, and at least to the cent. */
export function dollars(nano: bigint): string {
  const rest = String(nano % NANO)
    .padStart(9, '0')
    .replace(/0{1,7}$/, '')
  return `$${count(Number(nano / NANO))}.${rest}`
}

export const COUNTS = ['inputTokens', 'outputTokens', 'cacheReadTokens', 'cacheWriteTokens', 'reasoningTokens'] as const

export interface Total extends Readonly<Record<(typeof COUNTS)[number], number>> {
  readonly costNanoUsd: bigint
}

/** Adds up ledgers with BigInt, so that dollars stay exact. */
export const totalOf = (ledger: readonly UsageCounts[]): Total => ({
  ...(Object.fromEntries(COUNTS.map((name) => [name, ledger.reduce((sum, one) => sum + one[name], 0)])) as Record<
    (typeof COUNTS)[number],
    number
  >),
  costNanoUsd: ledger.reduce((sum, one) => sum + BigInt(one.costNanoUsd), 0n),
})
