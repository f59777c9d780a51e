// A backend as the kernel reads it: every row has the type of its table. The port returns `StoredRow`s, so any `Backend` fits.

import type { TenantId } from '../../model/ids.ts'
import type { Queries, ReadyWork } from '../../model/queries.ts'
import type { TableRow } from '../../model/rows.ts'
import type { TableName } from '../../model/tables.ts'
import type { Backend } from '../../ports/backend.ts'
import type { ListQuery, RowPage } from '../../ports/rows.ts'

export interface TypedBackend extends Omit<Backend, 'rows' | 'queries'> {
  readonly rows: TypedRows
  readonly queries: TypedQueries
}

interface TypedRows {
  get<T extends TableName>(tenant: TenantId, table: T, id: string): Promise<TableRow<T> | undefined>
  getMany: Backend['rows']['getMany']
  list<T extends TableName>(tenant: TenantId, table: T, query: ListQuery): Promise<TypedPage<T>>
}

/** A page of rows of one table. */
export interface TypedPage<T extends TableName> extends RowPage {
  readonly rows: readonly TableRow<T>[]
}

interface TypedQueries extends Omit<Queries, 'ready'> {
  ready(tenant: TenantId, queue: string, limit: number): Promise<ReadyWork & { readonly rows: readonly TableRow<'work'>[] }>
}
