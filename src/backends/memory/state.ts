// The state of the memory backend. The oracle is meant to be checked by eye, so it consists of plain maps and arrays.

import type { EventRecord } from '../../model/event.ts'
import type { TenantId } from '../../model/ids.ts'
import type { StoredRow } from '../../model/rows.ts'
import { type ColumnValue, type TableName, tableNames } from '../../model/tables.ts'
import { checkActive, type TenantState } from '../../model/tenant.ts'
import type { StoredReceipt } from '../../ports/upkeep.ts'

export interface MemoryRow extends StoredRow {
  readonly columns: readonly ColumnValue[]
}

export type MemoryRows = Map<TableName, Map<string, MemoryRow>>

export interface MemoryTenant {
  state: TenantState
  readonly events: EventRecord[]
  rows: MemoryRows
  /** By their key in hex. */
  readonly receipts: Map<string, StoredReceipt>
  /** By the id of the lease. */
  readonly renewals: Map<string, { readonly fence: number; readonly until: number }>
  /** By their digest. */
  readonly blobs: Map<string, Uint8Array>
  /** Bodies of nodes by their ref in hex. */
  readonly nodes: Map<string, Uint8Array>
}

export interface MemoryState {
  readonly tenants: Map<TenantId, MemoryTenant>
  readonly secrets: Map<string, Uint8Array>
}

export const emptyState = (): MemoryState => ({ tenants: new Map(), secrets: new Map() })

export const emptyRows = (): MemoryRows => new Map(tableNames.map((name) => [name, new Map()]))

export const emptyTenant = (): MemoryTenant => ({
  state: 'active',
  events: [],
  rows: emptyRows(),
  receipts: new Map(),
  renewals: new Map(),
  blobs: new Map(),
  nodes: new Map(),
})

/** Returns the tenant for a read, which only an active one allows. */
export function activeTenant(state: MemoryState, id: TenantId): MemoryTenant {
  const tenant = state.tenants.get(id) ?? emptyTenant()
  checkActive(id, tenant.state)
  return tenant
}

export const tableRows = (rows: MemoryRows, table: TableName): Map<string, MemoryRow> => rows.get(table) as Map<string, MemoryRow>
