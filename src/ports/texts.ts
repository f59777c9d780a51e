// Search by words over the text column of a table. The backend keeps the index in the same commit as the row; the kernel makes the terms and
// their weights. Equal rows and an equal query give equal rows, order and scores on every backend.

import type { TenantId } from '../model/ids.ts'
import type { StoredRow } from '../model/rows.ts'
import type { ColumnValue, TextTable } from '../model/tables.ts'

export interface TermQuery {
  readonly terms: readonly string[]
  /** Terms that begin with these texts: for each the most frequent ones, then by their bytes. */
  readonly prefixes?: readonly string[]
  /** Some of `terms`: one that does not exist is taken for a prefix. */
  readonly beginnings?: readonly string[]
  /** The most terms for one prefix. */
  readonly limit?: number
}

export interface TermStatistics {
  /** Rows of the tenant with a text. */
  readonly rows: number
  /** Sum of the lengths of their texts. */
  readonly length: number
  /** The terms that exist, with the number of rows that have them. */
  readonly terms: readonly { readonly term: string; readonly rows: number; readonly prefix?: string }[]
}

/** Rows pass that have one mark of each list in `with`, no mark of `without`, and columns as said. */
export interface TextFilter {
  /** Marks of scopes. The text of a row names one scope. */
  readonly about?: readonly string[]
  readonly with?: readonly (readonly string[])[]
  readonly without?: readonly string[]
  /** The column lies in the range, from `from` on and below `below`. Null is in no range. */
  readonly inside?: readonly ColumnRange[]
  /** The column does not lie in the range. */
  readonly outside?: readonly ColumnRange[]
  readonly equals?: readonly { readonly column: string; readonly value: ColumnValue }[]
}

export interface ColumnRange {
  readonly column: string
  readonly from?: number
  readonly below?: number
}

/**
 * A row scores, for each of its terms, `trunc(weight · f / (f + k1))`, where
 * `f = text / (lengthBase + lengthFactor · length) + tags · tagWeight + source · sourceWeight`. Scores are integers, so that the order of
 * summation does not matter. Terms may not repeat.
 */
export interface TextQuery {
  readonly terms: readonly { readonly term: string; readonly weight: number }[]
  readonly k1: number
  readonly lengthBase: number
  readonly lengthFactor: number
  readonly tagWeight: number
  readonly sourceWeight: number
  readonly filter: TextFilter
  readonly limit: number
}

export interface ScoredRow {
  readonly row: StoredRow
  readonly score: number
}

export interface Place {
  readonly thread: string
  readonly born: number
}

/** All reject with TENANT_CLOSED when the tenant is not active. */
export interface Texts {
  statistics(tenant: TenantId, table: TextTable, query: TermQuery): Promise<TermStatistics>
  /** Best first, then by `born`. Rows without any of the terms are left out. */
  search(tenant: TenantId, table: TextTable, query: TextQuery): Promise<readonly ScoredRow[]>
  /**
   * The rows up to `span` before and after these places in their threads, each once, by thread and `born`. Only rows with a text. Rows at the
   * places themselves are left out: the caller has them.
   */
  around(tenant: TenantId, table: TextTable, places: readonly Place[], span: number): Promise<readonly StoredRow[]>
}
