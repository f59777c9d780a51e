// Durations as people write them, converted to milliseconds.

import { refuse } from './errors.ts'
import { limits } from './limits.ts'
import { quoted } from './options.ts'

export type Duration = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Rounds to whole milliseconds: times are stored in integer columns. */
export function milliseconds(duration: Duration): number {
  const ms = Math.round(typeof duration === 'number' ? duration : typeof duration === 'string' ? readMs(duration) : Number.NaN)
  if (ms >= 0 && ms <= limits.durationMs) return ms
  throw refuse('DURATION_INVALID', { duration: quoted(duration) })
}

function readMs(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text)
  return match ? Number(match[1]) * (UNITS[match[2] as string] as number) : Number.NaN
}
