// The storage that the kernel expects. Two backends that pass inkfast/conformance are interchangeable.

import type { Queries } from '../model/queries.ts'
import type { Audit } from './audit.ts'
import type { Blobs } from './blobs.ts'
import type { Commit, Outcome } from './commit.ts'
import type { JournalReads } from './journal.ts'
import type { Leases } from './leases.ts'
import type { RowReads } from './rows.ts'
import type { Texts } from './texts.ts'
import type { Upkeep } from './upkeep.ts'
import type { Values } from './values.ts'
import type { Wakeups } from './wakeups.ts'
import type { Workers } from './workers.ts'

export interface BackendTraits {
  /** Acknowledged commits survive a power cut. */
  readonly durable: boolean
  /** Needs a network other than loopback. */
  readonly network: boolean
  /** Several processes or nodes may use it at the same time. */
  readonly shared: boolean
  /** Isolation of tenants: by the database, by a file each, or only by our own statements. */
  readonly wall: 'database' | 'file' | 'statements'
}

export interface Backend {
  readonly name: string
  readonly traits: BackendTraits
  /**
   * The one write verb. Outcomes are in the order of the batch; a refused commit changes nothing and does not affect the others. If it
   * rejects, any commit of the batch may or may not have been saved.
   */
  commit(batch: readonly Commit[]): Promise<readonly Outcome[]>
  readonly journal: JournalReads
  readonly rows: RowReads
  readonly queries: Queries
  readonly leases: Leases
  readonly blobs: Blobs
  readonly values: Values
  readonly texts: Texts
  readonly audit: Audit
  readonly workers: Workers
  readonly wakeups: Wakeups
  readonly upkeep: Upkeep
  close(): Promise<void>
}
