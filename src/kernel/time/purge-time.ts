// The time by which data is removed for good: store time, unless the clock of this process has leapt ahead of the other times in the store.

import type { Engine, Scope } from '../wiring/scope.ts'
import { storeNow } from './store-time.ts'

/**
 * Everything that removes data by its age asks here, and nothing else does: an expired entry counts as absent by store time. A clock that leapt
 * would otherwise remove what other processes still need.
 */
export async function purgeTime(scope: Scope): Promise<number> {
  return notBeyondTrust(scope.engine, await storeNow(scope))
}

/** The earlier one of `now` and the time to which the clock of this process is trusted. */
export async function notBeyondTrust({ backend }: Engine, now: number): Promise<number> {
  const trust = await backend.upkeep.clock?.()
  return trust?.until === undefined ? now : Math.min(now, trust.trusted)
}
