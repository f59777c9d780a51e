// Checks what a caller says about an item, before anything is read or written.

import { utf8Length } from '../../../model/bytes.ts'
import { isObject, type Json, takeData } from '../../../model/data.ts'
import { refuse } from '../../../model/errors.ts'
import { toId } from '../../../model/ids.ts'
import { limits } from '../../../model/limits.ts'
import {
  MEMORY_KINDS,
  MEMORY_SCOPES,
  type MemoryContent,
  type MemoryId,
  type MemoryKind,
  type MemorySource,
  type MemoryValidity,
} from '../../../model/memory.ts'
import { checkKey, checkKnown, invalidOption, optionsOf } from '../../../model/options.ts'

/** A time: a Date, or Unix milliseconds. */
export type Time = Date | number

export interface ValidityOptions {
  readonly from?: Time
  readonly until?: Time
  /** The item that replaced this one. */
  readonly supersededBy?: string
}

export interface ContentOptions {
  readonly tags?: readonly string[]
  /** The event, message or file that the text came from, and the session or file in which its neighbours are. */
  readonly source?: MemorySource
  /** `note` by default. */
  readonly kind?: MemoryKind
  /** From 0 to 1; 0.5 by default. */
  readonly importance?: number
  /** From 0 to 1; 1 by default. */
  readonly confidence?: number
  /** Scalars in it can be filtered by. */
  readonly metadata?: object
  /** When the text is true. */
  readonly valid?: ValidityOptions
}

/** Refuses a scope that is not `shared` or a kind and a name: `user/ada`. */
export function checkAbout(about: unknown): asserts about is string {
  const what = `shared, or one of ${MEMORY_SCOPES.join(', ')} followed by a slash and a name`
  if (typeof about !== 'string') throw invalidOption('about', what, about)
  if (about === 'shared') return
  const at = about.indexOf('/')
  if (at < 0 || at === about.length - 1 || !(MEMORY_SCOPES as readonly string[]).includes(about.slice(0, at)))
    throw invalidOption('about', what, about)
  checkKey(about)
}

/** The text as it is kept: without white space around it, composed. */
export function takeText(text: unknown): string {
  if (typeof text !== 'string') throw refuse('MEMORY_TEXT_INVALID', { why: `it is of the type ${typeof text}` })
  const kept = text.normalize('NFC').trim()
  if (kept === '') throw refuse('MEMORY_TEXT_INVALID', { why: 'it is empty' })
  if (!kept.isWellFormed()) throw refuse('MEMORY_TEXT_INVALID', { why: 'it has a lone surrogate' })
  const bytes = utf8Length(kept)
  if (bytes > limits.memoryTextBytes)
    throw refuse('MEMORY_TEXT_INVALID', { why: `it has ${bytes} bytes, and ${limits.memoryTextBytes} are the most` })
  return kept
}

/** A question may be any text that is not empty; beyond a length, its words are left out. */
export function takeQuestion(text: unknown): string {
  if (typeof text !== 'string') throw refuse('MEMORY_TEXT_INVALID', { why: `it is of the type ${typeof text}` })
  const asked = text.slice(0, limits.recallChars).toWellFormed().normalize('NFC').trim()
  if (asked === '') throw refuse('MEMORY_TEXT_INVALID', { why: 'it is empty' })
  return asked
}

/** Checks the members that are there. */
export function takeContent(given: ContentOptions): Omit<MemoryContent, 'kind'> & { readonly kind?: MemoryKind } {
  const { tags, source, kind, importance, confidence, metadata, valid } = given
  if (kind !== undefined) checkKind(kind)
  return {
    ...(tags !== undefined && { tags: takeTags(tags) }),
    ...(source !== undefined && { source: takeSource(source) }),
    ...(kind !== undefined && { kind }),
    ...(importance !== undefined && { importance: checkShare('importance', importance) }),
    ...(confidence !== undefined && { confidence: checkShare('confidence', confidence) }),
    ...(metadata !== undefined && { metadata: takeMetadata(metadata) }),
    ...(valid !== undefined && { valid: takeValidity(valid) }),
  }
}

export function checkKind(kind: unknown): asserts kind is MemoryKind {
  if (!MEMORY_KINDS.includes(kind as MemoryKind)) throw invalidOption('kind', `one of ${MEMORY_KINDS.join(', ')}`, kind)
}

export function takeTags(tags: unknown): readonly string[] {
  if (!Array.isArray(tags) || tags.length > limits.memoryTags)
    throw invalidOption('tags', `an array of at most ${limits.memoryTags} texts`, tags)
  for (const tag of tags) {
    checkKey(tag)
    if (utf8Length(tag) > limits.memoryTagBytes) throw invalidOption('tags', `texts of at most ${limits.memoryTagBytes} bytes`)
  }
  return [...new Set(tags as readonly string[])]
}

export function takeSource(source: unknown): MemorySource {
  const { event, message, file, session, ...unknown } = optionsOf(source as MemorySource, 'source')
  checkKnown(unknown, 'a source')
  const given = Object.entries({ event, message, file, session }).filter(([, value]) => value !== undefined)
  for (const [, value] of given) checkKey(value)
  return Object.fromEntries(given)
}

function checkShare(option: string, share: unknown): number {
  if (typeof share !== 'number' || !(share >= 0 && share <= 1)) throw invalidOption(option, 'a number from 0 to 1', share)
  return share
}

export function takeMetadata(metadata: unknown): Readonly<Record<string, Json>> {
  const taken = takeData(metadata)
  if (!isObject(taken)) throw invalidOption('metadata', 'an object', metadata)
  const bytes = utf8Length(JSON.stringify(taken))
  if (bytes > limits.memoryMetadataBytes) throw invalidOption('metadata', `at most ${limits.memoryMetadataBytes} bytes of JSON`)
  return taken
}

function takeValidity(valid: ValidityOptions): MemoryValidity {
  const { from, until, supersededBy, ...unknown } = optionsOf(valid, 'valid')
  checkKnown(unknown, 'a validity')
  const [start, end] = [
    from === undefined ? undefined : takeTime('valid.from', from),
    until === undefined ? undefined : takeTime('valid.until', until),
  ]
  if (start !== undefined && end !== undefined && end <= start) throw invalidOption('valid.until', 'a time after valid.from', until)
  return {
    ...(start !== undefined && { from: start }),
    ...(end !== undefined && { until: end }),
    ...(supersededBy !== undefined && { supersededBy: toId(supersededBy) as MemoryId }),
  }
}

export function takeTime(option: string, given: unknown): number {
  const at: unknown = given instanceof Date ? given.getTime() : given
  if (typeof at === 'number' && Number.isSafeInteger(at) && at >= 0) return at
  throw invalidOption(option, 'a Date or Unix milliseconds', given)
}
