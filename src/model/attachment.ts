// An attachment is a file of a conversation. The intent is recorded before the bytes are stored; the turn that uses it marks it committed.

import type { Id, SessionId } from './ids.ts'

/** `intended`: the bytes are on their way. `stored`: no turn has used it yet. `committed`: a turn has. */
export type AttachmentState = 'intended' | 'stored' | 'committed'

export interface AttachmentRow {
  readonly id: Id<'attachment'>
  readonly session: SessionId
  readonly schema: number
  readonly state: AttachmentState
  /** SHA-256 of the bytes in hex, which is the id that callers see. */
  readonly content?: string | undefined
  /** Number of bytes. */
  readonly size?: number | undefined
  readonly mediaType?: string | undefined
  /** The bytes themselves show the media type. */
  readonly verified?: boolean | undefined
  readonly width?: number | undefined
  readonly height?: number | undefined
  readonly label?: string | undefined
  readonly name?: string | undefined
  /** Store time of the intent. */
  readonly at: number
  readonly committedAt?: number | undefined
  /** The turn that committed it. */
  readonly turn?: string | undefined
}
