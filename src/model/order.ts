// The order of index values, the same in every backend: null, then numbers, then text by its UTF-8 bytes.

import { refuse } from './errors.ts'
import type { ColumnValue } from './tables.ts'

/**
 * Compares by UTF-8 bytes, as databases do. JavaScript compares UTF-16 units, which differs only between surrogates and the units above
 * them.
 */
export function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x !== y) return lift(x) - lift(y)
  }
  return a.length - b.length
}

const lift = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit)

const rank = (value: ColumnValue): number => (value === null ? 0 : typeof value === 'number' ? 1 : 2)

export function compareValues(a: ColumnValue, b: ColumnValue): number {
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b)
  if (typeof a === 'number' && typeof b === 'number') return a - b
  return rank(a) - rank(b)
}

export function compareKeys(a: readonly ColumnValue[], b: readonly ColumnValue[]): number {
  for (let i = 0; i < a.length && i < b.length; i++) {
    const order = compareValues(a[i] as ColumnValue, b[i] as ColumnValue)
    if (order !== 0) return order
  }
  return 0
}

export const encodeCursor = (key: readonly ColumnValue[]): string => JSON.stringify(key)

export function decodeCursor(cursor: string, length: number): readonly ColumnValue[] {
  let key: unknown
  try {
    key = JSON.parse(cursor)
  } catch (cause) {
    throw refuse('CURSOR_INVALID', {}, cause)
  }
  if (!Array.isArray(key) || key.length !== length || !key.every(isColumnValue)) throw refuse('CURSOR_INVALID')
  return key
}

// No row contains U+0000 or a lone surrogate, and some databases reject both as parameters.
const isColumnValue = (value: unknown): value is ColumnValue =>
  value === null || typeof value === 'number' || (typeof value === 'string' && value.isWellFormed() && !value.includes('\0'))
