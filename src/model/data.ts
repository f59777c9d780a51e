// What a caller gives becomes JSON before anything is written: members that are undefined are left out, and a Date becomes its ISO text, as
// JSON.stringify does. Anything else that JSON would change silently is refused, because that is worse than an error.

import { InkError, refuse } from './errors.ts'
import { limits } from './limits.ts'
import { ValuePart } from './value-part.ts'

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

export const isObject = (value: Json | undefined): value is { readonly [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Copies plain values while checking them. The checked copy is what is masked, hashed, written and returned, even if a getter or the caller
 * changes the original. Throws `DATA_INVALID` naming the place.
 */
export const takeData = (value: unknown): Json => takeBy(JOURNAL, value)

/** Like `takeData`, for conditions: without a member that is undefined, a condition would hold for more than its author meant. */
export const takeCondition = (value: unknown): Json => takeBy(CONDITION, value)

/** Like `takeData`, for values, which keep minus zero and lone surrogates and may be deeper. */
export const takeExact = (value: unknown): Json => takeBy(EXACT, value)

interface Rules {
  readonly depth: number
  /** Keeps what JSON text would change. */
  readonly exact: boolean
  /** Refuses members that are undefined. */
  readonly whole?: true
}

const JOURNAL: Rules = { depth: limits.dataDepth, exact: false }
const EXACT: Rules = { depth: limits.valueDepth, exact: true }
const CONDITION: Rules = { ...JOURNAL, whole: true }

function takeBy(rules: Rules, value: unknown): Json {
  const path: Path = []
  try {
    return take(rules, value, 0, path)
  } catch (error) {
    if (error instanceof InkError) throw error
    throw refuse('DATA_INVALID', { why: 'a property whose getter throws', path: placeOf(path) }, error)
  }
}

type Path = (string | number)[]

const flawed = (why: string, path: Path) => refuse('DATA_INVALID', { why, path: placeOf(path) })

const placeOf = (path: Path): string =>
  path.reduce<string>((text, step) => text + (typeof step === 'number' ? `[${step}]` : `.${step}`), '$')

function take(rules: Rules, value: unknown, depth: number, path: Path): Json {
  switch (typeof value) {
    case 'string':
      if (rules.exact || value.isWellFormed()) return value
      throw flawed('a lone surrogate', path)
    case 'number':
      // JSON would write minus zero as zero, so it is zero from the start.
      if (Number.isFinite(value)) return value === 0 && !rules.exact ? 0 : value
      throw flawed(String(value), path)
    case 'boolean':
      return value
    case 'object':
      if (value === null) return null
      if (rules.exact && value instanceof ValuePart) return value
      if (Array.isArray(value)) return takeArray(rules, value, depth, path)
      return isPlain(value) ? takeObject(rules, value as Record<string, unknown>, depth, path) : takeDate(value, path)
    case 'undefined':
      throw flawed('undefined', path)
    default:
      throw flawed(`a ${typeof value}`, path)
  }
}

function takeArray(rules: Rules, items: readonly unknown[], depth: number, path: Path): Json {
  checkDepth(rules, depth, path)
  if (Object.getPrototypeOf(items) !== Array.prototype && Object.getPrototypeOf(Object.getPrototypeOf(items)) !== Object.prototype) {
    throw flawed('an instance of a class', path)
  }
  if (typeof (items as { toJSON?: unknown }).toJSON === 'function') throw flawed('a value with toJSON', path)
  const copy: Json[] = []
  for (let i = 0; i < items.length; i++) {
    path.push(i)
    if (!(i in items)) throw flawed('a hole in an array', path)
    copy.push(take(rules, items[i], depth + 1, path))
    path.pop()
  }
  return copy
}

function checkDepth({ depth: most }: Rules, depth: number, path: Path): void {
  if (depth === most) throw flawed(`more than ${most} levels (or a cycle)`, path)
}

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value)
  // A plain object of another realm has a prototype of its own, recognised by having no prototype above it.
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null
}

function takeObject(rules: Rules, members: Record<string, unknown>, depth: number, path: Path): Json {
  checkDepth(rules, depth, path)
  if (typeof members.toJSON === 'function') throw flawed('a value with toJSON', path)
  if (Object.getOwnPropertySymbols(members).length > 0) throw flawed('a symbol as a key', path)
  const copy: Record<string, Json> = {}
  for (const key of Object.keys(members)) {
    const member = members[key]
    if (member === undefined && !rules.whole) continue
    path.push(key)
    if (!rules.exact && !key.isWellFormed()) throw flawed('a lone surrogate in a key', path)
    const value = take(rules, member, depth + 1, path)
    // Plain assignment of this key would set the prototype.
    if (key === '__proto__') Object.defineProperty(copy, key, { value, enumerable: true, configurable: true, writable: true })
    else copy[key] = value
    path.pop()
  }
  return copy
}

// Kept from the start: a test may replace Date, and an instance may have methods of its own.
const { getTime, toISOString } = Date.prototype

/** The text of a Date, also of a subclass and of another realm. Its own `toISOString` and `toJSON` are not asked. */
function takeDate(value: object, path: Path): Json {
  let time: number
  try {
    time = getTime.call(value as Date)
  } catch {
    // Anything that only looks like a Date holds no time.
    throw flawed(`an instance of ${nameOf(value)}`, path)
  }
  if (Number.isNaN(time)) throw flawed('an invalid Date', path)
  return toISOString.call(value as Date)
}

function nameOf(value: object): string {
  const name: unknown = value.constructor?.name
  return typeof name === 'string' && name !== '' ? name : 'a class'
}

/** Parses JSON text given by a caller. Duplicate keys are refused, because parsers differ in which one wins. */
export const parseData = (text: string): Json => parseBy(JOURNAL, text)

/** Like `parseData`, for values. Integers that JavaScript would round are refused too. */
export function parseExact(text: string): Json {
  const value = parseBy(EXACT, text)
  const rounded = roundedInteger(text)
  if (rounded !== undefined)
    throw refuse('DATA_INVALID', { why: `the integer ${rounded.slice(0, 40)}, which JavaScript would round`, path: '$' })
  return value
}

/** The first integer of a JSON text that is not safe. A pattern would run out of stack in a string of some megabytes. */
function roundedInteger(text: string): string | undefined {
  for (let i = 0; i < text.length; i++) {
    if (text.charCodeAt(i) === QUOTE) i = stringEnd(text, i)
    else if (isDigit(text, i)) {
      const start = text[i - 1] === '-' ? i - 1 : i
      while (isDigit(text, i)) i++
      if (!isIn('.eE', text, i)) {
        const digits = text.slice(start, i)
        if (!Number.isSafeInteger(Number(digits))) return digits
      } else while (isDigit(text, i) || isIn('.eE+-', text, i)) i++
      i--
    }
  }
  return undefined
}

const QUOTE = 0x22
const isDigit = (text: string, at: number): boolean => text.charCodeAt(at) >= 0x30 && text.charCodeAt(at) <= 0x39
const isIn = (signs: string, text: string, at: number): boolean => at < text.length && signs.includes(text[at] as string)

/** The closing quote of the string that opens at a place. */
function stringEnd(text: string, quote: number): number {
  let i = quote + 1
  for (; text.charCodeAt(i) !== QUOTE; i++) if (text.charCodeAt(i) === 0x5c) i++
  return i
}

function parseBy(rules: Rules, text: string): Json {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw refuse('DATA_INVALID', { why: 'text that is not JSON', path: '$' }, cause)
  }
  const taken = takeBy(rules, value)
  // JSON.parse drops earlier duplicates, so a text with one yields fewer members than it contains.
  if (countMembers(text) !== sizeOf(taken)) throw refuse('DATA_INVALID', { why: 'a duplicate key', path: '$' })
  return taken
}

function countMembers(text: string): number {
  let members = 0
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (c === QUOTE) i = stringEnd(text, i)
    if (c === 0x3a) members++
  }
  return members
}

function sizeOf(value: Json): number {
  if (value === null || typeof value !== 'object') return 0
  let members = Array.isArray(value) ? 0 : Object.keys(value).length
  for (const inner of Object.values(value)) members += sizeOf(inner as Json)
  return members
}
