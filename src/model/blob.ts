// A blob: immutable bytes named by their SHA-256, and the reference by which events and rows speak of them.

import { invalidOption } from './options.ts'

export interface BlobRef {
  /** SHA-256 of the bytes, in hex. */
  readonly digest: string
  /** How many bytes there are. */
  readonly bytes: number
  /** What they are, in a word of the caller's. */
  readonly kind?: string
  /** What may be done with them, such as `compressible`. */
  readonly hints?: readonly string[]
}

// One way of writing it alone: it becomes the name of a file, and not every file system tells capital letters from small ones.
const DIGEST = /^[0-9a-f]{64}$/

/** Asked by whoever makes a path or a key of it, before anything else is done. */
export function checkDigest(digest: unknown): asserts digest is string {
  if (typeof digest === 'string' && DIGEST.test(digest)) return
  throw invalidOption('digest', '64 hex digits in lower case', digest)
}
