// Reads all rows of a range page by page. A cursor is a position in the order, so rows that come and go in between shift nothing.

import type { TableRow } from '../../model/rows.ts'
import type { TableName } from '../../model/tables.ts'
import type { ListQuery } from '../../ports/rows.ts'
import type { Scope } from '../wiring/scope.ts'

type Reader = Pick<Scope, 'engine' | 'tenant'>
/** `limit` is the size of a page. */
type Range = Omit<ListQuery, 'cursor'>

export async function* everyPage<T extends TableName>(
  { engine, tenant }: Reader,
  table: T,
  range: Range,
): AsyncGenerator<readonly TableRow<T>[], void, undefined> {
  for (let cursor: string | undefined; ; ) {
    const page = await engine.backend.rows.list(tenant, table, { ...range, ...(cursor !== undefined && { cursor }) })
    yield page.rows
    if (page.cursor === undefined || page.rows.length < range.limit) return
    cursor = page.cursor
  }
}

export async function* everyRow<T extends TableName>(scope: Reader, table: T, range: Range): AsyncGenerator<TableRow<T>, void, undefined> {
  for await (const rows of everyPage(scope, table, range)) yield* rows
}
