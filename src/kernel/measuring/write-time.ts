// The time of one write, from the call to the receipt: masking, hashing, the store, and waiting for everything else. It reads the clock
// once at the start and once after each part, so an append costs two more readings than without it.

import type { Clock } from '../../ports/environment.ts'

export class WriteTime {
  readonly #clock: Clock
  readonly since: number
  #at: number
  /** Milliseconds of deciding, checking and masking. */
  mask = 0
  /** Milliseconds of hashing, and of folding facts into rows. */
  hash = 0
  /** Milliseconds at the store: earlier attempts, and blobs. */
  disk = 0

  constructor(clock: Clock) {
    this.#clock = clock
    this.since = clock.monotonic()
    this.#at = this.since
  }

  masked(): void {
    this.mask += this.#lap()
  }

  hashed(): void {
    this.hash += this.#lap()
  }

  stored(): void {
    this.disk += this.#lap()
  }

  /** The time since the last part belongs to no part: it is waiting. */
  waited(): void {
    this.#lap()
  }

  #lap(): number {
    const before = this.#at
    this.#at = this.#clock.monotonic()
    return this.#at - before
  }
}
