// Seeded random numbers: the same on every machine, so that a failing walk can be repeated.

export interface Chance {
  /** An integer from 0 to below `below`. */
  int(below: number): number
  pick<T>(from: readonly T[]): T
  /** True with this probability in percent. */
  percent(often: number): boolean
  bytes(count: number): Uint8Array
}

export function chance(seed: number): Chance {
  let state = seed >>> 0
  // mulberry32
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 0x1_0000_0000
  }
  const int = (below: number): number => Math.floor(next() * below)
  return {
    int,
    pick: (from) => from[int(from.length)] as never,
    percent: (often) => next() * 100 < often,
    bytes: (count) => Uint8Array.from({ length: count }, () => int(256)),
  }
}
