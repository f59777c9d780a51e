// Reading the journal: pages by place, narrowed by header.

import type { EventRecord, TypePattern } from '../model/event.ts'
import type { Id, RunId, SessionId, TenantId } from '../model/ids.ts'
import type { TenantState } from '../model/tenant.ts'

export interface Head {
  readonly seq: number
  readonly hash: Uint8Array
  readonly state: TenantState
}

export interface PageQuery {
  /** Only events beyond this seq (before it, when reading backwards). */
  readonly from: number
  readonly backwards?: boolean
  readonly limit: number
  /** Stop once this much payload is gathered; a page holds at least one event where there is one. */
  readonly bytes?: number
  /** Not beyond this seq (not below it, when reading backwards). */
  readonly to?: number
  readonly session?: SessionId
  readonly run?: RunId
  readonly subject?: Id
  readonly actor?: string
  readonly types?: readonly TypePattern[]
  /** By the appender's clock: from this time on, and before that one. */
  readonly since?: number
  readonly until?: number
}

export interface Page {
  readonly events: readonly EventRecord[]
  /** Everything up to here (down to here, backwards) was looked at: a reader goes on from this seq and misses nothing. */
  readonly through: number
  /** There may be more beyond `through`. */
  readonly more: boolean
}

export interface JournalReads {
  /** `{ seq: 0, hash: zeros, state: 'active' }` for a tenant nobody has written to. Answers whatever the state: a head holds no payload. */
  head(tenant: TenantId): Promise<Head>
  /** TENANT_CLOSED when the tenant is not active, found in the store each time. So does every other read that could show what it holds. */
  page(tenant: TenantId, query: PageQuery): Promise<Page>
  /** In the order of their ids, those that are not active too. */
  tenants(): Promise<readonly TenantId[]>
}
