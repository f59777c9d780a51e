// Reads that are more than a range of one index, each with its meaning here, its shortest form in the memory backend and one SQL
// text in every other.

import type { TenantId } from './ids.ts'

/** How many events of each type a tenant has, and how many bytes of payload they hold; largest first, then by type. */
export interface TypeUsage {
  readonly type: string
  readonly events: number
  readonly bytes: number
  readonly erased: number
}

/** When somebody has to look into a queue of this tenant next. */
export interface DueTenant {
  readonly tenant: TenantId
  readonly at: number
}

export interface Queries {
  /** Refused with TENANT_CLOSED when the tenant is not active. */
  usageByType(tenant: string): Promise<readonly TypeUsage[]>
  /**
   * For every active tenant with something in this queue that has a time (`work.at` not null): the earliest such time. Earliest first, tenants of
   * one time in the order of their ids, at most `limit`. Across tenants, and so without any payload.
   */
  due(queue: string, limit: number): Promise<readonly DueTenant[]>
}
