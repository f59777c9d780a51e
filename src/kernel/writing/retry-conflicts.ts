// Optimistic concurrency: a writer reads rows, decides, and commits guarded by their revisions. When another writer was first, it reads
// and decides again.

import { limits } from '../../model/limits.ts'
import type { TableName } from '../../model/tables.ts'
import type { Scope } from '../wiring/scope.ts'
import { isConflict, isGone } from './commit-outcome.ts'

/**
 * Calls `write` (read, decide, commit) and retries it, after a pause, while another writer is first at one of these tables. A function
 * instead of tables decides for every error whether a retry may help. The error of the last attempt goes to the caller.
 */
export async function retryConflicts<T>(
  scope: Scope,
  conflicts: readonly TableName[] | ((error: unknown) => boolean | Promise<boolean>),
  write: (attempt: number) => Promise<T>,
): Promise<T> {
  const patience = new Patience(scope)
  for (let attempt = 1; ; attempt++) {
    try {
      return await write(attempt)
    } catch (error) {
      if (patience.isOver(attempt)) throw error
      if (!(typeof conflicts === 'function' ? await conflicts(error) : isConflict(error, ...conflicts))) throw error
    }
    await pause(scope, attempt)
  }
}

/** Collections without grace that may follow one another between a put and its commit. Content that is gone for good is refused soon. */
const GONE_TIMES = 8

/** For writes that put their content themselves: a garbage collection may delete it before the commit names it, and a retry puts it again. */
export function conflictOrGone(...tables: readonly TableName[]): (error: unknown) => boolean {
  let left = GONE_TIMES
  return (error) => isConflict(error, ...tables) || (isGone(error) && left-- > 0)
}

/** How long one write is retried: by time, because a count of attempts is used up in a moment when writers are quick. */
export class Patience {
  readonly #scope: Scope
  readonly #since: number

  constructor(scope: Scope) {
    this.#scope = scope
    this.#since = scope.engine.environment.clock.monotonic()
  }

  /** Attempts may contain retries of their own, so their number does not extend the time without end. */
  isOver(attempt: number): boolean {
    const spent = this.#scope.engine.environment.clock.monotonic() - this.#since
    return spent >= limits.conflictMs && (attempt >= limits.conflictRetries || spent >= 2 * limits.conflictMs)
  }
}

const LONGEST_MS = 64
// From this attempt on, a writer comes back sooner each time: it has lost to others often enough.
const LOST_OFTEN = 10

/** Exponential backoff with jitter, so that colliding writers come back at different moments. */
export function pause(scope: Scope, attempt: number): Promise<void> {
  const { entropy, timer } = scope.engine.environment
  const spread = (entropy.bytes(1)[0] as number) / 255
  const longest = attempt < LOST_OFTEN ? Math.min(2 ** attempt, LONGEST_MS) : Math.max(LONGEST_MS / 2 ** (attempt - LOST_OFTEN + 1), 2)
  return timer.after(longest * spread)
}
