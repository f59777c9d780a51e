// The backoff between retries: one shape and one parser for effects, items, cron jobs and triggers.

import { limits } from '../../model/limits.ts'
import { checkKnown, invalidOption, optionsOf } from '../../model/options.ts'
import { type Duration, milliseconds } from '../../model/time.ts'
import type { Backoff } from '../../model/work.ts'

/**
 * The delay before the first retry, which doubles with each further one; or `first`, multiplied by `factor` (default 2) with each retry,
 * up to `most` (default 1 h).
 */
export type BackoffOptions = Duration | { readonly first: Duration; readonly factor?: number; readonly most?: Duration }

export function takeBackoff(backoff: BackoffOptions = limits.workBackoffMs): Backoff {
  const {
    first,
    factor = 2,
    most = limits.workBackoffMostMs,
    ...unknown
  } = typeof backoff === 'object' ? optionsOf(backoff, 'backoff') : { first: backoff }
  checkKnown(unknown, 'a backoff')
  if (typeof factor !== 'number' || !(factor >= 1) || factor > 100) throw invalidOption('backoff.factor', 'a number from 1 to 100', factor)
  return { firstMs: milliseconds(first), factor, mostMs: milliseconds(most) }
}
