// Calls back when an operation takes too long. One timer serves all operations: a timer per send cost a single caller a seventh of its
// time.

import type { Environment } from '../../ports/environment.ts'

interface Watched {
  readonly since: number
  readonly bark: (ms: number) => void
}

export class Watchdog {
  readonly #environment: Pick<Environment, 'clock' | 'timer' | 'logger'>
  readonly #ms: number
  #watched: Watched | undefined
  #awake = false

  constructor(environment: Pick<Environment, 'clock' | 'timer' | 'logger'>, ms: number) {
    this.#environment = environment
    this.#ms = ms
  }

  /** Watches one operation. Call the returned function once it is done. */
  watch(bark: (ms: number) => void): () => void {
    const watched = { since: this.#environment.clock.monotonic(), bark }
    this.#watched = watched
    if (!this.#awake) this.#wake().catch((error) => this.#environment.logger.error('deadlines are not kept', { error: String(error) }))
    return () => {
      if (this.#watched === watched) this.#watched = undefined
    }
  }

  async #wake(): Promise<void> {
    this.#awake = true
    try {
      while (this.#watched) {
        const { since, bark } = this.#watched
        const left = since + this.#ms - this.#environment.clock.monotonic()
        if (left > 0) await this.#environment.timer.idly(left)
        else {
          this.#watched = undefined
          bark(this.#ms)
        }
      }
    } finally {
      this.#awake = false
    }
  }
}
