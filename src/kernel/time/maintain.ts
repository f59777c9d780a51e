// Maintenance of a store: forgets old receipts, and lets the features clean up in every tenant.

import { limits } from '../../model/limits.ts'
import { everyTenant } from '../../model/tenant-pages.ts'
import { stopIfAsked } from '../reading/abortable.ts'
import type { Scope } from '../wiring/scope.ts'
import { notBeyondTrust } from './purge-time.ts'

export interface MaintenanceReport {
  readonly receiptsForgotten: number
  /** Rows that the features removed in all tenants, by name. */
  readonly [what: string]: number
}

export async function maintain(scope: Scope, signal?: AbortSignal): Promise<MaintenanceReport> {
  stopIfAsked(scope, signal)
  const { backend, lane, features } = scope.engine
  // Ask the store: a node that has not written yet knows only its own clock. A closed tenant answers only for its head.
  const { state } = await backend.journal.head(scope.tenant)
  const told = state === 'active' ? (await backend.leases.read(scope.tenant, [])).now : lane.storeTime()
  const now = await notBeyondTrust(scope.engine, told)
  const receiptsForgotten = await backend.upkeep.sweepReceipts(now - limits.receiptsKeptMs)
  await backend.workers.renew(undefined, [], 0, limits.workerKeptMs)
  const removed: Record<string, number> = {}
  for await (const tenant of everyTenant(backend.journal.tenants)) {
    stopIfAsked(scope, signal)
    if ((await backend.journal.head(tenant)).state !== 'active') continue
    await backend.workers.renew(tenant, [], 0, limits.workerKeptMs)
    for (const [what, count] of Object.entries(await features.maintained({ ...scope, tenant }, now)))
      removed[what] = (removed[what] ?? 0) + count
  }
  return { receiptsForgotten, ...removed }
}
