// What time it is for the store, which is the only clock that decides.

import type { Scope } from '../scope.ts'

/** Exactly, or as far as the last answer of the store tells. A node that has heard nothing yet always asks. */
export async function storeNow({ engine, tenant }: Scope, exactly = true): Promise<number> {
  if (!exactly && engine.lane.hasHeard) return engine.lane.storeTime()
  return (await engine.backend.leases.read(tenant, [])).now
}
