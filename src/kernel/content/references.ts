// References to values and blobs, as events declare them and pins hold them: the ref of a value, or `blob:` and a digest.

import { type BlobRef, isDigest, takeDigest } from '../../model/blob.ts'
import type { EventDraft } from '../../model/event.ts'
import { sizesIn } from '../../model/event-payload.ts'
import { listOf, looking } from '../../model/options.ts'
import { isValueRef, parseValueRef, type ValueNode, valueRef } from '../../model/value.ts'
import { ValuePart } from '../../model/value-part.ts'
import type { Guard } from '../../ports/commit.ts'

const BLOB = 'blob:'
const NAMED = /^(?:sha256:)?[0-9a-f]{64}$/

/** The reference that a caller means: a value's ref, a blob's reference, or a blob's digest. */
export function toReference(given: unknown): string {
  if (typeof given === 'string' && !NAMED.test(given)) return valueRef(parseValueRef(given))
  return BLOB + takeDigest(typeof given === 'string' ? given : looking('refs', () => (given as BlobRef | undefined)?.digest))
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

/**
 * Every reference in data: objects with the digest and the size of a blob, and texts that are the ref of a value. An error may tell of
 * something that is gone, and must not be refused for it.
 */
export function referencesIn(data: unknown, found: Set<string> = new Set()): ReadonlySet<string> {
  if (typeof data === 'string') {
    if (isValueRef(data)) found.add(data)
  } else if (Array.isArray(data)) {
    for (const item of data) referencesIn(item, found)
  } else if (isPlain(data)) {
    const { digest, bytes } = data
    if (typeof digest === 'string' && isDigest(digest) && Number.isSafeInteger(bytes)) found.add(BLOB + digest)
    for (const [key, member] of Object.entries(data)) if (!isError(key, member)) referencesIn(member, found)
  }
  return found
}

const isPlain = (data: unknown): data is Readonly<Record<string, unknown>> =>
  typeof data === 'object' && data !== null && !(data instanceof ValuePart)

const isError = (key: string, member: unknown): boolean =>
  (key === 'error' || key === 'cause') && isPlain(member) && typeof member.name === 'string' && typeof member.message === 'string'

/** The same for a JSON text. Most texts have no reference and are not parsed. */
export const referencesInText = (text: string): ReadonlySet<string> =>
  text.includes('"digest":"') || text.includes(VALUE) ? referencesIn(JSON.parse(text)) : NOTHING

/** The refs of values in a JSON text. */
export const valuesIn = (text: string): readonly string[] =>
  text.includes(VALUE) ? [...referencesIn(JSON.parse(text))].filter(isValueRef) : NONE

const VALUE = '"value:'
const NONE: readonly string[] = []
const NO_GUARDS: readonly Guard[] = []
const NOTHING: ReadonlySet<string> = new Set()

/** Guards on everything that data refers to, so that a reference that was invented, copied from another tenant or collected is refused. */
export const guardsOn = (data: unknown): readonly Guard[] => givenGuards([...referencesIn(data)])

/** A retry would not help: nobody but the caller can put that content again. */
const givenGuards = (references: readonly string[]): readonly Guard[] =>
  referenceGuards(references).map((guard) => ({ ...guard, given: true }) as Guard)

/** The same for events of applications, which declare the values that they refer to. */
export function eventGuards(events: readonly EventDraft[]): readonly Guard[] {
  if (events.every(({ refs }) => refs === undefined)) return NO_GUARDS
  return givenGuards([...new Set(events.flatMap(({ refs = NONE }) => refs))])
}

/** The same for facts of features, beside what they guard themselves. Nodes that the commit carries are not there yet. */
export function factGuards(
  payloads: readonly string[],
  guards: readonly Guard[] = NO_GUARDS,
  nodes: readonly ValueNode[] = [],
): readonly Guard[] {
  const found = new Set<string>()
  for (const payload of payloads) for (const reference of referencesInText(payload)) found.add(reference)
  if (found.size === 0) return NO_GUARDS
  for (const { ref } of nodes) found.delete(valueRef(ref))
  for (const guard of guards)
    if (guard.kind === 'value') found.delete(valueRef(guard.ref))
    else if (guard.kind === 'blob') found.delete(BLOB + guard.digest)
  return givenGuards([...found])
}
