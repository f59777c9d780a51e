// Reads rows by key, or by a declared index.

import type { TenantId } from '../model/ids.ts'
import type { StoredRow } from '../model/rows.ts'
import type { ColumnValue, TableName } from '../model/tables.ts'

export interface ListQuery {
  readonly index: string
  /** Values of the leading columns of the index. */
  readonly equals: readonly ColumnValue[]
  /** A range on the next column, or on the id if all columns are fixed. Null is in no range. */
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

export interface RowKey {
  readonly table: TableName
  readonly id: string
}

/** All reject with TENANT_CLOSED when the tenant is not active. */
export interface RowReads {
  get(tenant: TenantId, table: TableName, id: string): Promise<StoredRow | undefined>
  /**
   * Rows of any tables in one round trip: one for each key, in the order of the keys. A key may occur twice. Another writer may commit
   * between two of the rows.
   */
  getMany(tenant: TenantId, keys: readonly RowKey[]): Promise<readonly (StoredRow | undefined)[]>
  list(tenant: TenantId, table: TableName, query: ListQuery): Promise<RowPage>
}
