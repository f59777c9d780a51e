// Settling what a handler has ended: what the store cannot write now it may write a moment later, and nothing that was done is told as failed
// because of that.

import { type ErrorKind, InkError } from '../../model/errors.ts'
import type { HeldClaim } from './claim.ts'

const REST_MS = 10
const REST_MOST_MS = 1000

/** Tried for two leases at most, or until the worker leaves: then it is let go, and comes to somebody else. */
export async function settling<T, R>(claim: HeldClaim<T>, settle: () => Promise<R>, leaving: AbortSignal): Promise<R> {
  const { timer, logger } = claim.scope.engine.environment
  let [rest, rested] = [REST_MS, 0]
  for (;;) {
    try {
      return await settle()
    } catch (error) {
      if (!mayPass(error) || leaving.aborted || rested >= 2 * claim.leaseMs) {
        claim.letGo()
        throw error
      }
      if (rested === 0)
        logger.warn('an item could not be settled yet, and is tried again', { item: claim.id, queue: claim.queue, error: String(error) })
      await timer.after(rest, leaving).catch(() => {})
      rested += rest
      rest = Math.min(rest * 2, REST_MOST_MS)
    }
  }
}

const PASSING: readonly ErrorKind[] = ['unknown', 'unavailable', 'exhausted']

function mayPass(error: unknown): boolean {
  if (!(error instanceof InkError)) return true
  return error.code === 'CONFLICT' || (PASSING.includes(error.kind) && error.code !== 'STORE_CLOSED')
}
