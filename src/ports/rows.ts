// Reading rows: by key, or by a declared index.

import type { TenantId } from '../model/ids.ts'
import type { StoredRow } from '../model/rows.ts'
import type { ColumnValue, TableName } from '../model/tables.ts'

export interface ListQuery {
  readonly index: string
  /** Equal to the leading columns of the index. */
  readonly equals: readonly ColumnValue[]
  /** A range on the next column, which is the id once all are fixed. Null lies in no range. */
  readonly from?: string | number
  readonly below?: string | number
  readonly backwards?: boolean
  readonly limit: number
  readonly cursor?: string
}

export interface RowPage {
  readonly rows: readonly StoredRow[]
  readonly cursor?: string
}

/** Both are refused with TENANT_CLOSED when the tenant is not active. */
export interface RowReads {
  get(tenant: TenantId, table: TableName, id: string): Promise<StoredRow | undefined>
  list(tenant: TenantId, table: TableName, query: ListQuery): Promise<RowPage>
}
