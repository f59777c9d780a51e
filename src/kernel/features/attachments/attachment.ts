// Attachments of a session as callers see them, and how they are found.

import type { AttachmentRow, AttachmentState } from '../../../model/attachment.ts'
import type { SessionId } from '../../../model/ids.ts'
import { checkRecord } from '../../../model/record-version.ts'
import { decodeBody, type TableRow } from '../../../model/rows.ts'
import type { Scope } from '../../wiring/scope.ts'

export interface Attachment {
  /** SHA-256 of the bytes, in hex. */
  readonly id: string
  readonly mediaType: string
  /** The bytes themselves show the media type. */
  readonly verified: boolean
  /** Number of bytes. */
  readonly size: number
  /** Present for an image, in pixels. */
  readonly width?: number
  readonly height?: number
  readonly label?: string
  readonly name?: string
  /** `committed` once a turn has used it. */
  readonly state: AttachmentState
  /** Store time of the intent. */
  readonly at: number
  readonly committedAt?: number
}

export function toAttachment(row: AttachmentRow): Attachment {
  const { content, mediaType, verified, size, width, height, label, name, state, at, committedAt } = row
  return {
    id: content ?? '',
    mediaType: mediaType ?? 'application/octet-stream',
    verified: verified ?? false,
    size: size ?? 0,
    ...(width !== undefined && height !== undefined && { width, height }),
    ...(label !== undefined && { label }),
    ...(name !== undefined && { name }),
    state,
    at,
    ...(committedAt !== undefined && { committedAt }),
  }
}

/** The first attachment of the session with these bytes. */
export async function findAttachment(scope: Scope, session: SessionId, content: string): Promise<AttachmentRow | undefined> {
  const range = { index: 'byContent', equals: [session, content], limit: 1 }
  const [stored] = (await scope.engine.backend.rows.list(scope.tenant, 'attachments', range)).rows
  return stored && attachmentOf(stored)
}

export function attachmentOf({ id, body }: Pick<TableRow<'attachments'>, 'id' | 'body'>): AttachmentRow {
  const row = decodeBody(body, { table: 'attachments', id })
  return checkRecord(row, { record: 'attachment', id: row.content ?? row.id })
}
