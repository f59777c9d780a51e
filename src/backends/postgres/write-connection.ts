// Keeps one connection between commits: acquiring one from the pool each time costs a tenth of a small commit.

import type { Connection } from './connections.ts'

// Longer than the pause between two commits of a busy writer, and too short for other pool users to miss the connection.
const IDLE_MS = 50

export class WriteConnection {
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
    this.#timer ??= setInterval(() => this.#releaseIfIdle(), IDLE_MS).unref()
  }

  /** Returns the connection to the pool once no commit used it for a whole interval. */
  #releaseIfIdle(): void {
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
