// The one write. A commit is a plain value: guards that must hold, events that happened, rows that follow. A backend applies all of it or
// nothing.

import type { EventDraft, Receipt } from '../model/event.ts'
import type { SessionId, TenantId } from '../model/ids.ts'
import type { ColumnValue, TableName } from '../model/tables.ts'
import type { TenantState } from '../model/tenant.ts'
import type { ValueNode } from '../model/value.ts'

export type Guard =
  /** The row is at this revision; 0 means that it is absent. */
  | { readonly kind: 'row'; readonly table: TableName; readonly id: string; readonly revision: number }
  /** No event was added to the session after this seq. */
  | { readonly kind: 'quiet'; readonly session: SessionId; readonly after: number }
  /** This fence is the newest: the holder of an older one has lost its right. */
  | { readonly kind: 'fence'; readonly table: TableName; readonly id: string; readonly fence: number }
  /** The tenant has this node of a value. Garbage collection started before this commit keeps it. */
  | { readonly kind: 'value'; readonly ref: Uint8Array; readonly given?: true }
  /**
   * The tenant has this blob. A condemned blob becomes present again, and garbage collection started before this commit keeps it. `given` says
   * that the data of a caller names the content, so the sender cannot put it again. Backends ignore it.
   */
  | { readonly kind: 'blob'; readonly digest: string; readonly given?: true }

export type Change =
  | {
      readonly kind: 'put'
      readonly table: TableName
      readonly id: string
      readonly columns: readonly ColumnValue[]
      readonly body: string
      /** Index of the event in this commit that the row follows from; its seq becomes the revision. Absent only for cache tables. */
      readonly event?: number
      /** This change grants the row to a new holder: the fence becomes the revision. Otherwise the fence stays. */
      readonly grants?: boolean
    }
  | { readonly kind: 'remove'; readonly table: TableName; readonly id: string }
  /** Drops payload and salt of these events and keeps everything else. The authorising event is in the same commit. */
  | { readonly kind: 'erase'; readonly seqs: readonly number[] }
  /**
   * Sets the tenant's state, in the same commit as the event that records it. Such a commit is accepted in any state, so that a suspended
   * tenant can become active again. Only a deleted tenant stays deleted.
   */
  | { readonly kind: 'state'; readonly state: TenantState }

export interface CommitKey {
  readonly digest: Uint8Array
  /** The canonical text of the redacted command, which must match when the key is used again. */
  readonly body: string
}

export interface Commit {
  readonly tenant: TenantId
  readonly key?: CommitKey
  readonly guards: readonly Guard[]
  readonly events: readonly EventDraft[]
  readonly changes: readonly Change[]
  /** Nodes of values, children before parents; those that the tenant has already are left as they are. Guards cover what they refer to. */
  readonly nodes?: readonly ValueNode[]
  /**
   * The head that the sender knew when it first sent this commit. If the journal has grown since, an earlier send may have arrived. The
   * backend then first looks for the commit's first event id beyond this seq, so that a resent commit is saved once.
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
  /** The tenant is not active, or is deleted and the commit asks for anything else. Checked before keys and guards. */
  | { readonly ok: false; readonly refused: 'tenant'; readonly found: TenantState; readonly now: number }
  /** The store failed on this commit, saved nothing of it, and says why; the other commits are not affected. */
  | { readonly ok: false; readonly refused: 'failed'; readonly found: string; readonly now: number }
