// Reads the journal in pages by seq, filtered by header.

import type { EventRecord, TypePattern } from '../model/event.ts'
import type { EventId, Id, RunId, SessionId, TenantId } from '../model/ids.ts'
import type { TenantState } from '../model/tenant.ts'

export interface Head {
  readonly seq: number
  readonly hash: Uint8Array
  readonly state: TenantState
}

export interface PageQuery {
  /** Only events after this seq (before it, when reading backwards). */
  readonly from: number
  readonly backwards?: boolean
  readonly limit: number
  /** Ends the page once this much payload is gathered. A page has at least one event if there is any. */
  readonly bytes?: number
  /** The last seq to read (the lowest, when reading backwards). */
  readonly to?: number
  /** Only the event with this id. */
  readonly id?: EventId
  /** Only events that were appended under this key. Events about a row are left out, though they may carry a key too. */
  readonly key?: Uint8Array
  readonly session?: SessionId
  readonly run?: RunId
  readonly subject?: Id
  readonly actor?: string
  readonly types?: readonly TypePattern[]
  /** By the appender's clock: from `since` on, and before `until`. */
  readonly since?: number
  readonly until?: number
}

export interface Page {
  readonly events: readonly EventRecord[]
  /** Every event up to this seq (down to it, backwards) was looked at: a reader continues from here and misses nothing. */
  readonly through: number
  /** There may be more beyond `through`. */
  readonly more: boolean
}

export interface TenantPage {
  readonly after?: string
  readonly limit?: number
}

export interface JournalReads {
  /** `{ seq: 0, hash: zeros, state: 'active' }` for a tenant without events. Answers in any tenant state: a head contains no payload. */
  head(tenant: TenantId): Promise<Head>
  /** Rejects with TENANT_CLOSED when the tenant is not active, checked in the store each time. So does every other read of its content. */
  page(tenant: TenantId, query: PageQuery): Promise<Page>
  /**
   * At most `limit` tenants behind the id `after`, or all of them. Ordered by id, including tenants that are not active. A tenant that has only
   * values may be listed or not.
   */
  tenants(page?: TenantPage): Promise<readonly TenantId[]>
}
