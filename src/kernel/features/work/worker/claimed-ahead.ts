// Items that a worker has claimed before a handler is free. A worker does so only while its handlers are quick, because a commit for each item
// would take most of the time then. Items that wait too long are given back, so that a slow handler keeps none from other workers.

import { limits } from '../../../../model/limits.ts'
import type { ClaimHandle } from '../claim.ts'

// Weight of the newest measurement in the moving average.
const WEIGHT = 0.2
// After a collision with another worker, nothing is claimed ahead for this long.
const APART_MS = 1000

interface Kept<T> {
  readonly claim: ClaimHandle<T>
  readonly since: number
}

export class ClaimedAhead<T> {
  readonly #concurrency: number
  #kept: Kept<T>[] = []
  /** Moving average of how long a handler takes, with the write that it waits for. */
  #handlerMs: number | undefined
  #writeMs = 0
  #size = 0
  #apartUntil = -Infinity

  constructor(concurrency: number) {
    this.#concurrency = concurrency
  }

  get held(): number {
    return this.#kept.length
  }

  /** How many items may be claimed ahead: as many as the handlers finish in `workReserveMs`. */
  get size(): number {
    if (this.#handlerMs === undefined) return 0
    return Math.min(this.#size, Math.floor((this.#concurrency * limits.workReserveMs) / Math.max(this.#handlerMs, 0.01)))
  }

  put(claim: ClaimHandle<T>, now: number): void {
    this.#kept.push({ claim, since: now })
  }

  take(): ClaimHandle<T> | undefined {
    return this.#kept.shift()?.claim
  }

  /** Removes the claims that have waited for `heldMs`; by default all. */
  takeBack(now = Infinity, heldMs = 0): readonly ClaimHandle<T>[] {
    const { old = [], fresh = [] } = Object.groupBy(this.#kept, ({ since }) => (now - since >= heldMs ? 'old' : 'fresh'))
    this.#kept = fresh
    return old.map(({ claim }) => claim)
  }

  handled(ms: number): void {
    const all = ms + this.#writeMs
    this.#handlerMs = this.#handlerMs === undefined ? all : this.#handlerMs * (1 - WEIGHT) + all * WEIGHT
  }

  /** A commit of several items went well, so twice as many may be claimed ahead. `writeMs`: how long a handler's slot waited for it. */
  written(now: number, writeMs: number): void {
    this.#writeMs = writeMs
    if (!this.isApart(now)) this.#size = Math.min(Math.max(this.#size * 2, this.#concurrency), limits.workReserve)
  }

  /** Another worker claims from the same end of the queue. */
  collided(now: number): void {
    this.#size = 0
    this.#apartUntil = now + APART_MS
  }

  /** How many items are claimed in the commit that completes others, with `room` free slots. */
  share(room: number, now: number): number {
    if (this.isApart(now)) return Math.min(room, 1)
    if (this.size === 0) return room
    // By halves instead of one by one: a commit that only completes is cheaper.
    return this.isShort(room) ? Math.min(room + this.size, this.half) : Math.max(room, 0)
  }

  /** Half of what the worker may hold: while one half is being written, handlers work on the other. */
  get half(): number {
    return Math.ceil((this.#concurrency + this.size) / 2)
  }

  /** The worker holds at most half of what it may. */
  isShort(room: number): boolean {
    return this.size > 0 && room + this.size >= this.half
  }

  /** A collision was not long ago: each item is claimed by itself. */
  isApart(now: number): boolean {
    return now < this.#apartUntil
  }
}
