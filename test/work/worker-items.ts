// The queue items that worker processes handle, and the lines they write to their outbox.

import type { OfferOptions } from '../../src/index.ts'
import { rounds } from '../support/rounds.ts'

export const ITEMS = rounds(60, 240)

/** Kills every worker process that handles it. */
export const POISON = 13

/** Concurrency of the worker of quick items, and how many completions the `loose` one may leave unwritten. */
export const QUICK_CONCURRENCY = 3
export const LOOSE_UNWRITTEN = 256

export interface Line {
  readonly what: 'offered' | 'began' | 'ended' | 'ticked'
  /** Number of the item, or time of the tick. */
  readonly n: number
  readonly id: string
  readonly fence?: number
}

export const optionsOf = (n: number): OfferOptions => ({
  key: `item ${n}`,
  priority: n % 3,
  // A worker that is killed holds up to four items, which are not to blame.
  attempts: n === POISON ? 2 : 100,
  ...(n % 6 === 0 && { group: `group ${n % 12}` }),
})
