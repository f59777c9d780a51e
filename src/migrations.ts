// Schema version of a store, to decide before migrating: of a file or of a database.

import { migrateFile, readSchema as readFileSchema } from './backends/sqlite/schema.ts'
import { isDatabase } from './database.ts'

export interface MigrationState {
  readonly number: number
  readonly name: string
  readonly checksum: string
  /** Unix milliseconds; absent until it is applied. */
  readonly appliedAt?: number
  /** For a database: the oldest schema whose nodes may keep running once it is applied. */
  readonly serves?: number
  /** For a database: the SQL to run, until it is applied. */
  readonly sql?: string
}

export interface SchemaState {
  /** The schema version of the store. */
  readonly found: number
  /** The newest version that this release knows. */
  readonly needed: number
  readonly migrations: readonly MigrationState[]
  /** Tables of a database whose row-level security was off and has been switched on again. */
  readonly walledAgain?: readonly string[]
  /** For a file: triggers and indexes that are missing or changed, which migrating restores. */
  readonly guardsMissing?: readonly string[]
  /** Triggers, and indexes of a file, that were missing or changed and have been restored. */
  readonly guardedAgain?: readonly string[]
  /** The tenant key was registered in a database that did not have it. */
  readonly keyAdded?: boolean
}

export interface MigrateOptions {
  /** For a database: the key with which its nodes sign tenants. */
  readonly tenantKey?: string
  readonly progress?: (migration: { readonly number: number; readonly name: string }) => void
}

/** Reads only. `store` is a path or a postgres: URL. */
export const readSchema = async (store: string): Promise<SchemaState> =>
  isDatabase(store) ? (await database()).readDatabaseSchema(store) : readFileSchema(store)

/** Applies the missing migrations, each of them atomically. */
export const migrateStore = async (store: string, options: MigrateOptions = {}): Promise<SchemaState> =>
  isDatabase(store) ? (await database()).migrateDatabase(store, options) : migrateFile(store)

// The driver is loaded for databases only.
const database = () => import('./backends/postgres/schema.ts')
