// Retries a write while the store is away, so that finished work is not lost by a short outage.

import { type ErrorKind, InkError } from '../../../model/errors.ts'
import type { Scope } from '../../wiring/scope.ts'

const REST_MS = 10
const REST_MOST_MS = 1000

export interface Persistence {
  /** How long to retry. */
  readonly ms: number
  /** Ends the retries at once. */
  readonly leaving?: AbortSignal
  /** Called with the first failure. */
  readonly failed?: (error: unknown) => void
}

/** Retries with exponential backoff while a retry may help. */
export async function retryWrite<R>({ engine }: Scope, write: () => Promise<R>, { ms, leaving, failed }: Persistence): Promise<R> {
  let [rest, rested] = [REST_MS, 0]
  for (;;) {
    try {
      return await write()
    } catch (error) {
      if (!mayPass(error) || leaving?.aborted || engine.closing.aborted || rested >= ms) throw error
      if (rested === 0) failed?.(error)
      await engine.environment.timer.after(rest, leaving).catch(() => {})
      rested += rest
      rest = Math.min(rest * 2, REST_MOST_MS)
    }
  }
}

const PASSING: readonly ErrorKind[] = ['unknown', 'unavailable', 'exhausted']

/** Whether a retry may help. A suspended tenant may be resumed in a moment. */
function mayPass(error: unknown): boolean {
  if (!(error instanceof InkError)) return true
  return error.code === 'CONFLICT' || error.code === 'TENANT_CLOSED' || (PASSING.includes(error.kind) && error.code !== 'STORE_CLOSED')
}
