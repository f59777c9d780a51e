// Seeded chance for the redaction corpus: the same secrets on every machine, and none of them written down in the repository.
export interface Chance {
  int(below: number): number
  pick<T>(from: readonly T[]): T
  chars(alphabet: string, length: number): string
}

export const LOWER = 'abcdefghijklmnopqrstuvwxyz'
export const UPPER = LOWER.toUpperCase()
export const DIGITS = '0123456789'
export const HEX = `${DIGITS}abcdef`
export const BASE36 = DIGITS + LOWER
export const BASE62 = BASE36 + UPPER
export const BASE64 = `${BASE62}+/`
export const BASE64URL = `${BASE62}-_`
export const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

export function chance(seed: number): Chance {
  let state = seed >>> 0
  // mulberry32
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
  const int = (below: number) => Math.floor(next() * below)
  return {
    int,
    pick: (from) => from[int(from.length)] as never,
    chars: (alphabet, length) => Array.from({ length }, () => alphabet[int(alphabet.length)]).join(''),
  }
}
