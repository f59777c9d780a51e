// A row between the decider that made it and the table that stores it.

import { canonical } from './canonical.ts'
import { assert, type InkError, refuse } from './errors.ts'
import type { RowOf } from './row-types.ts'
import { type ColumnValue, type TableName, tableOf } from './tables.ts'
import { termsColumn } from './text/indexed-text.ts'

/** A row as a backend keeps it. `born`, `revision` and `fence` are seqs, stamped by the backend and reproduced by the fold. */
export interface StoredRow {
  readonly id: string
  readonly born: number
  readonly revision: number
  readonly fence?: number | undefined
  readonly body: string
}

/** A stored row that came from a known table, so that `decodeBody` knows its type. A `StoredRow` is one of any table. */
export interface TableRow<T extends TableName> extends StoredRow {
  readonly body: BodyText<RowOf<T>>
}

/** The text of a body. The member exists for the compiler only: it carries the type that the text decodes to. */
export type BodyText<Row extends object> = string & { readonly [DECODED]?: Row }
declare const DECODED: unique symbol

/** A stored row with its indexed columns. They differ from the body if someone edited the table by hand. */
export interface ScannedRow extends StoredRow {
  readonly columns: readonly ColumnValue[]
  /** Data that the backend derives from the row does not match the row. */
  readonly astray?: true
}

export type Body = Readonly<Record<string, unknown>>

/** Canonical, so that a row decided live and the same row folded later are equal to the byte. */
export const encodeBody = (body: Body): string => canonical(body)

/**
 * The body of a row. Its type follows from the table that the text came from; the text of an unknown table decodes to a `Body`. A text that was
 * edited by hand may be anything: `of` says what the refusal can name.
 */
export function decodeBody<Row extends object = Body>(text: BodyText<Row>, of: RowName = {}): Row {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch (cause) {
    throw damaged(of, 'not JSON', cause)
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw damaged(of, 'not a JSON object')
  return body as Row
}

interface RowName {
  readonly table?: TableName
  readonly id?: string
}

const damaged = ({ table, id }: RowName, why: string, cause?: unknown): InkError =>
  refuse('ROW_DAMAGED', { ...(table && { table }), ...(id !== undefined && { id }), why }, cause)

/** The indexed columns of a body, in the order tables.ts names them. */
export function columnsOf(table: TableName, body: Body): readonly ColumnValue[] {
  const { columns, paths, text } = tableOf(table)
  return Object.keys(columns).map((name) => {
    if (text && name === 'terms') return termsColumn(table, body)
    const path = paths?.[name]
    const value = ((path ? (body[path[0]] as Body | undefined)?.[path[1]] : body[name]) as ColumnValue | undefined) ?? null
    // No backend could return such a number, and every read of the table would fail on it.
    assert(typeof value !== 'number' || Number.isSafeInteger(value), `${name} of ${table} is a whole number`)
    return value
  })
}
