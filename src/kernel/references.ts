// References to values and blobs, as events declare them and pins hold them: the ref of a value, or `blob:` and a digest.

import { type BlobRef, takeDigest } from '../model/blob.ts'
import { sizesIn } from '../model/event-payload.ts'
import { listOf } from '../model/options.ts'
import { parseValueRef, valueRef } from '../model/value.ts'
import type { Guard } from '../ports/commit.ts'

const BLOB = 'blob:'
const NAMED = /^(?:sha256:)?[0-9a-f]{64}$/

/** The reference that a caller means: a value's ref, a blob's reference, or a blob's digest. */
export function toReference(given: unknown): string {
  if (typeof given === 'string' && !NAMED.test(given)) return valueRef(parseValueRef(given))
  return BLOB + takeDigest(typeof given === 'string' ? given : (given as BlobRef | undefined)?.digest)
}

/** The references in the option `refs` of a call. */
export const toReferences = (refs: readonly unknown[] | undefined): readonly string[] => (listOf(refs, 'refs') ?? []).map(toReference)

export const blobDigestOf = (reference: string): string | undefined =>
  reference.startsWith(BLOB) ? reference.slice(BLOB.length) : undefined

/** Guards that what is referred to exists. */
export const referenceGuards = (references: readonly string[]): readonly Guard[] =>
  references.map((reference) => {
    const digest = blobDigestOf(reference)
    return digest === undefined ? { kind: 'value', ref: parseValueRef(reference) } : { kind: 'blob', digest }
  })

/** The blobs that a text refers to: every object in it with the digest and the size of one. */
export const blobsIn = (text: string): readonly string[] => blobRefsIn(text).map(({ digest }) => BLOB + digest)

/** The digests and sizes of these objects, each once. */
export const blobRefsIn = (text: string): readonly Pick<BlobRef, 'digest' | 'bytes'>[] =>
  [...sizesIn(text)].map(([digest, bytes]) => ({ digest, bytes }))

/** A reference as callers give and read it: the ref of a value, or the digest of a blob. */
export const asGiven = (reference: string): string => blobDigestOf(reference) ?? reference
