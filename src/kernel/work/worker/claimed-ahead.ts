// What a worker has claimed beyond what it works on. Only where its handlers are quick: then claiming for each of them alone would be most of
// the time. What waits in it too long is given back, so that a handler that turns slow keeps nobody's work to itself.

import { limits } from '../../../model/limits.ts'
import type { HeldClaim } from '../claim.ts'

// How much the last handler says about the next.
const WEIGHT = 0.2
// Where others take from the same queue, items are taken when they are needed.
const APART_MS = 1000

interface Kept<T> {
  readonly claim: HeldClaim<T>
  readonly since: number
}

export class ClaimedAhead<T> {
  readonly #concurrency: number
  #kept: Kept<T>[] = []
  #handlerMs: number | undefined
  #size = 0
  #apartUntil = -Infinity

  constructor(concurrency: number) {
    this.#concurrency = concurrency
  }

  get held(): number {
    return this.#kept.length
  }

  /** How many it may hold. */
  get size(): number {
    return Math.min(this.#size, this.#most())
  }

  put(claim: HeldClaim<T>, now: number): void {
    this.#kept.push({ claim, since: now })
  }

  take(): HeldClaim<T> | undefined {
    return this.#kept.shift()?.claim
  }

  /** Those that have waited for so long; without a time, all. */
  takeBack(now = Infinity, heldMs = 0): readonly HeldClaim<T>[] {
    const old = this.#kept.filter(({ since }) => now - since >= heldMs)
    if (old.length > 0) this.#kept = this.#kept.filter((kept) => !old.includes(kept))
    return old.map(({ claim }) => claim)
  }

  handled(ms: number): void {
    this.#handlerMs = this.#handlerMs === undefined ? ms : this.#handlerMs * (1 - WEIGHT) + ms * WEIGHT
  }

  /** Taking several at once went well. */
  grow(now: number): void {
    if (now >= this.#apartUntil) this.#size = Math.min(Math.max(this.#size * 2, this.#concurrency), limits.workReserve)
  }

  /** Others take from the same end. */
  collided(now: number): void {
    this.#size = 0
    this.#apartUntil = now + APART_MS
  }

  /** How many are claimed with what has ended, where there is room for so many among the handlers. */
  share(room: number, now: number): number {
    if (this.isApart(now)) return Math.min(room, 1)
    if (this.size === 0) return room
    // By halves, and not one by one: a commit that only completes is the lighter one.
    return this.isShort(room) ? Math.min(room + this.size, this.half) : Math.max(room, 0)
  }

  /** Half of what may be in hand: while that is at the disk, the other half is worked off. */
  get half(): number {
    return Math.ceil((this.#concurrency + this.size) / 2)
  }

  /** Less is in hand than could be, by half. */
  isShort(room: number): boolean {
    return this.size > 0 && room + this.size >= this.half
  }

  /** Somebody else was met here lately: each item is taken by itself. */
  isApart(now: number): boolean {
    return now < this.#apartUntil
  }

  #most(): number {
    if (this.#handlerMs === undefined) return 0
    return Math.min(Math.floor((this.#concurrency * limits.workReserveMs) / Math.max(this.#handlerMs, 0.01)), limits.workReserve)
  }
}
