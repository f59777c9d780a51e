// All rows of a range, read page by page as they are wanted. A cursor is a place in the order, so rows that come and go meanwhile shift nothing.

import type { StoredRow } from '../model/rows.ts'
import type { TableName } from '../model/tables.ts'
import type { ListQuery } from '../ports/rows.ts'
import type { Scope } from './scope.ts'

type Reader = Pick<Scope, 'engine' | 'tenant'>
/** `limit` is how many are read at a time. */
type Range = Omit<ListQuery, 'cursor'>

export async function* everyPage(
  { engine, tenant }: Reader,
  table: TableName,
  range: Range,
): AsyncGenerator<readonly StoredRow[], void, undefined> {
  for (let cursor: string | undefined; ; ) {
    const page = await engine.backend.rows.list(tenant, table, { ...range, ...(cursor !== undefined && { cursor }) })
    yield page.rows
    if (page.cursor === undefined || page.rows.length < range.limit) return
    cursor = page.cursor
  }
}

export async function* everyRow(scope: Reader, table: TableName, range: Range): AsyncGenerator<StoredRow, void, undefined> {
  for await (const rows of everyPage(scope, table, range)) yield* rows
}
