// What is said about a handful of measurements: the middle, and how far they lie apart.

export interface Spread {
  readonly median: number
  readonly least: number
  readonly most: number
  readonly rounds: number
}

export function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b)
  return { median: middle(sorted), least: sorted[0] ?? Number.NaN, most: sorted.at(-1) ?? Number.NaN, rounds: sorted.length }
}

/** Round by round, so that what slowed both of a pair cancels out. */
export const ratios = (ours: readonly number[], peer: readonly number[]): Spread => spread(ours.map((v, i) => v / (peer[i] as number)))

/** The value that `part` of all values do not exceed. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(sorted.length * part) - 1))] ?? Number.NaN
}

export const median = (values: readonly number[]): number => middle(values.toSorted((a, b) => a - b))

function middle(sorted: readonly number[]): number {
  const half = sorted.length >> 1
  return sorted.length % 2 === 1 ? (sorted[half] as number) : ((sorted[half - 1] as number) + (sorted[half] as number)) / 2
}
