// The store's clock, as far as its answers tell.

import type { Environment } from '../../ports/environment.ts'
import type { Scope } from '../wiring/scope.ts'
import { reasonOf } from '../writing/commit-outcome.ts'

export class StoreTime {
  readonly #environment: Environment
  /** How far the store's clock is ahead of this node's clock. */
  #ahead: number | undefined

  constructor(environment: Environment) {
    this.#environment = environment
  }

  now(): number {
    return this.#environment.clock.now() + (this.#ahead ?? 0)
  }

  get hasHeard(): boolean {
    return this.#ahead !== undefined
  }

  /** The monotonic time of a request, for `learn`. */
  ask(): number {
    return this.#environment.clock.monotonic()
  }

  /**
   * The store read its clock between the request and now, so its offset lies between two bounds. A known offset stays as long as it lies
   * between them. Otherwise store time would step back with every slow answer, and with it the order of offered items.
   */
  learn(told: number | undefined, asked: number): void {
    const now = this.#wallClock()
    if (told === undefined || now === undefined) return
    const least = told - now
    // Times are whole milliseconds everywhere.
    const most = least + Math.max(Math.floor(this.#environment.clock.monotonic() - asked), 0)
    this.#ahead = Math.max(least, Math.min(this.#ahead ?? least, most))
  }

  // A saved commit is answered even if a custom clock fails.
  #wallClock(): number | undefined {
    try {
      return this.#environment.clock.now()
    } catch (error) {
      this.#environment.logger.warn('the clock could not be read', { error: reasonOf(error) })
      return undefined
    }
  }
}

/** Reads the store's clock. With `exactly: false` the last answer is enough, unless this node has had none yet. */
export async function storeNow({ engine, tenant }: Scope, exactly = true): Promise<number> {
  if (!exactly && engine.lane.hasHeard) return engine.lane.storeTime()
  return (await engine.backend.leases.read(tenant, [])).now
}
