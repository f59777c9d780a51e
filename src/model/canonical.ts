// RFC 8785: one text per JSON value, whatever the order of its keys. It serves to compare values by their bytes: command bodies, rows,
// export records. Payloads keep their caller's key order and are never rewritten.

import { refuse } from './errors.ts'

export function canonical(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return string(value)
    case 'number':
      if (!Number.isFinite(value)) throw refuse('DATA_INVALID', { why: String(value), path: '$' })
      // Minus zero is written as zero.
      return `${value}`
    case 'boolean':
      return value ? 'true' : 'false'
    case 'object':
      return value === null ? 'null' : Array.isArray(value) ? array(value) : object(value as Record<string, unknown>)
    default:
      throw refuse('DATA_INVALID', { why: `a ${typeof value}`, path: '$' })
  }
}

// Most texts need no escape. This test is faster than JSON.stringify.
const UNESCAPED = /^[ !#-[\]-~]*$/

function string(text: string): string {
  if (UNESCAPED.test(text)) return `"${text}"`
  if (!text.isWellFormed()) throw refuse('DATA_INVALID', { why: 'a lone surrogate', path: '$' })
  return JSON.stringify(text)
}

function array(items: readonly unknown[]): string {
  let text = '['
  for (let i = 0; i < items.length; i++) text += (i > 0 ? ',' : '') + canonical(items[i])
  return `${text}]`
}

// The default sort compares UTF-16 code units, which is what RFC 8785 asks for. Absent members are absent, as in JSON.stringify.
function object(members: Record<string, unknown>): string {
  let text = '{'
  for (const key of sorted(Object.keys(members))) {
    const value = members[key]
    if (value === undefined) continue
    text += `${(text.length > 1 ? ',' : '') + string(key)}:${canonical(value)}`
  }
  return `${text}}`
}

/** Whether all keys of a JSON value are in the order of its canonical text, so that the text keeps it as it is. */
export function isInOrder(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) return value.every(isInOrder)
  const keys = Object.keys(value)
  return keys.every((key, i) => (i === 0 || (keys[i - 1] as string) < key) && isInOrder((value as Record<string, unknown>)[key]))
}

// Keys read from canonical text are sorted already.
function sorted(keys: string[]): readonly string[] {
  for (let i = 1; i < keys.length; i++) if ((keys[i - 1] as string) > (keys[i] as string)) return keys.sort()
  return keys
}
