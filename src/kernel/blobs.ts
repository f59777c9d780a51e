// Blobs: bytes go in and a reference comes out. Bytes that come back are checked against the digest that names them. Nothing in them is
// masked.

import { type BlobRef, checkDigest } from '../model/blob.ts'
import { fromUtf8, hex, utf8 } from '../model/bytes.ts'
import { assert, refuse } from '../model/errors.ts'
import { limits } from '../model/limits.ts'
import { checkKnown, invalidOption, listOf, optionsOf } from '../model/options.ts'
import { checkOpen, type Scope } from './scope.ts'

export interface BlobOptions {
  /** A word for the kind of bytes, such as `tool-state`. */
  readonly kind?: string
  /** Hints for handling them, such as `compressible`. */
  readonly hints?: readonly string[]
}

export interface StoreBlobs {
  /** Stores bytes; they are durable when it resolves. The same bytes have the same digest and are kept once. */
  put(bytes: Uint8Array, options?: BlobOptions): Promise<BlobRef>
  /** Returns exactly the bytes that were put, or refuses. */
  get(blob: BlobRef | string): Promise<Uint8Array>
}

/** Gets the scope when it is used, because a view has its scope only after it is made. */
export const storeBlobs = (scope: () => Scope): StoreBlobs => ({
  put: (bytes, options) => putBlob(scope(), bytes, options),
  get: (blob) => getBlob(scope(), blob),
})

export async function putBlob(scope: Scope, bytes: Uint8Array, options?: BlobOptions): Promise<BlobRef> {
  checkOpen(scope.engine)
  const { kind, hints, ...unknown } = optionsOf(options, 'blobs.put')
  checkKnown(unknown, 'a blob')
  if (!(bytes instanceof Uint8Array)) throw invalidOption('bytes', 'a Uint8Array', bytes)
  if (bytes.length > limits.blobBytes) throw refuse('BLOB_TOO_LARGE', { bytes: bytes.length, limit: limits.blobBytes })
  if (kind !== undefined) checkWord(kind, 'kind')
  const words = [...(listOf(hints, 'hints') ?? [])]
  if (words.length > limits.blobHints) throw invalidOption('hints', `at most ${limits.blobHints} hints`, words.length)
  for (const word of words) checkWord(word, 'hints')

  // A copy makes sure that the digested bytes are written, whatever the caller does with its bytes in between.
  const taken = new Uint8Array(bytes)
  const { backend, environment } = scope.engine
  const digest = hex(environment.digest.sha256(taken))
  await backend.blobs.put(scope.tenant, digest, taken)
  return { digest, bytes: taken.length, ...(kind !== undefined && { kind }), ...(words.length > 0 && { hints: words }) }
}

export async function getBlob(scope: Scope, blob: BlobRef | string): Promise<Uint8Array> {
  checkOpen(scope.engine)
  const digest: unknown = typeof blob === 'string' ? blob : (blob as BlobRef | undefined)?.digest
  checkDigest(digest)
  const { backend, environment } = scope.engine
  const bytes = await backend.blobs.get(scope.tenant, digest)
  if (!bytes) throw refuse('BLOB_UNKNOWN', { digest, tenant: scope.tenant })
  const found = hex(environment.digest.sha256(bytes))
  if (found !== digest) throw refuse('BLOB_DAMAGED', { digest, tenant: scope.tenant, found, bytes: bytes.length })
  return bytes
}

/** Stores a JSON text exactly as it is. The caller has masked its secrets. */
export async function putJson(scope: Scope, text: string): Promise<BlobRef> {
  assert(text.isWellFormed(), 'a JSON text is well-formed')
  return putBlob(scope, utf8(text))
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

/** Checks a word. Words are part of every reference, in events and rows, and are compared. */
function checkWord(word: unknown, option: string): void {
  if (typeof word === 'string' && WORD.test(word) && word.length <= limits.blobWordChars) return
  throw invalidOption(option, `1 to ${limits.blobWordChars} letters, digits, '.', '_', '-' or '/'`)
}

const WORD = /^[A-Za-z0-9][A-Za-z0-9._/-]*$/
