// Settling what a handler has ended: what the store cannot write now it may write a moment later, and nothing that was done is told as failed
// because of that.

import { InkError } from '../../../model/errors.ts'
import { FinalError } from '../../final-error.ts'
import type { HeldClaim } from '../claim.ts'
import { retryWrite } from '../retry-write.ts'
import { giveBackUnused } from './complete-and-claim.ts'
import type { Ended } from './handlers.ts'
import { keyOf } from './prefetch.ts'

export interface SettlerOptions {
  /** In hand, by their names: what is settled is not. */
  readonly ours: Set<string>
  readonly leaving: AbortSignal
  readonly log: (message: string, item: string, error: unknown) => void
}

export class Settler<T> {
  readonly count = { completed: 0, failed: 0, died: 0, lost: 0 }
  readonly #options: SettlerOptions

  constructor(options: SettlerOptions) {
    this.#options = options
  }

  /** By itself. Never throws: what cannot be settled comes to somebody else. */
  async settle(claim: HeldClaim<T>, ended: Ended): Promise<void> {
    if (claim.how) this.#byHandler(claim, ended)
    // Whoever has it by now knows better what becomes of it.
    else if (claim.signal.aborted) this.count.lost++
    else if (ended.how === 'done') return this.#alone(claim, () => claim.complete())
    else if (ended.how === 'left') return this.#alone(claim, () => claim.giveBack(0, true))
    else return this.#alone(claim, () => claim.fail(ended.error, { final: ended.error instanceof FinalError }))
    this.#options.ours.delete(keyOf(claim.tenant, claim.id))
  }

  /** Completed together with others. */
  completed(claims: readonly HeldClaim<T>[]): void {
    this.count.completed += claims.length
    for (const { tenant, id } of claims) this.#options.ours.delete(keyOf(tenant, id))
  }

  /** Nobody got to them. */
  async giveBack(claims: readonly HeldClaim<T>[]): Promise<void> {
    for (const group of Map.groupBy(claims, ({ tenant, origin, id }) => (origin ? id : tenant)).values()) {
      if (group.length > 1 && (await this.#giveBackTogether(group))) continue
      await Promise.all(group.map((claim) => this.settle(claim, { how: 'left' })))
    }
  }

  /** False where that cannot be: why is told where it is about one of them. */
  async #giveBackTogether(group: readonly HeldClaim<T>[]): Promise<boolean> {
    try {
      await giveBackUnused((group[0] as HeldClaim<T>).scope, group)
    } catch {
      return false
    }
    for (const { tenant, id } of group) this.#options.ours.delete(keyOf(tenant, id))
    return true
  }

  #byHandler(claim: HeldClaim<T>, ended: Ended): void {
    if (claim.signal.aborted) this.count.lost++
    else {
      this.#count(claim)
      if (ended.how === 'failed') this.#options.log('a handler failed after it had settled its item', claim.id, ended.error)
    }
  }

  async #alone(claim: HeldClaim<T>, settle: () => Promise<unknown>): Promise<void> {
    const { ours, leaving, log } = this.#options
    try {
      await again(claim, settle, leaving)
      this.#count(claim)
    } catch (error) {
      const lost = error instanceof InkError && error.code === 'FENCE_LOST'
      // What may have been written was, where nobody has it now.
      if (lost && claim.wasOutcomeUnknown && error.details.found === 0) this.#count(claim)
      else this.count.lost++
      if (!lost) log('an item could not be settled', claim.id, error)
    } finally {
      ours.delete(keyOf(claim.tenant, claim.id))
    }
  }

  #count({ how }: HeldClaim<T>): void {
    if (how === 'completed' || how === 'failed' || how === 'died') this.count[how]++
  }
}

/** Tried for two leases at most, or until the worker leaves: then it is let go, and comes to somebody else. */
async function again<T, R>(claim: HeldClaim<T>, settle: () => Promise<R>, leaving: AbortSignal): Promise<R> {
  const { logger } = claim.scope.engine.environment
  const failed = (error: unknown) =>
    logger.warn('an item could not be settled yet, and is tried again', { item: claim.id, queue: claim.queue, error: String(error) })
  try {
    return await retryWrite(claim.scope, settle, { ms: 2 * claim.leaseMs, leaving, failed })
  } catch (error) {
    claim.letGo()
    throw error
  }
}
