// The forms of an event's payload, and the values and blobs that it refers to. Both follow from the payload alone, so they are hashed with it.

import { isDigest } from './blob.ts'
import { IN_BLOB, IN_BLOB_WITH_REFS, INLINE_WITH_REFS } from './event.ts'
import { isValueRef } from './value.ts'

const BLOB = 'blob:'
const MARK = '"digest":"'
const NONE: readonly string[] = []

/** A stored form: the number in the header, and the exact text. */
export interface PayloadForm {
  readonly schema: number
  readonly payload: string
}

/** Puts declared references into the payload: in order, each once. `schema` is INLINE or IN_BLOB. */
export function declare(schema: number, payload: string, refs: readonly string[]): PayloadForm {
  if (refs.length === 0) return { schema, payload }
  const declared = `{"refs":${JSON.stringify([...new Set(refs)].sort())},`
  return schema === IN_BLOB
    ? { schema: IN_BLOB_WITH_REFS, payload: declared + payload.slice(1) }
    : { schema: INLINE_WITH_REFS, payload: `${declared}"data":${payload}}` }
}

/** Parsed content by its form. Undefined if the content has not the form that its schema names. */
export function openPayload(schema: number, content: unknown): OpenedPayload | undefined {
  if (schema === IN_BLOB) return { refs: NONE, blob: content }
  if (schema !== INLINE_WITH_REFS && schema !== IN_BLOB_WITH_REFS) return { refs: NONE, data: content }
  if (typeof content !== 'object' || content === null) return undefined
  const { refs, ...rest } = content as { readonly refs?: unknown }
  if (!areDeclared(refs)) return undefined
  if (schema === IN_BLOB_WITH_REFS) return Object.keys(rest).sort().join() === 'bytes,digest' ? { refs, blob: rest } : undefined
  return Object.keys(rest).join() === 'data' ? { refs, data: (rest as { readonly data: unknown }).data } : undefined
}

export interface OpenedPayload {
  /** Declared references. */
  readonly refs: readonly string[]
  readonly data?: unknown
  /** The reference to the blob that holds the data. */
  readonly blob?: unknown
}

/** Whether a payload has the form that its schema names. Only those with declared references have one of their own. */
export function hasForm(schema: number, payload: string): boolean {
  if (schema !== INLINE_WITH_REFS && schema !== IN_BLOB_WITH_REFS) return true
  try {
    return openPayload(schema, JSON.parse(payload)) !== undefined
  } catch {
    return false
  }
}

const areDeclared = (refs: unknown): refs is readonly string[] =>
  Array.isArray(refs) && refs.length > 0 && refs.every((ref, i) => isReference(ref) && (i === 0 || refs[i - 1] < ref))

const isReference = (ref: unknown): boolean =>
  typeof ref === 'string' && (ref.startsWith(BLOB) ? isDigest(ref.slice(BLOB.length)) : isValueRef(ref))

/**
 * Everything that an event refers to, in order: its declared references, and every object in its payload with the digest and the size of a
 * blob.
 */
export function referencesOf(schema: number, payload: string): readonly string[] {
  const declares = schema === INLINE_WITH_REFS || schema === IN_BLOB_WITH_REFS
  if (!declares && !payload.includes(MARK)) return NONE
  const declared = declares ? (openPayload(schema, JSON.parse(payload))?.refs ?? NONE) : NONE
  return [...new Set([...declared, ...[...sizesIn(payload).keys()].map((digest) => BLOB + digest)])].sort()
}

/** The digests of these objects, with their sizes. */
export function sizesIn(payload: string): ReadonlyMap<string, number> {
  const found = new Map<string, number>()
  if (payload.includes(MARK))
    JSON.parse(payload, (_, value: unknown) => {
      const { digest, bytes } = (typeof value === 'object' && value !== null ? value : {}) as { digest?: unknown; bytes?: unknown }
      if (typeof digest === 'string' && isDigest(digest) && Number.isSafeInteger(bytes)) found.set(digest, bytes as number)
      return value
    })
  return found
}
