// Lists rows by an index and filters row by row what no index narrows. The work is bounded, and the cursor stands after the last row that was read.

import { limits } from '../../model/limits.ts'
import { checkKnown } from '../../model/options.ts'
import { encodeCursor } from '../../model/order.ts'
import type { RowOf } from '../../model/row-types.ts'
import { decodeBody } from '../../model/rows.ts'
import type { ColumnValue, TableName } from '../../model/tables.ts'
import { checkOpen, type Scope } from '../wiring/scope.ts'
import { checkLast, type Page, type PageOptions } from './list-rows.ts'

export interface Where<T extends TableName> {
  /** An index whose columns after `equals` are `born` and the id. */
  readonly index: string
  readonly equals: readonly ColumnValue[]
  /** The filter. Absent when the index is enough. */
  readonly matches?: ((row: RowOf<T>) => boolean) | undefined
  /** Oldest first. */
  readonly forwards?: boolean
}

const LAST = 50
const AT_A_TIME = 200

/** Newest first by default. A page may have fewer rows than asked for and still have a cursor: the number of rows read is limited. */
export async function listMatching<T extends TableName>(
  scope: Scope,
  table: T,
  { index, equals, matches, forwards = false }: Where<T>,
  { last = LAST, cursor, ...unknown }: PageOptions,
): Promise<Page<RowOf<T>>> {
  checkOpen(scope.engine)
  checkKnown(unknown, 'this list')
  checkLast(last, table)
  const items: RowOf<T>[] = []
  let from = cursor
  for (let looked = 0; ; ) {
    const page = await scope.engine.backend.rows.list(scope.tenant, table, {
      index,
      equals,
      limit: matches ? Math.max(last, AT_A_TIME) : last,
      backwards: !forwards,
      ...(from !== undefined && { cursor: from }),
    })
    for (const [i, { id, born, body }] of page.rows.entries()) {
      const row = decodeBody(body, { table, id })
      if (!matches || matches(row)) items.push(row)
      if (items.length < last) continue
      const more = i + 1 < page.rows.length || page.cursor !== undefined
      return { items, ...(more && { cursor: encodeCursor([born, id]) }) }
    }
    if (page.cursor === undefined) return { items }
    from = page.cursor
    looked += page.rows.length
    if (looked >= limits.listLooks) return { items, cursor: from }
  }
}
