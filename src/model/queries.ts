// Reads that need more than a range of one index. The meaning is defined here, the memory backend has the shortest form, and each SQL
// backend has one statement.

import type { TenantId } from './ids.ts'
import type { StoredRow } from './rows.ts'

/** Events and payload bytes of a tenant by event type; largest first, then by type. */
export interface TypeUsage {
  readonly type: string
  readonly events: number
  readonly bytes: number
  readonly erased: number
}

/** When the queue of this tenant must be looked at next. */
export interface DueTenant {
  readonly tenant: TenantId
  readonly at: number
}

/** Items that can be claimed in a queue, and when to look again. */
export interface ReadyWork {
  /** Store time, by which the items are due. */
  readonly now: number
  readonly rows: readonly StoredRow[]
  /** The earliest time after `now` at which an item of the queue needs a look. It ignores renewals of claims. */
  readonly next?: number
}

/** Number of items of a queue by state. Items that are due later are counted apart from due ones. */
export interface Backlog {
  readonly queue: string
  readonly ready: number
  readonly delayed: number
  readonly claimed: number
  readonly asleep: number
  readonly dead: number
}

/** A queue with an item that was due some time ago. */
export interface OverdueQueue {
  readonly queue: string
  /** The earliest `work.at` in it, whatever the state of that item. */
  readonly at: number
}

export interface Queries {
  /** Refused with TENANT_CLOSED when the tenant is not active. */
  usageByType(tenant: string): Promise<readonly TypeUsage[]>
  /**
   * Returns the earliest time (`work.at`, not null) per active tenant with an item in this queue. Ordered by time, then by tenant id; at
   * most `limit`. The query crosses tenants, so it returns no payload. After tens of thousands of tenants were
   * drained and nobody looked, the first answers may tell some of them too early; no answer is too late.
   */
  due(queue: string, limit: number): Promise<readonly DueTenant[]>
  /**
   * Returns items with a priority that can be claimed now, at most `limit`: by highest priority, then earliest time, then oldest, then id.
   * These are `ready` items that are due, and `claimed` items whose claim has expired and was not renewed under its fence. Of a series, in
   * any queue, only the oldest item that is not `dead` is returned; the later ones wait.
   */
  ready(tenant: TenantId, queue: string, limit: number): Promise<ReadyWork>
  /** Every queue of the tenant that holds items, ordered by name. */
  backlog(tenant: TenantId): Promise<readonly Backlog[]>
  /**
   * Every queue of the tenant with an item whose time (`work.at`, not null) was `ms` ago or longer, ordered by name; at most `limit`. One seek a
   * queue, however many items it holds. It ignores renewals of claims.
   */
  overdue(tenant: TenantId, ms: number, limit: number): Promise<readonly OverdueQueue[]>
}
