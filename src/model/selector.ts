// Choosing from JSON by data, not by code: what is declared today must still mean the same when it is read back years later.

import { canonical } from './canonical.ts'
import type { Json } from './data.ts'

export type Selector =
  /** All of it. */
  | { readonly payload: true }
  /** What this JSON pointer leads to; null where that is nothing. */
  | { readonly pointer: string }
  | { readonly const: Json }
  /** Whether this JSON pointer leads to anything. */
  | { readonly present: string }
  /** A text in which `{name}` stands for the field of that name, each a JSON pointer. */
  | { readonly template: string; readonly fields: Readonly<Record<string, string>> }

const STEP = /\{(\w+)\}/g

/** RFC 6901. */
export const isPointer = (text: unknown): text is string =>
  typeof text === 'string' && text.isWellFormed() && (text === '' || text.startsWith('/')) && !/~(?![01])/.test(text)

/** What a pointer leads to; undefined where that is nothing. */
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

/** Null, false and whatever is empty are not; every number is. */
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

/** A text as it is, anything else as JSON, nothing as nothing. */
export const textOf = (value: Json | undefined): string =>
  value === undefined || value === null ? '' : typeof value === 'string' ? value : canonical(value)
