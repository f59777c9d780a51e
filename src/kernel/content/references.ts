// References to values and blobs, as events declare them and pins hold them: the ref of a value, or `blob:` and a digest.

import { type BlobRef, isDigest, takeDigest } from '../../model/blob.ts'
import type { EventDraft } from '../../model/event.ts'
import { sizesIn } from '../../model/event-payload.ts'
import { listOf, looking } from '../../model/options.ts'
import type { Held, Stored } from '../../model/run.ts'
import type { ValueContent } from '../../model/state.ts'
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
export const referenceGuards = (references: readonly string[]): readonly Guard[] => references.map(guardOn)

function guardOn(reference: string): Guard {
  const digest = blobDigestOf(reference)
  return digest === undefined ? { kind: 'value', ref: parseValueRef(reference) } : { kind: 'blob', digest }
}

/** The reference that a guard is on, if it is on one. */
export const guarded = (guard: Guard): readonly string[] =>
  guard.kind === 'value' ? [valueRef(guard.ref)] : guard.kind === 'blob' ? [BLOB + guard.digest] : NONE

/** The blobs that a text refers to: every object in it with the digest and the size of one. */
export const blobsIn = (text: string): readonly string[] => blobRefsIn(text).map(({ digest }) => BLOB + digest)

/** The digests and sizes of these objects, each once. */
export const blobRefsIn = (text: string): readonly Pick<BlobRef, 'digest' | 'bytes'>[] =>
  [...sizesIn(text)].map(([digest, bytes]) => ({ digest, bytes }))

/** A reference as callers give and read it: the ref of a value, or the digest of a blob. */
export const asGiven = (reference: string): string => blobDigestOf(reference) ?? reference

/** References in data, each with the first place where it stands. */
export interface Found {
  /** They must hold. */
  readonly must: ReadonlyMap<string, string>
  /** They stand in errors, which may tell of something that is gone. They are kept while they are there. */
  readonly may: ReadonlyMap<string, string>
}

/** Every reference in data: objects with the digest and the size of a blob, and texts that are the ref of a value. */
export function referencesIn(data: unknown, place = '$'): Found {
  const [must, may] = [new Map<string, string>(), new Map<string, string>()]
  const path: string[] = []
  const visit = (one: unknown, found: Map<string, string>): void => {
    const note = (reference: string) => void (found.has(reference) || found.set(reference, place + path.join('')))
    if (typeof one === 'string') {
      if (isValueRef(one)) note(one)
    } else if (Array.isArray(one)) {
      for (const [i, item] of one.entries()) {
        path.push(`[${i}]`)
        visit(item, found)
        path.pop()
      }
    } else if (isPlain(one)) {
      if (isBlob(one)) note(BLOB + one.digest)
      for (const [key, member] of Object.entries(one)) {
        path.push(`.${key}`)
        visit(member, isError(key, member) || isTold(key, one) ? may : found)
        path.pop()
      }
    }
  }
  visit(data, must)
  for (const reference of must.keys()) may.delete(reference)
  return { must, may }
}

const isPlain = (data: unknown): data is Readonly<Record<string, unknown>> =>
  typeof data === 'object' && data !== null && !(data instanceof ValuePart)

const isBlob = ({ digest, bytes }: Readonly<Record<string, unknown>>): boolean =>
  typeof digest === 'string' && isDigest(digest) && Number.isSafeInteger(bytes)

const isError = (key: string, member: unknown): boolean =>
  (key === 'error' || key === 'cause') && isPlain(member) && typeof member.name === 'string' && typeof member.message === 'string'

/** The references in errors within JSON that a blob holds. */
const isTold = (key: string, { blob }: Readonly<Record<string, unknown>>): boolean => key === 'told' && isPlain(blob) && isBlob(blob)

/** The same for a JSON text. Most texts have no reference and are not parsed. */
export const referencesInText = (text: string): Found =>
  text.includes('"digest":"') || text.includes(VALUE) ? referencesIn(JSON.parse(text)) : NOTHING

/** The refs of values in data: a row that names content names them too, because a collection does not look into the content for them. */
export const valuesIn = (data: unknown): readonly string[] => {
  const { must, may } = referencesIn(data)
  return [...must.keys(), ...may.keys()].filter(isValueRef)
}

/** Content that is stored as a value, for the row that names it. */
export function valueContent(ref: string, data: unknown): ValueContent {
  const holds = valuesIn(data)
  return holds.length > 0 ? { ref, holds } : { ref }
}

/** Lists the references in a JSON text that a blob holds. The row that names the blob keeps them. */
export function heldBy(text: string): Pick<Stored, 'holds' | 'told'> {
  const { must, may } = referencesInText(text)
  const sizes = must.size + may.size > 0 ? sizesIn(text) : NO_SIZES
  const held = (references: Iterable<string>): readonly Held[] =>
    [...references].map((reference) => {
      const digest = blobDigestOf(reference)
      return digest === undefined ? reference : { digest, bytes: sizes.get(digest) as number }
    })
  return { ...(must.size > 0 && { holds: held(must.keys()) }), ...(may.size > 0 && { told: held(may.keys()) }) }
}

const VALUE = '"value:'
const NONE: readonly string[] = []
const NO_GUARDS: readonly Guard[] = []
const NO_SIZES: ReadonlyMap<string, number> = new Map()
const NO_PLACES: ReadonlyMap<string, string> = new Map()
const NOTHING: Found = { must: NO_PLACES, may: NO_PLACES }

/**
 * Guards on everything that data refers to, so that a reference that was invented, copied from another tenant or collected is refused. Data
 * from `outside` need not refer to what it seems to refer to. `place` is where the data stands in what the caller knows.
 */
export function guardsOn(data: unknown, outside = false, place = '$'): readonly Guard[] {
  const found = referencesIn(data, place)
  return givenGuards(outside ? doubted(found) : found)
}

const doubted = ({ must, may }: Found, isSure: (at: string) => boolean = () => false): Found => {
  const [sure, doubtful] = [new Map<string, string>(), new Map(may)]
  for (const [reference, at] of must) (isSure(at) ? sure : doubtful).set(reference, at)
  return { must: sure, may: doubtful }
}

/** References in a fact whose data comes from outside. */
export const fromOutside = (found: Found): Found => (found.must.size > 0 ? doubted(found, isOwn) : found)

/** The blob that holds the data itself. Data in a fact stands under `value`, and so does the stored value of an outcome. */
const isOwn = (at: string): boolean => at.endsWith('.blob') && !at.replace(OUTCOME, '$.').includes('.value')

const OUTCOME = /^\$\.(?:outcome|data)\.value\./

/** A retry would not help: nobody but the caller can put that content again. */
function givenGuards({ must, may }: Found): readonly Guard[] {
  const guards = [...must].map(([reference, at]) => givenGuard(reference, at))
  for (const [reference] of may) guards.push({ ...givenGuard(reference), optional: true } as Guard)
  return guards
}

const givenGuard = (reference: string, at?: string): Guard => ({ ...guardOn(reference), given: true, ...(at && { at }) }) as Guard

/** The same for events, which declare the values that they refer to. `absent` are references that need not exist and do not. */
export function eventGuards(
  events: readonly EventDraft[],
  absent: ReadonlySet<string>,
  places: ReadonlyMap<string, string>,
): readonly Guard[] {
  if (events.every(({ refs }) => refs === undefined)) return NO_GUARDS
  const refs = new Set(events.flatMap(({ refs = NONE }) => refs).filter((reference) => !absent.has(reference)))
  return [...refs].map((reference) => givenGuard(reference, places.get(reference)))
}

/** A payload, and whether its data comes from outside. */
export interface Checked {
  readonly payload: string
  readonly outside?: boolean | undefined
}

/** The same for facts of features, beside what they guard themselves. Nodes that the commit carries are not there yet. */
export function factGuards(
  payloads: readonly Checked[],
  guards: readonly Guard[] = NO_GUARDS,
  nodes: readonly ValueNode[] = [],
): readonly Guard[] {
  const must = new Map<string, string>()
  const may = new Map<string, string>()
  for (const { payload, outside } of payloads) {
    const inside = referencesInText(payload)
    const found = outside ? fromOutside(inside) : inside
    for (const [reference, at] of found.must) must.set(reference, placeInData(at))
    for (const [reference, at] of found.may) may.set(reference, placeInData(at))
  }
  if (must.size + may.size === 0) return NO_GUARDS
  const known = [...nodes.map(({ ref }) => valueRef(ref)), ...guards.flatMap(guarded)]
  for (const reference of known) must.delete(reference)
  for (const reference of [...known, ...must.keys()]) may.delete(reference)
  return givenGuards({ must, may })
}

/** A fact has the data of a caller under `payload.value` or `result.value`. Data in a blob is not there. */
const placeInData = (at: string): string => (HELD.test(at) ? '' : at.replace(/^\$\.\w+\.value(?=[.[]|$)/, '$'))

const HELD = /^\$\.\w+(?:\.value)?\.(?:holds|told)\[/
