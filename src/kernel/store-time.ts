// What time it is for the store, as far as its answers tell.

import type { Environment } from '../ports/environment.ts'
import { reasonOf } from './outcome.ts'
import type { Scope } from './scope.ts'

export class StoreTime {
  readonly #environment: Environment
  /** How far the store's clock is ahead of ours. */
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

  /** By our steady clock: what `learn` is told later. */
  ask(): number {
    return this.#environment.clock.monotonic()
  }

  /**
   * The store read its clock between asking and now, so how far it is ahead lies between two bounds. What is known stays as long as it lies
   * there too: otherwise time would step back with every answer that took a little longer, and with it the order of what is offered.
   */
  learn(told: number | undefined, asked: number): void {
    const now = this.#wallClock()
    if (told === undefined || now === undefined) return
    const least = told - now
    // In whole milliseconds, as every time of ours.
    const most = least + Math.max(Math.floor(this.#environment.clock.monotonic() - asked), 0)
    this.#ahead = Math.max(least, Math.min(this.#ahead ?? least, most))
  }

  // What was saved is answered, whatever a clock of the user's own does.
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
