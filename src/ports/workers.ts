// What working processes handle. The rows answer in any state of a tenant, like the audit, and are safe to lose.

import type { TenantId } from '../model/ids.ts'
import type { WorkerData, WorkerRow } from '../model/worker.ts'

export interface LiveWorkers {
  /** Store time: compare `until` with this and with no other clock. */
  readonly now: number
  /** Ordered by id; live ones, and those that ended and are not dropped yet. */
  readonly workers: readonly WorkerRow[]
}

export interface Workers {
  /**
   * Keeps these workers live for `ms` from now; 0 ends them. `tenant` undefined says that they serve every tenant. Rows of the same tenant that
   * ended more than `keepMs` ago are dropped.
   */
  renew(tenant: TenantId | undefined, workers: readonly WorkerData[], ms: number, keepMs: number): Promise<void>
  /** The workers of this tenant, and those of every tenant. Nothing in them tells which other tenants there are. */
  list(tenant: TenantId): Promise<LiveWorkers>
}
