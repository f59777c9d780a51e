// `session.attachments`: files of a conversation, by the SHA-256 of their bytes.

import type { AttachmentRow } from '../../../model/attachment.ts'
import { takeDigest } from '../../../model/blob.ts'
import { refuse } from '../../../model/errors.ts'
import type { SessionId } from '../../../model/ids.ts'
import { limits } from '../../../model/limits.ts'
import { checkKnown, invalidOption, optionsOf } from '../../../model/options.ts'
import { type BlobRange, rangeOf, readChunks, type TakenRange } from '../../content/blob-stream.ts'
import { getBlob } from '../../content/blobs.ts'
import { checkLast, type Page, type PageOptions } from '../../reading/list-rows.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { type Part, part, plan } from '../../writing/execute.ts'
import { type Attachment, attachmentOf, findAttachment, toAttachment } from './attachment.ts'
import { attachment } from './attachment-decider.ts'
import { type PutAttachmentOptions, putAttachment } from './put-attachment.ts'

export interface SessionAttachments {
  /** Stores a file. The intent is recorded before the bytes; identical bytes are stored once, and the first intent is kept. */
  put(bytes: Uint8Array | AsyncIterable<Uint8Array>, options?: PutAttachmentOptions): Promise<Attachment>
  /** Reads a file with its bytes. */
  get(id: string, options?: { readonly signal?: AbortSignal }): Promise<(Attachment & { readonly bytes: Uint8Array }) | undefined>
  /** Reads what is known about a file, without its bytes. */
  stat(id: string): Promise<Attachment | undefined>
  /** Reads a file, or a range of it, piece by piece. */
  stream(id: string, range?: BlobRange): AsyncIterable<Uint8Array>
  /** Lists files, newest first. */
  list(options?: PageOptions): Promise<Page<Attachment>>
  /** Marks files as used outside of a turn, so that no sweep removes them. */
  commit(ids: readonly string[]): Promise<void>
  /** Removes a file that no turn has committed. Says whether there was one. */
  forget(id: string): Promise<boolean>
}

const LAST = 50

export const sessionAttachments = (scope: Scope, session: SessionId): SessionAttachments => ({
  put: (bytes, options) => putAttachment(scope, session, bytes, options),
  get: async (id, options) => {
    const { signal, ...unknown } = optionsOf(options, 'attachments.get')
    checkKnown(unknown, 'attachments.get')
    const row = await stored(scope, session, id)
    return row && { ...toAttachment(row), bytes: await getBlob(scope, row.content as string, { ...(signal && { signal }) }) }
  },
  stat: async (id) => {
    const row = await stored(scope, session, id)
    return row && toAttachment(row)
  },
  stream: (id, range) => stream(scope, session, id, rangeOf(range, 'attachments.stream')),
  list: (options) => list(scope, session, options),
  commit: async (ids) => {
    checkOpen(scope.engine)
    const parts = await commitParts(scope, session, takeIds(ids), undefined)
    await plan(scope, parts, { open: session })
  },
  forget: async (id) => {
    const row = await stored(scope, session, id)
    if (!row) return false
    if (row.state === 'committed') throw refuse('ATTACHMENT_COMMITTED', { session, attachment: id })
    const { receipts } = await plan(scope, [part(attachment, row.id, { verb: 'forget', orphan: true }, { session })])
    return receipts.length > 0
  },
})

/** The SHA-256 of attachments that a caller names, as texts or as what `put` returned. */
export function takeIds(given: readonly (string | { readonly id: string })[]): readonly string[] {
  if (!Array.isArray(given) || given.length > limits.turnAttachments)
    throw invalidOption('attachments', `at most ${limits.turnAttachments} ids of attachments`)
  const ids = given.map((one) => (typeof one === 'object' && one !== null ? (one as { id: string }).id : (one as string)))
  return [...new Set(ids.map(takeDigest))]
}

/** The parts of a commit that mark attachments as committed. Each must have an intent whose bytes are stored. */
export async function commitParts(
  scope: Scope,
  session: SessionId,
  ids: readonly string[],
  turn: string | undefined,
): Promise<readonly Part<AttachmentRow>[]> {
  return Promise.all(
    ids.map(async (id) => {
      const row = await findAttachment(scope, session, id)
      if (!row) throw refuse('ATTACHMENT_UNKNOWN', { session, attachment: id })
      const guards = [{ kind: 'blob', digest: id }] as const
      return part(attachment, row.id, { verb: 'commit', session, content: id, turn }, { session, guards })
    }),
  )
}

async function stored(scope: Scope, session: SessionId, id: string): Promise<AttachmentRow | undefined> {
  checkOpen(scope.engine)
  return findAttachment(scope, session, takeDigest(id))
}

async function* stream(scope: Scope, session: SessionId, id: string, range: TakenRange): AsyncGenerator<Uint8Array, void, undefined> {
  const row = await stored(scope, session, id)
  if (!row) throw refuse('ATTACHMENT_UNKNOWN', { session, attachment: id })
  yield* readChunks(scope, takeDigest(id), range)
}

async function list(scope: Scope, session: SessionId, options?: PageOptions): Promise<Page<Attachment>> {
  checkOpen(scope.engine)
  const { last = LAST, cursor, ...unknown } = optionsOf(options, 'attachments.list')
  checkKnown(unknown, 'a list of attachments')
  checkLast(last, 'attachments')
  const query = { index: 'bySession', equals: [session], backwards: true, limit: last, ...(cursor !== undefined && { cursor }) }
  const page = await scope.engine.backend.rows.list(scope.tenant, 'attachments', query)
  const items = page.rows.map(attachmentOf).filter(({ content }) => content !== undefined)
  return { items: items.map(toAttachment), ...(page.cursor !== undefined && { cursor: page.cursor }) }
}
