// Looking after a store: what it is worth, whether it is sound, and how its rows are made anew.

import type { TenantId } from '../model/ids.ts'
import type { ScannedRow, StoredRow } from '../model/rows.ts'
import type { TableName } from '../model/tables.ts'
import type { Change } from './commit.ts'
import type { Head, JournalReads } from './journal.ts'

export interface Measure {
  /** Bytes on disk, by part. */
  readonly bytes: Readonly<Record<string, number>>
  /** Rows by table, tables of the backend's own included. */
  readonly rows: Readonly<Record<string, number>>
}

export interface BackendHealth {
  readonly ok: boolean
  readonly why: readonly string[]
}

/** A still picture: the journal and the rows of one tenant as of one moment, while others go on writing. */
export interface Snapshot {
  readonly journal: JournalReads
  /** The rows of a table in the order of their ids. */
  rows(table: TableName, after: string | undefined, limit: number): Promise<readonly ScannedRow[]>
  close(): Promise<void>
}

/** One tenant's rows being folded, beside the store, safe to lose. */
export interface Scratch {
  get(table: TableName, id: string): Promise<StoredRow | undefined>
  /** Applies changes as a commit would, every `put` stamped with this seq. */
  apply(seq: number, changes: readonly Change[]): Promise<void>
  rows(table: TableName, after: string | undefined, limit: number): Promise<readonly ScannedRow[]>
  close(): Promise<void>
}

export interface Upkeep {
  /** TENANT_CLOSED when the tenant is not active. One that is open when its tenant is closed may go on: it is a picture. */
  snapshot(tenant: TenantId): Promise<Snapshot>
  scratch(): Promise<Scratch>
  /** Puts the folded rows in place of the tenant's, all at once; false, and nothing changed, when its head has moved since. */
  adopt(tenant: TenantId, scratch: Scratch, head: Pick<Head, 'seq' | 'hash'>): Promise<boolean>
  /** Damage below the journal: pages, indexes. Empty when sound. */
  check(): Promise<readonly string[]>
  measure(): Promise<Measure>
  health(): Promise<BackendHealth>
  /** Forgets receipts of keyed commits older than this; tells how many. What was held until before then is forgotten with them. */
  sweepReceipts(before: number): Promise<number>
  /** Makes sure that what was erased is gone from side files too. */
  scrub(): Promise<void>
  /** Random bytes made once and kept with the store, under a name. */
  secret(name: string): Promise<Uint8Array>
}
