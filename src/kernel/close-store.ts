// What all views of one open store share: it ends once.

import { plan } from './execute.ts'
import type { Recents } from './recent.ts'
import type { Engine } from './scope.ts'

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
    // Runs are given back while that can still be written; what was taken in is answered; then tails end, then the backend goes.
    await this.#engine.localRuns.close()
    await this.#engine.keeper.close((tenant, parts) => plan({ engine: this.#engine, tenant, actor: '' }, parts))
    await this.#engine.lane.close()
    this.#closing.abort()
    this.recents.close()
    await this.#engine.backend.close()
  }
}
