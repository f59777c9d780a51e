// Durations as people write them, in milliseconds inside.

import { refuse } from './errors.ts'

export type Duration = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

export function milliseconds(duration: Duration): number {
  if (typeof duration === 'number') {
    if (Number.isFinite(duration) && duration >= 0) return duration
  } else if (typeof duration === 'string') {
    const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(duration)
    if (match) return Math.round(Number(match[1]) * (UNITS[match[2] as string] as number))
  }
  throw refuse('DURATION_INVALID', { duration: String(duration) })
}
