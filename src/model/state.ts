// One entry of key-value state, of the tenant or of a session.

import type { BlobRef } from './blob.ts'
import type { Json } from './data.ts'
import type { Id, SessionId } from './ids.ts'

/** A stored value: JSON in the event, its text where the order of keys matters, the ref of a JSON value, or bytes. */
export type StateContent = { readonly value: Json } | { readonly text: string } | { readonly ref: string } | { readonly blob: BlobRef }

export interface StateRow {
  readonly id: Id<'state'>
  /** Absent for state of the tenant. */
  readonly session?: SessionId
  readonly key: string
  /** Absent when the payload was erased: then there is no entry. */
  readonly content?: StateContent
  /** Store time from which the entry counts as absent. */
  readonly expires?: number
}
