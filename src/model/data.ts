// What a payload may be: JSON that reads back exactly as it was written. Everything else is refused before anything happens,
// because a value that silently changes on its way to the disk is worse than an error.

import { refuse } from './errors.ts'
import { limits } from './limits.ts'

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** Throws `DATA_INVALID` naming the place, or returns. */
export function checkData(value: unknown): asserts value is Json {
  const flaw = findFlaw(value, 0)
  if (flaw) throw refuse('DATA_INVALID', { why: flaw.why, path: flaw.path })
}

interface Flaw {
  readonly why: string
  readonly path: string
}

const flawed = (why: string): Flaw => ({ why, path: '$' })

// The path is put together on the way out, so that the common case builds none.
function findFlaw(value: unknown, depth: number): Flaw | undefined {
  switch (typeof value) {
    case 'string':
      return value.isWellFormed() ? undefined : flawed('a lone surrogate')
    case 'number':
      return Number.isFinite(value) ? undefined : flawed(String(value))
    case 'boolean':
      return undefined
    case 'object':
      if (value === null) return undefined
      if (depth === limits.dataDepth) return flawed(`more than ${limits.dataDepth} levels (or a cycle)`)
      return Array.isArray(value) ? findInArray(value, depth) : findInObject(value, depth)
    case 'undefined':
      return flawed('undefined')
    default:
      return flawed(`a ${typeof value}`)
  }
}

function findInArray(items: readonly unknown[], depth: number): Flaw | undefined {
  if (typeof (items as { toJSON?: unknown }).toJSON === 'function') return flawed('a value with toJSON')
  for (let i = 0; i < items.length; i++) {
    const flaw = findFlaw(items[i], depth + 1)
    if (flaw)
      return { why: flaw.why === 'undefined' && !(i in items) ? 'a hole in an array' : flaw.why, path: `$[${i}]${flaw.path.slice(1)}` }
  }
  return undefined
}

function findInObject(members: object, depth: number): Flaw | undefined {
  const prototype = Object.getPrototypeOf(members)
  // A plain object of another realm has a prototype of its own; it is told by having no prototype above it.
  if (prototype !== Object.prototype && prototype !== null && Object.getPrototypeOf(prototype) !== null) {
    return flawed(`an instance of ${members.constructor?.name ?? 'a class'}`)
  }
  if (typeof (members as { toJSON?: unknown }).toJSON === 'function') return flawed('a value with toJSON')
  if (Object.getOwnPropertySymbols(members).length > 0) return flawed('a symbol as a key')
  for (const key of Object.keys(members)) {
    const flaw = key.isWellFormed() ? findFlaw((members as Record<string, unknown>)[key], depth + 1) : flawed('a lone surrogate in a key')
    if (flaw) return { why: flaw.why, path: `$.${key}${flaw.path.slice(1)}` }
  }
  return undefined
}

/** Parses JSON text given by a caller: duplicate keys are refused, since which one wins is anybody's guess. */
export function parseData(text: string): Json {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw refuse('DATA_INVALID', { why: 'text that is not JSON', path: '$' }, cause)
  }
  checkData(value)
  // Parsing drops earlier duplicates, so a text with one comes back shorter than its own count of members says.
  if (countMembers(text) !== sizeOf(value)) throw refuse('DATA_INVALID', { why: 'a key twice in one object', path: '$' })
  return value
}

function countMembers(text: string): number {
  let members = 0
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (c === 0x22) while (text.charCodeAt(++i) !== 0x22) if (text.charCodeAt(i) === 0x5c) i++
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
