// What is done is written as soon as the store can write it: a store that is away for a moment undoes nothing.

import { type ErrorKind, InkError } from '../../model/errors.ts'
import type { Scope } from '../scope.ts'

const REST_MS = 10
const REST_MOST_MS = 1000

export interface Persistence {
  /** How long at most. */
  readonly ms: number
  /** Ends it at once. */
  readonly leaving?: AbortSignal
  /** Told of the first failure. */
  readonly failed?: (error: unknown) => void
}

/** Tried again and again while that may help. */
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

/** A tenant that was closed may be opened again in a moment. */
function mayPass(error: unknown): boolean {
  if (!(error instanceof InkError)) return true
  return error.code === 'CONFLICT' || error.code === 'TENANT_CLOSED' || (PASSING.includes(error.kind) && error.code !== 'STORE_CLOSED')
}
