// Reads that are more than a range of one index, each with its meaning here, its shortest form in the memory backend and one SQL
// text in every other.

import type { TenantId } from './ids.ts'
import type { StoredRow } from './rows.ts'

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

/** What can be claimed in a queue, and when it is worth looking again. */
export interface ReadyWork {
  /** Store time: what was due was due by this clock. */
  readonly now: number
  readonly rows: readonly StoredRow[]
  /** The earliest time after `now` at which anything in the queue has to be looked at; how long a claim was renewed is not asked for this. */
  readonly next?: number
}

/** How much of a queue is in which state. What is due later is told apart from what is due. */
export interface Backlog {
  readonly queue: string
  readonly ready: number
  readonly delayed: number
  readonly claimed: number
  readonly asleep: number
  readonly dead: number
}

export interface Queries {
  /** Refused with TENANT_CLOSED when the tenant is not active. */
  usageByType(tenant: string): Promise<readonly TypeUsage[]>
  /**
   * For every active tenant with something in this queue that has a time (`work.at` not null): the earliest such time. Earliest first, tenants of
   * one time in the order of their ids, at most `limit`. Across tenants, and so without any payload.
   */
  due(queue: string, limit: number): Promise<readonly DueTenant[]>
  /**
   * Items with a priority that can be claimed now, in the order in which they should be: the highest priority first, then the earliest time, then the
   * oldest, then by id. Those are `ready` ones whose time has come, and `claimed` ones whose claim has run out and was not renewed under its fence. Of a
   * series, whatever queues it is in, only the oldest that is not `dead` is there: what comes behind it waits. At most `limit`.
   */
  ready(tenant: TenantId, queue: string, limit: number): Promise<ReadyWork>
  /** Every queue of the tenant that holds anything, in the order of their names. */
  backlog(tenant: TenantId): Promise<readonly Backlog[]>
}
