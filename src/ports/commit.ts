// The one write. A commit is a plain value: what must still be true, what happened, which rows follow. A backend applies it whole
// or not at all.

import type { EventDraft, Receipt } from '../model/event.ts'
import type { SessionId, TenantId } from '../model/ids.ts'
import type { ColumnValue, TableName } from '../model/tables.ts'
import type { TenantState } from '../model/tenant.ts'

export type Guard =
  /** The row is at this revision; 0 means that it is absent. */
  | { readonly kind: 'row'; readonly table: TableName; readonly id: string; readonly revision: number }
  /** Nobody has written to the session since. */
  | { readonly kind: 'quiet'; readonly session: SessionId; readonly after: number }
  /** This fence is the newest: whoever holds an older one has lost what it guards. */
  | { readonly kind: 'fence'; readonly table: TableName; readonly id: string; readonly fence: number }

export type Change =
  | {
      readonly kind: 'put'
      readonly table: TableName
      readonly id: string
      readonly columns: readonly ColumnValue[]
      readonly body: string
      /** Which event of this commit the row follows from; its seq becomes the revision. Absent only for cache tables. */
      readonly event?: number
      /** This change grants the row to someone: the fence becomes the revision. Otherwise the fence stays. */
      readonly grants?: boolean
    }
  | { readonly kind: 'remove'; readonly table: TableName; readonly id: string }
  /** Drops payload and salt of these events and keeps everything else. The authorising event is in the same commit. */
  | { readonly kind: 'erase'; readonly seqs: readonly number[] }
  /**
   * Sets the tenant's state, together with the event that says so. A commit that holds one is not refused because of the state the
   * tenant has, which is how a tenant comes back; only from `deleted` nothing leads away.
   */
  | { readonly kind: 'state'; readonly state: TenantState }

export interface CommitKey {
  readonly digest: Uint8Array
  /** The canonical text of the redacted command: what must match when the key comes again. */
  readonly body: string
}

export interface Commit {
  readonly tenant: TenantId
  readonly key?: CommitKey
  readonly guards: readonly Guard[]
  readonly events: readonly EventDraft[]
  readonly changes: readonly Change[]
  /**
   * The head the sender knew when it sent this commit first. When the journal has grown since, an earlier sending may have arrived:
   * before anything else, look for its first event id beyond this seq. A reply that was lost and a sending that arrives late both
   * end in one event.
   */
  readonly since?: number
}

export type Outcome =
  | {
      readonly ok: true
      /** One per event, in order. */
      readonly receipts: readonly Receipt[]
      readonly repeated: boolean
      /** Store time. */
      readonly now: number
    }
  | { readonly ok: false; readonly refused: Guard; readonly found: number; readonly now: number }
  | {
      readonly ok: false
      readonly refused: 'key'
      readonly found: { readonly seq: number; readonly erased: boolean }
      readonly now: number
    }
  /** The tenant is not active, or was deleted and something else was asked of it. Looked at before keys and guards. */
  | { readonly ok: false; readonly refused: 'tenant'; readonly found: TenantState; readonly now: number }
  /** The store choked on this commit, saved nothing of it, and says why; its neighbours are untouched. */
  | { readonly ok: false; readonly refused: 'failed'; readonly found: string; readonly now: number }
