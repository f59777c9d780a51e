// A row between the decider that made it and the table that keeps it.

import { canonical } from './canonical.ts'
import { assert } from './errors.ts'
import { type ColumnValue, type TableName, tableOf } from './tables.ts'

/** As a backend keeps it. `born`, `revision` and `fence` are seqs, stamped by the backend and reproduced by the fold. */
export interface StoredRow {
  readonly id: string
  readonly born: number
  readonly revision: number
  readonly fence?: number | undefined
  readonly body: string
}

/** With its indexed columns as they are stored, which need not be what the body says when somebody wrote them by hand. */
export interface ScannedRow extends StoredRow {
  readonly columns: readonly ColumnValue[]
  /** What the backend keeps beside the row, for itself, is not as the rows would have it. */
  readonly astray?: true
}

export type Body = Readonly<Record<string, unknown>>

/** Canonical, so that a row decided live and the same row folded later are equal to the byte. */
export const encodeBody = (body: Body): string => canonical(body)

export const decodeBody = <Row extends Body>(text: string): Row => JSON.parse(text) as Row

/** The indexed columns of a body, in the order tables.ts names them. */
export function columnsOf(table: TableName, body: Body): readonly ColumnValue[] {
  return Object.keys(tableOf(table).columns).map((name) => {
    const value = (body[name] as ColumnValue | undefined) ?? null
    // A backend could not give it back, and everything that reads the table would stop at it.
    assert(typeof value !== 'number' || Number.isSafeInteger(value), `${name} of ${table} is a whole number`)
    return value
  })
}
