// Checks of options. Callers may be plain JavaScript, so every option is checked before anything is read from it.

import { utf8Length } from './bytes.ts'
import { InkError, refuse } from './errors.ts'
import { limits } from './limits.ts'

const SHOWN_CHARS = 40

/** Describes a wrong value for a message: `expected an integer ≥ 1, got 0`. Leave `got` out for values that may be secret or long. */
export function expected(what: string, ...got: readonly [unknown?]): string {
  return got.length === 0 ? `expected ${what}` : `expected ${what}, got ${shown(got[0])}`
}

/** Creates the error for a wrong value: `Invalid option "concurrency": expected an integer ≥ 1, got 0.` */
export function invalidOption(option: string, what: string, ...got: readonly [unknown?]): InkError {
  return refuse('OPTION_INVALID', { option, why: expected(what, ...got) })
}

/** A wrong value as details quote it: a text as it is, and anything else by its kind, because an object may throw when it is made a text. */
export const quoted = (value: unknown): string => (typeof value === 'string' ? value : shown(value))

function shown(value: unknown): string {
  if (typeof value === 'string') return value.length > SHOWN_CHARS ? `a text of ${value.length} characters` : `'${value}'`
  if (typeof value === 'function') return 'a function'
  if (typeof value !== 'object' || value === null) return String(value)
  try {
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'an invalid Date' : 'a Date'
    return Array.isArray(value) ? 'an array' : 'an object'
  } catch {
    // A proxy need not let itself be looked at.
    return 'an object'
  }
}

/** Returns the own members of the options, or no members for `undefined`. Throws for anything but an object. */
export function optionsOf<T extends object>(given: T | undefined, of: string): T {
  if (given === undefined) return ownMembers({} as T)
  if (typeof given !== 'object' || given === null || isList(given, of)) throw invalidOption(of, 'an object', given)
  return ownMembers(given, of)
}

export const isList = (given: unknown, of: string): given is readonly unknown[] => looking(of, () => Array.isArray(given))

/** Looks at an object of the caller. A getter or a proxy may throw whatever it likes. */
export function looking<T>(of: string, look: () => T): T {
  try {
    return look()
  } catch (cause) {
    if (cause instanceof InkError) throw cause
    throw refuse('OPTION_INVALID', { option: of, why: 'it throws when it is read, by a getter or a proxy' }, cause)
  }
}

/** Members that say how a call reads, and not what. As `undefined` they are absent: the first page is asked for with `cursor: undefined`. */
const HOW: readonly string[] = ['signal', 'cursor', 'last', 'first', 'limit']

/**
 * Returns the own members of options that narrow what a call reads or removes. A member that is present and `undefined` is refused, unless it is
 * one of `how`: `events({ session: user?.session })` would read every session. `of` names the call.
 */
export function filterOf<T extends object>(given: T | undefined, of: string, how: readonly (keyof T & string)[] = []): T {
  const options = optionsOf(given, of)
  for (const [option, value] of Object.entries(options))
    if (value === undefined && !HOW.includes(option) && !(how as readonly string[]).includes(option))
      throw refuse('OPTION_INVALID', {
        option,
        why: `it is present and undefined, so ${of} would not be narrowed by it; pass a value, or leave the member out`,
      })
  return options
}

/** An object that inherits nothing. One without any prototype would be a hash table, which every write would pay for. */
const Own = function Own() {} as unknown as new () => object
Own.prototype = Object.freeze(Object.create(null))

/**
 * Returns a copy that inherits no member. A member that other code put on `Object.prototype` is nobody's option: `redact: false` there
 * would switch redaction off.
 */
export function ownMembers<T extends object>(given: T, of = 'options'): T {
  return looking(of, () => Object.assign(new Own() as T, given))
}

/** Throws for the first member of `unknown`, the options left after the known ones were taken out: a misspelt option would be silently ignored. */
export function checkKnown(unknown: object, of: string): void {
  for (const option of Object.keys(unknown)) throw refuse('OPTION_INVALID', { option, why: `${of} has no such option` })
}

/** Checks an option that is on or off, or absent. Any text would be taken for on, also `'false'`. */
export function checkFlag(option: string, value: unknown): void {
  if (value !== undefined && typeof value !== 'boolean') throw invalidOption(option, 'true or false', value)
}

/** Checks an option that is a text, or absent. */
export function checkText(option: string, value: unknown): void {
  if (value !== undefined && typeof value !== 'string') throw invalidOption(option, 'a text', value)
}

export function listOf<T>(given: readonly T[] | undefined, of: string): readonly T[] | undefined {
  if (given !== undefined && !isList(given, of)) throw invalidOption(of, 'an array', given)
  return given
}

export function checkSeq(seq: unknown): number {
  if (typeof seq !== 'number' || !Number.isSafeInteger(seq) || seq < 0)
    throw refuse('RANGE_INVALID', { why: expected('a seq (an integer ≥ 0)', seq) })
  return seq
}

/** Checks a key that a caller chose, for a session or a retry. Some databases cannot store U+0000 in a text column. */
export function checkKey(key: unknown): asserts key is string {
  if (typeof key !== 'string') throw refuse('KEY_INVALID', { found: typeof key })
  if (key.includes('\0')) throw refuse('KEY_INVALID', { found: 'a text with U+0000' })
  if (key !== '' && key.isWellFormed() && utf8Length(key) <= limits.keyBytes) return
  throw refuse('KEY_INVALID', { found: `${key.length} characters` })
}
