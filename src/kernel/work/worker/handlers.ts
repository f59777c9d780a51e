// Calls the handler of a worker, and stops waiting for it when the worker leaves.

import type { HeldClaim } from '../claim.ts'
import type { WorkHandler } from './worker-options.ts'

/** How a handler ended. One that was left may go on, but its claim is given back. */
export type Ended = { readonly how: 'done' } | { readonly how: 'left' } | { readonly how: 'failed'; readonly error: unknown }

const LEFT: Ended = { how: 'left' }

export class Handlers<T> {
  readonly #handler: WorkHandler<T>
  readonly #leaveOne = new Set<() => void>()
  #left = false

  constructor(handler: WorkHandler<T>) {
    this.#handler = handler
  }

  async handle(claim: HeldClaim<T>): Promise<Ended> {
    if (this.#left) return LEFT
    const { promise, resolve } = Promise.withResolvers<Ended>()
    const leave = () => resolve(LEFT)
    this.#leaveOne.add(leave)
    try {
      return await Promise.race([this.#call(claim), promise])
    } catch (error) {
      return { how: 'failed', error }
    } finally {
      this.#leaveOne.delete(leave)
    }
  }

  async #call(claim: HeldClaim<T>): Promise<Ended> {
    await this.#handler(claim)
    return { how: 'done' }
  }

  /** Stops waiting for all of them. */
  leave(): void {
    this.#left = true
    for (const leave of this.#leaveOne) leave()
  }
}
