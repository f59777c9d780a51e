// Optimistic concurrency: a writer reads rows, decides, and commits guarded by their revisions. When another writer was first, it reads
// and decides again.

import { limits } from '../model/limits.ts'
import type { TableName } from '../model/tables.ts'
import { isConflict } from './outcome.ts'
import type { Scope } from './scope.ts'

/**
 * Calls `write` (read, decide, commit) and retries it, after a pause, while another writer is first at one of these tables. A function
 * instead of tables decides for every error whether a retry may help. The error of the last attempt goes to the caller.
 */
export async function retryConflicts<T>(
  scope: Scope,
  conflicts: readonly TableName[] | ((error: unknown) => boolean | Promise<boolean>),
  write: (attempt: number) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await write(attempt)
    } catch (error) {
      if (attempt === limits.conflictRetries) throw error
      if (!(typeof conflicts === 'function' ? await conflicts(error) : isConflict(error, ...conflicts))) throw error
    }
    await pause(scope, attempt)
  }
}

/** Exponential backoff with jitter, so that colliding writers come back at different moments. */
export function pause(scope: Scope, attempt: number): Promise<void> {
  const { entropy, timer } = scope.engine.environment
  const spread = (entropy.bytes(1)[0] as number) / 255
  return timer.after(Math.min(2 ** attempt, 64) * spread)
}
