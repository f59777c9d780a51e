// A blob: immutable bytes named by their SHA-256, and the reference that events and rows keep to them.

import { invalidOption } from './options.ts'

export interface BlobRef {
  /** SHA-256 of the bytes, in hex. */
  readonly digest: string
  /** Number of bytes. */
  readonly bytes: number
  /** A word of the caller's for the kind of content. */
  readonly kind?: string
  /** Hints about its handling, such as `compressible`. */
  readonly hints?: readonly string[]
}

/** Blobs are stored in pieces of this size, each with its own digest, so that a part can be read and checked without the rest. */
export const PIECE_BYTES = 1024 * 1024

/** A put or a commit that names a blob notes so if the blob was put, or named, longer ago than this. */
export const BLOB_NAMED_AGAIN_MS = 60 * 60 * 1000

/**
 * `present`: in use or new. `condemned`: a garbage collection found no use of it; a put or a commit that names it makes it present again.
 * `deleting`: its bytes may be gone; it cannot be read, and only a put makes it present again.
 */
export type BlobState = 'present' | 'condemned' | 'deleting'

// Only lower case is accepted: the digest becomes a file name, and some file systems ignore case.
const DIGEST = /^[0-9a-f]{64}$/

export const isDigest = (text: string): boolean => DIGEST.test(text)

const NAMED = 'sha256:'

/** The digest that a caller names: as it is, or after `sha256:`, as OCI registries and artifact references write it. */
export function takeDigest(given: unknown): string {
  const digest = typeof given === 'string' && given.startsWith(NAMED) ? given.slice(NAMED.length) : given
  checkDigest(digest)
  return digest
}

/** Checks a digest before a path or a key is made of it. */
export function checkDigest(digest: unknown): asserts digest is string {
  if (typeof digest === 'string' && DIGEST.test(digest)) return
  throw invalidOption('digest', '64 hex digits in lower case, alone or after sha256:', digest)
}
