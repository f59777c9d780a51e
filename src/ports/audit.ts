// Refusals of a tenant, kept beside its journal. They hold no payload, so both calls answer in any tenant state.

import type { TenantId } from '../model/ids.ts'
import type { Refusal } from '../model/refusal.ts'

export interface AuditQuery {
  readonly limit: number
  /** Only refusals with a smaller id. */
  readonly before?: string
}

export interface Audit {
  /**
   * Adds refusals, and drops all but the newest `keep` by their ids. An id that is there is not added again. A backend with a file per tenant
   * keeps nothing for a tenant that has no file yet.
   */
  add(tenant: TenantId, refusals: readonly Refusal[], keep: number): Promise<void>
  /** Newest first. */
  list(tenant: TenantId, query: AuditQuery): Promise<readonly Refusal[]>
}
