// The state of the memory backend. The oracle is meant to be checked by eye, so it consists of plain maps and arrays.

import type { BlobState } from '../../model/blob.ts'
import type { EventRecord } from '../../model/event.ts'
import type { TenantId } from '../../model/ids.ts'
import type { Refusal } from '../../model/refusal.ts'
import type { StoredRow } from '../../model/rows.ts'
import { type ColumnValue, type TableName, tableNames } from '../../model/tables.ts'
import { checkActive, type TenantState } from '../../model/tenant.ts'
import type { WorkerRow } from '../../model/worker.ts'
import type { StoredReceipt } from '../../ports/upkeep.ts'
import type { Collection, Reference } from '../../ports/values.ts'

export interface MemoryRow extends StoredRow {
  readonly columns: readonly ColumnValue[]
}

export type MemoryRows = Map<TableName, Map<string, MemoryRow>>

export interface MemoryNode {
  readonly id: number
  readonly at: number
  readonly body: Uint8Array
}

export interface MemoryBlob {
  readonly pieces: readonly { readonly body: Uint8Array; readonly sha256: Uint8Array }[]
  readonly bytes: number
  readonly state: BlobState
  readonly at: number
  /** The last collection under which it was put or named. */
  readonly number: number
}

export interface MemoryTenant {
  state: TenantState
  readonly events: EventRecord[]
  rows: MemoryRows
  /** By their key in hex. */
  readonly receipts: Map<string, StoredReceipt>
  /** By the id of the lease. */
  readonly renewals: Map<string, { readonly fence: number; readonly until: number }>
  /** By their digest. */
  readonly blobs: Map<string, MemoryBlob>
  /** By their ref in hex, in the order of their ids. */
  readonly nodes: Map<string, MemoryNode>
  lastNode: number
  /** Nodes that a commit named or wrote again, by their ref in hex. */
  readonly named: Map<string, { readonly at: number; readonly number: number }>
  /** References of events, in the order of the journal. */
  references: readonly Reference[]
  collection: Collection & { readonly active: boolean }
  /** Oldest first. */
  readonly audit: Refusal[]
  /** By id. */
  readonly workers: Map<string, WorkerRow>
}

export interface MemoryState {
  readonly tenants: Map<TenantId, MemoryTenant>
  readonly secrets: Map<string, Uint8Array>
  /** Workers that serve every tenant, by id. */
  readonly workers: Map<string, WorkerRow>
}

export const emptyState = (): MemoryState => ({ tenants: new Map(), secrets: new Map(), workers: new Map() })

export const emptyRows = (): MemoryRows => new Map(tableNames.map((name) => [name, new Map()]))

export const emptyTenant = (): MemoryTenant => ({
  state: 'active',
  events: [],
  rows: emptyRows(),
  receipts: new Map(),
  renewals: new Map(),
  blobs: new Map(),
  nodes: new Map(),
  lastNode: 0,
  named: new Map(),
  references: [],
  collection: { number: 0, top: 0, active: false },
  audit: [],
  workers: new Map(),
})

/** Returns the tenant for a read, which only an active one allows. */
export function activeTenant(state: MemoryState, id: TenantId): MemoryTenant {
  const tenant = state.tenants.get(id) ?? emptyTenant()
  checkActive(id, tenant.state)
  return tenant
}

export const tableRows = (rows: MemoryRows, table: TableName): Map<string, MemoryRow> => rows.get(table) as Map<string, MemoryRow>
