// Where a store's schema stands, for those who decide before they migrate: of a file, or of a database.

import { migrateDatabase, readDatabaseSchema } from './backends/postgres/schema.ts'
import { migrateFile, readSchema as readFileSchema } from './backends/sqlite/schema.ts'
import { isDatabase } from './database.ts'

export interface MigrationState {
  readonly number: number
  readonly name: string
  readonly checksum: string
  /** Unix milliseconds; absent while it is not applied. */
  readonly appliedAt?: number
  /** Of a database: the oldest schema whose nodes may go on serving once it is applied. */
  readonly serves?: number
  /** Of a database: what would be run, while it is not applied. */
  readonly sql?: string
}

export interface SchemaState {
  /** What the store has. */
  readonly found: number
  /** The newest that this version knows. */
  readonly needed: number
  readonly migrations: readonly MigrationState[]
  /** Tables of a database whose row-level security someone had switched off, and which have it again. */
  readonly walledAgain?: readonly string[]
  /** A tenant key was made known to a database that did not know it before. */
  readonly keyAdded?: boolean
}

export interface MigrateOptions {
  /** Of a database: the key its nodes sign tenants with. */
  readonly tenantKey?: string
  readonly progress?: (migration: { readonly number: number; readonly name: string }) => void
}

/** Changes nothing. `store` is a path or a postgres: URL. */
export const readSchema = async (store: string): Promise<SchemaState> =>
  isDatabase(store) ? readDatabaseSchema(store) : readFileSchema(store)

/** Applies what is missing, each step all or nothing. */
export const migrateStore = async (store: string, options: MigrateOptions = {}): Promise<SchemaState> =>
  isDatabase(store) ? migrateDatabase(store, options) : migrateFile(store)
