// Stores an attachment: the intent first, then the bytes. A crash in between leaves an intent, which a sweep removes.

import type { AttachmentRow } from '../../../model/attachment.ts'
import { takeDigest } from '../../../model/blob.ts'
import { hex } from '../../../model/bytes.ts'
import { InkError, refuse } from '../../../model/errors.ts'
import type { Id, SessionId } from '../../../model/ids.ts'
import { limits } from '../../../model/limits.ts'
import { checkKnown, invalidOption, optionsOf } from '../../../model/options.ts'
import { isStream, putBlob } from '../../content/blobs.ts'
import { abandonable, stopIfAsked } from '../../reading/abortable.ts'
import { storeNow } from '../../time/store-time.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { admit } from '../../writing/draft.ts'
import { NOT_THERE, part, plan } from '../../writing/execute.ts'
import { conflictOrGone, retryConflicts } from '../../writing/retry-conflicts.ts'
import { type Attachment, findAttachment, toAttachment } from './attachment.ts'
import { attachment, type StoredSet } from './attachment-decider.ts'
import { takeFileName } from './file-name.ts'
import { fits, isSigned, SNIFFED_BYTES, type Sniffed, sniff } from './sniff.ts'

export interface PutAttachmentOptions {
  /** Compared with the bytes. The default is the type that the bytes show, or `application/octet-stream`. */
  readonly mediaType?: string
  readonly label?: string
  /** The file name. Folders are cut off, and `..` is refused. */
  readonly name?: string
  /** The SHA-256 in hex that the bytes must have. */
  readonly id?: string
  /** The number of bytes that there must be. */
  readonly size?: number
  /** Abandons the stream; nothing is stored then. */
  readonly signal?: AbortSignal
}

type Bytes = Uint8Array | AsyncIterable<Uint8Array>

const MEDIA_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,62}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,62}(;[\x20-\x7e]{0,120})?$/
const OCTETS = 'application/octet-stream'

export async function putAttachment(scope: Scope, session: SessionId, bytes: Bytes, options?: PutAttachmentOptions): Promise<Attachment> {
  checkOpen(scope.engine)
  const { signal, ...rest } = optionsOf(options, 'attachments.put')
  const wanted = takeOptions(scope, rest)
  stopIfAsked(scope, signal)
  const file = await openFile(scope, signal && isStream(bytes) ? abandonable(bytes, signal) : bytes, wanted)
  const id = scope.engine.newId<'attachment'>()
  const { label, name, mediaType } = wanted
  const at = await storeNow(scope)
  const intend = async (since: number): Promise<void> => {
    const set = { at: since, ...given({ mediaType, label, name }) }
    await plan(scope, [part(attachment, id, { verb: 'intend', set }, { session, seen: NOT_THERE })], { open: session })
  }
  await intend(at)
  try {
    const { digest, bytes: size } = await putBlob(scope, file.checked, { ...KIND, ...(signal && { signal }) })
    const { sniffed } = file
    const stored = {
      content: digest,
      size,
      mediaType: mediaType ?? sniffed?.mediaType ?? OCTETS,
      verified: sniffed !== undefined && fits(sniffed.mediaType, mediaType ?? sniffed.mediaType),
      ...given({ width: sniffed?.width, height: sniffed?.height }),
    }
    // A garbage collection may delete the bytes before the row refers to them.
    const mayRetry = isStream(bytes) ? () => false : conflictOrGone()
    const row = await retryConflicts(scope, mayRetry, async (attempt) => {
      if (attempt > 1) await putBlob(scope, bytes, KIND)
      return storeOnce(scope, session, { id, at, stored, intend })
    })
    return toAttachment(row)
  } catch (error) {
    // The stream failed, or its bytes are not those of the intent: nothing of it stays. A sweep removes what cannot be removed now.
    if (!(error instanceof InkError) || error.kind !== 'unknown') await forget(scope, session, id).catch(() => {})
    throw error
  }
}

const KIND = { kind: 'attachment' }

interface Storing {
  readonly id: Id<'attachment'>
  readonly at: number
  readonly stored: StoredSet & { readonly content: string }
  /** Records the intent again. */
  readonly intend: (since: number) => Promise<void>
}

/** Callers of this process that store the same bytes at once come one after the other, so that these are one attachment. */
async function storeOnce(scope: Scope, session: SessionId, { id, at, stored, intend }: Storing): Promise<AttachmentRow> {
  const { content } = stored
  const end = await scope.engine.rowMutex.take([`${scope.tenant}/attached/${session}/${content}`])
  try {
    const earlier = await findAttachment(scope, session, content)
    const renewed = earlier && (await renew(scope, session, earlier.id, { content, at, instead: id }))
    if (renewed) return renewed
    const storing = part(attachment, id, { verb: 'store', set: stored }, { session })
    for (;;) {
      const { rows } = await plan(scope, [storing], { open: session, guards: [{ kind: 'blob', digest: content }] })
      if (rows[0].body) return rows[0].body
      // The stream took longer than the age of a sweep, which has removed the intent.
      await intend(await storeNow(scope))
    }
  } finally {
    end()
  }
}

/** The earlier attachment with these bytes stays, and is as young as this intent. Undefined if a sweep has removed it meanwhile. */
async function renew(
  scope: Scope,
  session: SessionId,
  id: Id<'attachment'>,
  { content, at, instead }: { readonly content: string; readonly at: number; readonly instead: Id<'attachment'> },
): Promise<AttachmentRow | undefined> {
  try {
    const staying = part(attachment, id, { verb: 'renew', session, content, at }, { session })
    const { rows } = await plan(scope, [staying, part(attachment, instead, { verb: 'forget', orphan: true }, { session })])
    return rows[0].body
  } catch (error) {
    if (error instanceof InkError && error.code === 'ATTACHMENT_UNKNOWN') return undefined
    throw error
  }
}

const forget = (scope: Scope, session: SessionId, id: Id<'attachment'>): Promise<unknown> =>
  plan(scope, [part(attachment, id, { verb: 'forget', orphan: true }, { session })])

const given = <T extends object>(members: T): Partial<T> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Partial<T>

type Wanted = Readonly<Partial<Record<'mediaType' | 'label' | 'name' | 'id', string>>> & { readonly size?: number | undefined }

function takeOptions(scope: Scope, options: Omit<PutAttachmentOptions, 'signal'>): Wanted {
  const { mediaType, label, name, id: named, size, ...unknown } = options
  checkKnown(unknown, 'an attachment')
  const type = typeof mediaType === 'string' ? mediaType.toLowerCase() : mediaType
  if (type !== undefined && (typeof type !== 'string' || !MEDIA_TYPE.test(type)))
    throw invalidOption('mediaType', 'a media type such as image/png', mediaType)
  if (label !== undefined && (typeof label !== 'string' || !label.isWellFormed() || label.length > limits.titleChars))
    throw invalidOption('label', `a text of at most ${limits.titleChars} characters`)
  const id = named === undefined ? undefined : takeDigest(named)
  if (size !== undefined && (!Number.isSafeInteger(size) || size < 0)) throw invalidOption('size', 'an integer ≥ 0', size)
  const file = name === undefined ? undefined : takeFileName(name)
  return admit(scope, given({ mediaType: type, label, name: file, id, size })) as Wanted
}

interface OpenFile {
  readonly checked: Bytes
  readonly sniffed: Sniffed | undefined
}

/** Reads the beginning, and refuses what does not match before anything is written. The rest is checked while it is stored. */
async function openFile(scope: Scope, bytes: Bytes, wanted: Wanted): Promise<OpenFile> {
  if (bytes instanceof Uint8Array) {
    const copy = new Uint8Array(bytes)
    const sniffed = recognised(copy.subarray(0, SNIFFED_BYTES), wanted)
    check(wanted, copy.length, () => hex(scope.engine.environment.digest.sha256(copy)))
    return { checked: copy, sniffed }
  }
  if (!isStream(bytes)) throw invalidOption('bytes', 'a Uint8Array or an async iterable of them', bytes)
  const reader = bytes[Symbol.asyncIterator]()
  const first: Uint8Array[] = []
  let length = 0
  let done = false
  while (length < SNIFFED_BYTES && !done) {
    const next = await reader.next()
    done = next.done === true
    if (next.done) break
    if (!(next.value instanceof Uint8Array)) throw invalidOption('bytes', 'a stream of Uint8Array', next.value)
    // The caller may use its buffer again.
    first.push(new Uint8Array(next.value))
    length += next.value.length
  }
  const beginning = new Uint8Array(length)
  let at = 0
  for (const chunk of first) {
    beginning.set(chunk, at)
    at += chunk.length
  }
  try {
    const sniffed = recognised(beginning.subarray(0, SNIFFED_BYTES), wanted)
    return { checked: checkedStream(scope, beginning, done ? undefined : reader, wanted), sniffed }
  } catch (error) {
    await reader.return?.()
    throw error
  }
}

function recognised(beginning: Uint8Array, { mediaType }: Wanted): Sniffed | undefined {
  const sniffed = sniff(beginning)
  const declared = mediaType?.split(';')[0]?.trim()
  if (declared !== undefined && (sniffed ? !fits(sniffed.mediaType, declared) : isSigned(declared)))
    throw refuse('ATTACHMENT_MISMATCH', { member: 'the media type', expected: declared, found: sniffed?.mediaType ?? 'unknown' })
  return sniffed
}

function check({ id, size }: Wanted, found: number, digest: () => string): void {
  if (size !== undefined && size !== found) throw refuse('ATTACHMENT_MISMATCH', { member: 'the size', expected: size, found })
  if (id === undefined) return
  const digested = digest()
  if (id !== digested) throw refuse('ATTACHMENT_MISMATCH', { member: 'the SHA-256', expected: id, found: digested })
}

/** Ends with an error if the bytes do not match; the blob is then dropped. */
async function* checkedStream(
  scope: Scope,
  beginning: Uint8Array,
  rest: AsyncIterator<Uint8Array> | undefined,
  wanted: Wanted,
): AsyncGenerator<Uint8Array> {
  const hasher = scope.engine.environment.digest.hasher()
  let length = 0
  try {
    for (
      let next: IteratorResult<Uint8Array> | undefined = { done: false, value: beginning };
      next && !next.done;
      next = await rest?.next()
    ) {
      const chunk = next.value
      length += chunk.length
      if (wanted.size !== undefined && length > wanted.size) break
      if (wanted.id !== undefined && chunk instanceof Uint8Array) hasher.update(chunk)
      yield chunk
    }
    check(wanted, length, () => hex(hasher.digest()))
  } finally {
    await rest?.return?.()
  }
}
