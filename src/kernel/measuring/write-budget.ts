// Compares every write with the write budget, and keeps the latencies of writes and of their parts. A breach is counted always and logged
// once a minute.

import { limits } from '../../model/limits.ts'
import type { Environment } from '../../ports/environment.ts'
import { Histogram, type Latency } from './histogram.ts'
import { RecentWrites } from './recent-writes.ts'
import type { WriteTime } from './write-time.ts'

/** The parts of the time of a write, in milliseconds or as latencies. */
export interface WriteParts<T = number> {
  /** Deciding, checking and masking. */
  readonly mask: T
  /** Hashing, and folding facts into rows. */
  readonly hash: T
  /** Everything else: other writers of the same rows, reads before the write, and the queue of the lane. */
  readonly wait: T
  /** The store, from sending the batch to its answer. */
  readonly disk: T
}

export interface BudgetStats {
  readonly ms: number
  readonly breaches: number
  readonly sinceLastBreachMs?: number
  /** Writes of the last minute, and how many of them took longer than the budget. */
  readonly lastMinute: { readonly writes: number; readonly breaches: number }
  /** The last write that took longer than the budget, in milliseconds. */
  readonly lastBreach?: WriteParts & { readonly ms: number }
}

export class WriteBudget {
  readonly #environment: Pick<Environment, 'clock' | 'logger'>
  readonly #ms: number
  readonly #latency = new Histogram()
  readonly #parts = { mask: new Histogram(), hash: new Histogram(), wait: new Histogram(), disk: new Histogram() }
  readonly #seconds = new RecentWrites()
  #breaches = 0
  #last: (WriteParts & { readonly ms: number; readonly at: number }) | undefined
  #lastLog = -Infinity

  constructor(environment: Pick<Environment, 'clock' | 'logger'>, ms: number) {
    this.#environment = environment
    this.#ms = ms
  }

  /** Records a commit that was sent at one time and answered at another. A retry of the same write includes the attempts before it. */
  record(time: WriteTime, sent: number, answered: number): void {
    time.disk += answered - sent
    const { mask, hash, disk } = time
    const ms = answered - time.since
    const wait = Math.max(0, ms - mask - hash - disk)
    this.#latency.add(ms)
    this.#parts.mask.add(mask)
    this.#parts.hash.add(hash)
    this.#parts.wait.add(wait)
    this.#parts.disk.add(disk)
    this.#seconds.add(answered, ms > this.#ms)
    if (ms > this.#ms) this.#breach({ ms, mask, hash, wait, disk, at: answered })
  }

  stats(): { readonly latency: Latency; readonly latencyOf: WriteParts<Latency>; readonly budget: BudgetStats } {
    const { mask, hash, wait, disk } = this.#parts
    return {
      latency: this.#latency.read(),
      latencyOf: { mask: mask.read(), hash: hash.read(), wait: wait.read(), disk: disk.read() },
      budget: {
        ms: this.#ms,
        breaches: this.#breaches,
        lastMinute: this.#seconds.read(this.#environment.clock.monotonic()),
        ...this.#lastBreach(),
      },
    }
  }

  #lastBreach(): Pick<BudgetStats, 'sinceLastBreachMs' | 'lastBreach'> {
    if (!this.#last) return {}
    const { at, ...lastBreach } = this.#last
    return { sinceLastBreachMs: this.#environment.clock.monotonic() - at, lastBreach }
  }

  #breach(breach: WriteParts & { readonly ms: number; readonly at: number }): void {
    this.#breaches++
    this.#last = breach
    if (breach.at - this.#lastLog < limits.breachLogEveryMs) return
    this.#lastLog = breach.at
    const { at: _, ...took } = breach
    const rounded = Object.fromEntries(Object.entries(took).map(([name, ms]) => [name, Math.round(ms)]))
    // One slow write is no failure: `health` says when they are many.
    this.#environment.logger.info('a write took longer than its budget', { ...rounded, budgetMs: this.#ms, breaches: this.#breaches })
  }
}
