// One entry of key-value state, of the tenant or of a session.

import type { BlobRef } from './blob.ts'
import type { Json } from './data.ts'
import type { Id, SessionId } from './ids.ts'

/** A stored value: JSON in the event, its text where the order of keys matters, a JSON value by its ref, or bytes. */
export type StateContent = { readonly value: Json } | { readonly text: string } | ValueContent | { readonly blob: BlobRef }

/** Content that is stored as a value. */
export interface ValueContent {
  readonly ref: string
  /** The refs of values in it. Garbage collection finds them here: in the value they are texts. */
  readonly holds?: readonly string[]
}

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
