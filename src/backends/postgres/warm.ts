// One connection stays with whoever writes, from one commit to the next: asking the pool each time costs a tenth of a small commit.

import type { Connection } from './connections.ts'

// Longer than the pause between two commits of one who has much to write, and too short to be missed by others.
const WARM_MS = 50

export class WarmConnection {
  #kept: Connection | undefined
  #timer: NodeJS.Timeout | undefined
  #used = false

  take(): Connection | undefined {
    const kept = this.#kept
    this.#kept = undefined
    this.#used = true
    return kept
  }

  keep(connection: Connection): void {
    if (this.#kept) {
      connection.release()
      return
    }
    this.#kept = connection
    this.#timer ??= setInterval(() => this.#cool(), WARM_MS).unref()
  }

  /** Once nobody has used it from one look to the next. */
  #cool(): void {
    if (!this.#used) this.release()
    this.#used = false
  }

  release(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#kept?.release()
    this.#kept = undefined
  }
}
