// A queue of ours, as a program has it: offered to, claimed from and completed one by one, or given to a worker.

import type { Store } from '../../src/index.ts'
import { payload, type ToolFinished } from '../journal/payload.ts'
import { type Contestant, inChunks, perSecond, worked } from './workers.ts'

export interface OurQueue extends Contestant {
  /** Items claimed and completed one by one with `claim` and `complete`, by so many at once: items a second. */
  byHand(workers: number, count: number): Promise<number>
  /** `queue.work` with a handler that does nothing, from starting it until it is closed on an empty queue: items a second. */
  worked(concurrency: number, count: number, unwritten?: number): Promise<number>
  offer(i: number): Promise<unknown>
}

export const QUEUE = 'bench'
export const LEASE = '30s'
const AT_ONCE = 500
// Tried on a queue of 5,000 on PostgreSQL: 8, 24, 64, 128 and 256 handlers at once. Up to this it was faster each time, beyond it hardly.
export const CONCURRENCY = 64
// As the others have it when they drain: a completion is on its way while the next item is worked on.
export const UNWRITTEN = 512

export function ourQueue(store: Store): OurQueue {
  const queue = store.queue<ToolFinished>(QUEUE)
  return {
    fill: (count) =>
      inChunks(count, AT_ONCE, (from, size) => Promise.all(Array.from({ length: size }, (_, i) => queue.offer(payload(from + i))))),
    left: async () => {
      const { ready, delayed, claimed, dead } = await queue.stats()
      return ready + delayed + claimed + dead
    },
    byHand: (workers, count) =>
      worked(workers, count, async () => {
        await using claim = await queue.claim({ lease: LEASE })
        if (!claim) return false
        await claim.complete()
        return true
      }),
    worked: async (concurrency, count, unwritten = 1) => {
      let handled = 0
      const all = Promise.withResolvers<void>()
      const start = performance.now()
      {
        await using _ = queue.work(
          async () => {
            if (++handled === count) all.resolve()
          },
          { concurrency, unwritten },
        )
        await all.promise
      }
      const rate = perSecond(count, start)
      if (handled !== count) throw new Error(`a worker of ours handled ${handled} items, and ${count} were there`)
      return rate
    },
    offer: (i) => queue.offer(payload(i)),
  }
}
