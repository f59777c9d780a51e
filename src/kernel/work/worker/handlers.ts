// The handlers of a worker: each ends by itself, or is left behind.

import type { HeldClaim } from '../claim.ts'
import type { WorkHandler } from './worker-options.ts'

/** How a handler ended. One that was left behind may go on, but not with this claim. */
export type Ended = { readonly how: 'done' } | { readonly how: 'left' } | { readonly how: 'failed'; readonly error: unknown }

const LEFT: Ended = { how: 'left' }

export class Handlers<T> {
  readonly #handler: WorkHandler<T>
  readonly #waitedFor = new Set<() => void>()
  #left = false

  constructor(handler: WorkHandler<T>) {
    this.#handler = handler
  }

  async handle(claim: HeldClaim<T>): Promise<Ended> {
    if (this.#left) return LEFT
    const { promise, resolve } = Promise.withResolvers<Ended>()
    const leave = () => resolve(LEFT)
    this.#waitedFor.add(leave)
    try {
      return await Promise.race([this.#work(claim), promise])
    } catch (error) {
      return { how: 'failed', error }
    } finally {
      this.#waitedFor.delete(leave)
    }
  }

  async #work(claim: HeldClaim<T>): Promise<Ended> {
    await this.#handler(claim)
    return { how: 'done' }
  }

  /** None of them is waited for any longer. */
  leave(): void {
    this.#left = true
    for (const leave of this.#waitedFor) leave()
  }
}
