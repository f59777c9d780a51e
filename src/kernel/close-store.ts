// Closes a store once, in order, for all of its views.

import type { Recents } from './reading/recent-events.ts'
import type { Engine } from './wiring/scope.ts'

export class StoreLifetime {
  readonly #engine: Engine
  readonly #closing: AbortController
  readonly recents: Recents
  #closed: Promise<void> | undefined

  constructor(engine: Engine, closing: AbortController, recents: Recents) {
    this.#engine = engine
    this.#closing = closing
    this.recents = recents
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    // Features release what they hold while that can still be written. Then the lane answers what it accepted, tails end, the backend closes.
    await this.#engine.features.closed(this.#engine)
    await this.#engine.lane.close()
    this.#closing.abort()
    this.recents.close()
    await this.#engine.backend.close()
  }
}
