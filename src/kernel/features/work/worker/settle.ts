// Settles claims whose handler has ended. A store that is away for a moment does not turn finished work into a failure: the write is retried.

import { InkError } from '../../../../model/errors.ts'
import { FinalError } from '../../../failing/final-error.ts'
import type { ClaimHandle } from '../claim.ts'
import { retryWrite } from '../retry-write.ts'
import { giveBackUnused } from './complete-and-claim.ts'
import type { WorkerState } from './worker-state.ts'

/** How a handler ended, or that the worker left it. */
export type Ended = { readonly how: 'done' } | { readonly how: 'left' } | { readonly how: 'failed'; readonly error: unknown }

/** Settles one claim by itself. Never throws: an item that cannot be settled goes to another worker once its lease has run out. */
export async function settle<T>(state: WorkerState<T>, claim: ClaimHandle<T>, ended: Ended): Promise<void> {
  try {
    // Another holder has the item by now, and decides about it.
    if (claim.signal.aborted) {
      state.count.lost++
      return
    }
    if (!claim.how) await retrySettle(state, claim, () => settleAs(claim, ended))
    else if (ended.how === 'failed') state.logError('a handler failed after it had settled its item', claim.id, ended.error)
    countAs(state, claim)
  } catch (error) {
    const isLost = error instanceof InkError && error.code === 'FENCE_LOST'
    state.count.lost++
    if (!isLost) state.logError('an item could not be settled', claim.id, error)
  } finally {
    state.forget([claim])
  }
}

function settleAs<T>(claim: ClaimHandle<T>, ended: Ended): Promise<unknown> {
  if (ended.how === 'done') return claim.complete()
  if (ended.how === 'left') return claim.giveBack(0, true)
  return claim.fail(ended.error, { final: ended.error instanceof FinalError })
}

/** Retries for two leases at most, or until the worker leaves. Then the claim is no longer renewed, so that another worker gets the item. */
async function retrySettle<T>({ leaving }: WorkerState<T>, claim: ClaimHandle<T>, write: () => Promise<unknown>): Promise<void> {
  const { logger } = claim.scope.engine.environment
  const failed = (error: unknown) =>
    logger.warn('an item could not be settled yet, and is tried again', { item: claim.id, queue: claim.queue, error: String(error) })
  try {
    await retryWrite(claim.scope, write, { ms: 2 * claim.leaseMs, leaving: leaving.signal, failed })
  } catch (error) {
    claim.letGo()
    throw error
  }
}

function countAs<T>({ count }: WorkerState<T>, { how }: ClaimHandle<T>): void {
  if (how === 'completed' || how === 'failed' || how === 'died') count[how]++
}

/** Gives back claims whose handler never began, those of one tenant in one commit. */
export async function giveBack<T>(state: WorkerState<T>, claims: readonly ClaimHandle<T>[]): Promise<void> {
  for (const group of Map.groupBy(claims, ({ tenant, origin, id }) => (origin ? id : tenant)).values())
    if (group.length > 1 && (await isGivenBack(group))) state.forget(group)
    // One by one, each refusal is logged with the item it is about.
    else await Promise.all(group.map((claim) => settle(state, claim, { how: 'left' })))
}

async function isGivenBack<T>(group: readonly ClaimHandle<T>[]): Promise<boolean> {
  try {
    await giveBackUnused((group[0] as ClaimHandle<T>).scope, group)
    return true
  } catch {
    return false
  }
}
