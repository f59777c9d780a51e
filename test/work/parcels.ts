// What the porters carry, and the lines by which they tell of it.

import type { OfferOptions } from '../../src/index.ts'
import { rounds } from '../support/rounds.ts'

export const PARCELS = rounds(60, 240)

/** Whoever takes this one up dies. */
export const POISON = 13

/** Quick ones: how many are worked on at a time, and how many may be done without that being written, where that is allowed. */
export const LETTERS_AT_A_TIME = 3
export const LETTERS_LOOSE = 256

export interface Line {
  readonly what: 'offered' | 'began' | 'ended' | 'ticked'
  /** Which parcel, or the time of which tick. */
  readonly n: number
  readonly id: string
  readonly fence?: number
}

export const optionsOf = (n: number): OfferOptions => ({
  key: `parcel ${n}`,
  priority: n % 3,
  // Whoever is killed has up to four in hand, and they are not to blame.
  attempts: n === POISON ? 2 : 100,
  ...(n % 6 === 0 && { group: `van ${n % 12}` }),
})
