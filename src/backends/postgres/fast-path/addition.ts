// An addition is one more thing that a statement of the fast path does or checks when it inserts events.

import type { Value } from '../connections.ts'

export interface Addition {
  /** Additions of the same shape have the same text. */
  readonly shape: string
  /** How much the counts of the text are together, if everything is as expected. */
  readonly count: number
  readonly values: readonly Value[]
  /** The SQL. `place` gives the next parameter. The statement's part `moved` holds the tenant, or no row if the head was elsewhere. */
  text(place: () => string): AdditionText
}

export interface AdditionText {
  /** Further parts of the statement. */
  readonly parts: readonly string[]
  readonly counts: readonly string[]
}

/** Nothing, one row, or several: a single row is sent without arrays. */
export const counted = (sign: string, rows: readonly unknown[]): string => (rows.length === 0 ? '' : rows.length === 1 ? sign : sign + sign)
