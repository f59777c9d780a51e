// Blobs: bytes go in and a reference comes out. Bytes that come back are checked against the digest that names them. Nothing in them is
// masked.

import { type BlobRef, type BlobState, checkDigest, PIECE_BYTES, takeDigest } from '../../model/blob.ts'
import { fromUtf8, hex, utf8 } from '../../model/bytes.ts'
import { assert, refuse } from '../../model/errors.ts'
import { limits } from '../../model/limits.ts'
import { checkKnown, invalidOption, looking, optionsOf } from '../../model/options.ts'
import type { Guard, Outcome } from '../../ports/commit.ts'
import { abandonable, abortable, stopIfAsked } from '../reading/abortable.ts'
import { checkLast, type Page, type PageOptions } from '../reading/list-rows.ts'
import { checkOpen, type Scope } from '../wiring/scope.ts'
import { type BlobOptions, describeBlob, type PutBlobOptions } from './blob-storage.ts'
import { type BlobRange, piecesOf, putChunks, rangeOf, readChunks, readPiece } from './blob-stream.ts'
import { freshBlobs } from './blobs-before-commit.ts'
import { blobRefsIn } from './references.ts'
import { noteBlob } from './writes-since-collection.ts'

export interface StoreBlobs {
  /**
   * Stores bytes, or a stream of them; they are durable when it resolves. The same bytes have the same digest and are kept once. A blob that
   * no event, row, value or pin refers to is garbage after a day; see `collect`.
   */
  put(bytes: Uint8Array | AsyncIterable<Uint8Array>, options?: PutBlobOptions): Promise<BlobRef>
  /** Returns exactly the bytes that were put, or those of a range, or refuses. A digest may begin with `sha256:`. */
  get(blob: BlobRef | string, range?: BlobRange): Promise<Uint8Array>
  /** Reads a blob, or a range of it, piece by piece. Memory holds one piece of 1 MiB. */
  stream(blob: BlobRef | string, range?: BlobRange): AsyncIterable<Uint8Array>
  /** Lists blobs in the order of their digests, page by page. */
  list(options?: PageOptions): Promise<Page<StoredBlob>>
}

export interface StoredBlob {
  readonly digest: string
  readonly bytes: number
  /** Bytes as they are stored, compressed or not. */
  readonly stored: number
  /** `condemned` and `deleting` while a garbage collection is under way, or after it died. */
  readonly state: BlobState
  /** When it was put, or last named by a put or a commit, to within an hour. */
  readonly at: number
}

/** Gets the scope when it is used, because a view has its scope only after it is made. */
export const storeBlobs = (scope: () => Scope): StoreBlobs => ({
  put: (bytes, options) => putBlob(scope(), bytes, options),
  get: (blob, range) => getBlob(scope(), blob, range),
  stream: (blob, range) => streamBlob(scope(), blob, range),
  list: (options) => listBlobs(scope(), options),
})

export async function putBlob(
  scope: Scope,
  bytes: Uint8Array | AsyncIterable<Uint8Array>,
  options?: PutBlobOptions,
  most: number = limits.blobBytes,
): Promise<BlobRef> {
  checkOpen(scope.engine)
  const { signal, ...words } = optionsOf(options, 'blobs.put')
  const about = describeBlob(words)
  stopIfAsked(scope, signal)
  if (isStream(bytes)) return putChunks(scope, signal ? abandonable(bytes, signal) : bytes, about, most)
  if (!(bytes instanceof Uint8Array)) throw invalidOption('bytes', 'a Uint8Array or an async iterable of them', bytes)
  if (bytes.length > most) throw refuse('BLOB_TOO_LARGE', { bytes: bytes.length, limit: most })

  // A copy makes sure that the digested bytes are written, whatever the caller does with its bytes in between.
  const taken = new Uint8Array(bytes)
  if (taken.length > PIECE_BYTES) return putChunks(scope, abortable(scope, piecesOf(taken), signal), about, most)
  const { backend, environment } = scope.engine
  const digest = hex(environment.digest.sha256(taken))
  await backend.blobs.put(scope.tenant, digest, taken, about.storage(taken.length))
  noteBlob(scope, taken.length)
  return { digest, bytes: taken.length, ...about.words }
}

export async function getBlob(scope: Scope, blob: BlobRef | string, range?: BlobRange): Promise<Uint8Array> {
  checkOpen(scope.engine)
  const digest = digestOf(blob)
  const asked = rangeOf(range, 'blobs.get')
  stopIfAsked(scope, asked.signal)
  const { tenant, engine } = scope
  const first = await readPiece(scope, digest, 0)
  if (!first) throw refuse('BLOB_UNKNOWN', { digest, tenant })
  const { from, to } = asked
  const size = Math.max(0, Math.min(to, first.bytes) - from)
  if (size > limits.blobGetBytes) throw refuse('BLOB_TOO_LARGE', { bytes: size, limit: limits.blobGetBytes })
  if (first.bytes > PIECE_BYTES) {
    const bytes = new Uint8Array(size)
    let at = 0
    for await (const chunk of readChunks(scope, digest, asked)) {
      bytes.set(chunk, at)
      at += chunk.length
    }
    return bytes
  }
  const found = hex(engine.environment.digest.sha256(first.body))
  if (found !== digest) throw refuse('BLOB_DAMAGED', { digest, tenant, found, bytes: first.body.length })
  return size < first.bytes ? first.body.slice(from, to) : first.body
}

function streamBlob(scope: Scope, blob: BlobRef | string, range: BlobRange | undefined): AsyncIterable<Uint8Array> {
  checkOpen(scope.engine)
  return readChunks(scope, digestOf(blob), rangeOf(range, 'blobs.stream'))
}

async function listBlobs({ engine, tenant }: Scope, options: PageOptions | undefined): Promise<Page<StoredBlob>> {
  checkOpen(engine)
  const { last = LISTED, cursor, ...unknown } = optionsOf(options, 'blobs.list')
  checkKnown(unknown, 'blobs.list')
  checkLast(last, 'blobs')
  if (cursor !== undefined) checkDigest(cursor)
  const items = await engine.backend.blobs.list(tenant, cursor, last)
  const end = items.length === last ? items.at(-1)?.digest : undefined
  return { items, ...(end !== undefined && { cursor: end }) }
}

const LISTED = 50

/** Stores a JSON text exactly as it is, for a commit that is to come. The caller has masked its secrets. */
export async function putJson(scope: Scope, text: string): Promise<BlobRef> {
  assert(text.isWellFormed(), 'a JSON text is well-formed')
  const { digest, bytes } = await putFresh(scope, utf8(text), JSON_TEXT)
  return { digest, bytes }
}

/** Stores bytes for a commit that is to come, which guards them. */
export async function putFresh(scope: Scope, bytes: Uint8Array, options?: BlobOptions): Promise<BlobRef> {
  const blob = await putBlob(scope, bytes, options)
  freshBlobs(scope.engine).note(scope.tenant, blob.digest, bytes)
  return blob
}

/**
 * Guards on those of these blobs that exist: the commit names them, so a collection that is under way keeps them. Data that only looks like a
 * reference needs none.
 */
export async function presentGuards({ engine, tenant }: Scope, digests: readonly string[]): Promise<readonly Guard[]> {
  if (digests.length === 0) return []
  const present = await engine.backend.blobs.has(tenant, digests)
  return digests.filter((_, i) => present[i]).map((digest) => ({ kind: 'blob', digest }))
}

/** The same for the references in a JSON text of a fork, which are not found in the event that holds the text. */
export const textGuards = async (scope: Scope, text: string): Promise<readonly Guard[]> =>
  presentGuards(
    scope,
    blobRefsIn(text).map(({ digest }) => digest),
  )

/** Puts the fresh blob again for which a commit was refused. False if it was refused for something else. */
export async function putFreshAgain(scope: Scope, { refused }: Outcome & { ok: false }): Promise<boolean> {
  if (typeof refused !== 'object' || refused.kind !== 'blob') return false
  const now = scope.engine.environment.clock.monotonic()
  const bytes = freshBlobs(scope.engine).takeAgain(scope.tenant, refused.digest, now)
  if (bytes) await putBlob(scope, bytes, JSON_TEXT)
  return bytes !== undefined
}

export async function getJson(scope: Scope, blob: BlobRef | string): Promise<unknown> {
  const bytes = await getBlob(scope, blob)
  try {
    return JSON.parse(fromUtf8(bytes))
  } catch (cause) {
    // The digest is right, so these are the stored bytes, but `putJson` did not write them.
    throw refuse('DATA_INVALID', { why: 'a blob that is not JSON', path: typeof blob === 'string' ? blob : blob.digest }, cause)
  }
}

const JSON_TEXT = { hints: ['compressible'] }

function digestOf(blob: BlobRef | string): string {
  return takeDigest(typeof blob === 'string' ? blob : looking('blob', () => (blob as BlobRef | undefined)?.digest))
}

export const isStream = (given: unknown): given is AsyncIterable<Uint8Array> =>
  typeof given === 'object' && given !== null && Symbol.asyncIterator in given
