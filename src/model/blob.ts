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

// Only lower case is accepted: the digest becomes a file name, and some file systems ignore case.
const DIGEST = /^[0-9a-f]{64}$/

/** Checks a digest before a path or a key is made of it. */
export function checkDigest(digest: unknown): asserts digest is string {
  if (typeof digest === 'string' && DIGEST.test(digest)) return
  throw invalidOption('digest', '64 hex digits in lower case', digest)
}
