// Selects from JSON by data, not by code: a declaration must mean the same when it is read back years later.

import { canonical } from './canonical.ts'
import type { Json } from './data.ts'

export type Selector =
  /** The whole value. */
  | { readonly payload: true }
  /** The target of this JSON pointer; null if there is none. */
  | { readonly pointer: string }
  | { readonly const: Json }
  /** Whether this JSON pointer has a target. */
  | { readonly present: string }
  /** A text in which `{name}` is replaced by the field of that name, each a JSON pointer. */
  | { readonly template: string; readonly fields: Readonly<Record<string, string>> }

const STEP = /\{(\w+)\}/g

/** A JSON pointer (RFC 6901). */
export const isPointer = (text: unknown): text is string =>
  typeof text === 'string' && text.isWellFormed() && (text === '' || text.startsWith('/')) && !/~(?![01])/.test(text)

/** Returns the target of a pointer; undefined if there is none. */
export function pointed(value: Json | undefined, pointer: string): Json | undefined {
  let found: Json | undefined = value
  for (const part of pointer.split('/').slice(1)) {
    const step = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof found !== 'object' || found === null) return undefined
    if (Array.isArray(found)) {
      if (!/^(?:0|[1-9]\d*)$/.test(step)) return undefined
      found = (found as readonly Json[])[Number(step)]
    } else if (Object.hasOwn(found, step)) found = (found as { readonly [key: string]: Json })[step]
    else return undefined
  }
  return found
}

/** False for null, false and anything empty. Every number is truthy. */
export function isTruthy(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === false || value === '') return false
  return typeof value !== 'object' || Object.keys(value).length > 0
}

export function select(selector: Selector, payload: Json | undefined): Json {
  if ('payload' in selector) return payload ?? null
  if ('pointer' in selector) return pointed(payload, selector.pointer) ?? null
  if ('present' in selector) return pointed(payload, selector.present) !== undefined
  if ('const' in selector) return selector.const
  return selector.template.replace(STEP, (_, name: string) => textOf(pointed(payload, selector.fields[name] as string)))
}

/** Names in a template that have no field. */
export const unfilled = ({ template, fields }: Extract<Selector, { template: string }>): readonly string[] =>
  [...template.matchAll(STEP)].map(([, name]) => name as string).filter((name) => !Object.hasOwn(fields, name))

/** Returns a text as it is, other values as JSON, and '' for null or undefined. */
export const textOf = (value: Json | undefined): string =>
  value === undefined || value === null ? '' : typeof value === 'string' ? value : canonical(value)
