// Optimistic concurrency: a writer decides on rows that it has read, commits guarded by their revisions, and retries when another writer
// was first.

import { limits } from '../model/limits.ts'
import type { TableName } from '../model/tables.ts'
import { isConflict } from './outcome.ts'
import type { Scope } from './scope.ts'

/**
 * Calls `attempt` (read, decide, commit), and calls it again after a pause when another writer changed a row of one of these tables in
 * between. Any other error, and the conflict of the last attempt, goes to the caller.
 */
export async function retryConflicts<T>(scope: Scope, tables: readonly TableName[], attempt: (number: number) => Promise<T>): Promise<T> {
  for (let number = 1; ; number++) {
    try {
      return await attempt(number)
    } catch (error) {
      if (!isConflict(error, ...tables) || number === limits.conflictRetries) throw error
      await pause(scope, number)
    }
  }
}

/** Exponential backoff with jitter, so that colliding writers come back at different moments. */
export function pause(scope: Scope, attempt: number): Promise<void> {
  const { entropy, timer } = scope.engine.environment
  const spread = (entropy.bytes(1)[0] as number) / 255
  return timer.after(Math.min(2 ** attempt, 64) * spread)
}
