// Maintenance of a store: its size, its soundness, and the rebuild of its rows.

import type { KeyReceipt } from '../model/chain.ts'
import type { ClockTrust } from '../model/clock-trust.ts'
import type { TenantId } from '../model/ids.ts'
import type { ScannedRow, StoredRow } from '../model/rows.ts'
import type { TableName } from '../model/tables.ts'
import type { Change } from './commit.ts'
import type { Head, JournalReads } from './journal.ts'

export interface Measure {
  /** Bytes on disk, by part. */
  readonly bytes: Readonly<Record<string, number>>
  /** Rows by table, including the backend's own tables. */
  readonly rows: Readonly<Record<string, number>>
}

export interface BackendHealth {
  /** Nothing needs an operator. */
  readonly ok: boolean
  /** It answers reads and accepts writes. */
  readonly ready: boolean
  readonly why: readonly string[]
  /** On a server: whether the login has the rights of a node and no more. */
  readonly login?: 'restricted' | 'powerful'
  /** Present if the clock of this process has leapt. */
  readonly clock?: ClockTrust
}

/** A snapshot: the journal and the rows of one tenant as of one moment, while other callers write. */
export interface Snapshot {
  readonly journal: JournalReads
  /** The rows of a table, ordered by id. */
  rows(table: TableName, after: string | undefined, limit: number): Promise<readonly ScannedRow[]>
  close(): Promise<void>
}

/** A temporary copy of one tenant's rows during a rebuild, beside the store and safe to lose. */
export interface Scratch {
  get(table: TableName, id: string): Promise<StoredRow | undefined>
  /** Applies changes as a commit would, stamping every `put` with this seq. */
  apply(seq: number, changes: readonly Change[]): Promise<void>
  rows(table: TableName, after: string | undefined, limit: number): Promise<readonly ScannedRow[]>
  close(): Promise<void>
}

/** `digest` is `receiptDigest` of the rest, as it was written. */
export interface StoredReceipt extends KeyReceipt {
  readonly digest: Uint8Array
}

export interface Upkeep {
  /** Rejects with TENANT_CLOSED when the tenant is not active. A snapshot that is already open stays readable. */
  snapshot(tenant: TenantId): Promise<Snapshot>
  scratch(): Promise<Scratch>
  /** Replaces the tenant's rows by the folded ones, atomically. Returns false and changes nothing if its head has moved since. */
  adopt(tenant: TenantId, scratch: Scratch, head: Pick<Head, 'seq' | 'hash'>): Promise<boolean>
  /**
   * Makes again what is kept beside the rows to find due work, from the rows as they are. Absent where nothing is kept. A store that was opened to
   * be read leaves it as it is.
   */
  remakeDue?(tenant: TenantId): Promise<void>
  /** Finds damage below the journal: pages, indexes. Empty when sound. */
  check(): Promise<readonly string[]>
  measure(): Promise<Measure>
  health(): Promise<BackendHealth>
  /**
   * The receipts of keyed commits of a tenant, ordered by key, after the key `after`. Rejects with TENANT_CLOSED when the tenant is not
   * active.
   */
  receipts(tenant: TenantId, after: Uint8Array | undefined, limit: number): Promise<readonly StoredReceipt[]>
  /** Deletes receipts of keyed commits older than this, and returns their number. It also deletes renewals that ended before. */
  sweepReceipts(before: number): Promise<number>
  /**
   * Compares the clock of this process with the times of other processes. Asked for before data is removed by the clock. Absent where one clock
   * counts for all processes, or where there is only one process.
   */
  clock?(): Promise<ClockTrust>
  /** Makes sure that erased data is gone from side files too. */
  scrub(): Promise<void>
  /**
   * Gives some of the space of deleted content back to the file system, in one short write. Returns the bytes, 0 if there are no more. Absent
   * where the database keeps the space for itself.
   */
  reclaim?(tenant: TenantId): Promise<number>
  /** Random bytes, generated once and kept in the store under a name. */
  secret(name: string): Promise<Uint8Array>
}
