// Reads the schema version of a store without changing anything, so that a person can decide first; and migrates it.

import { basename, join } from 'node:path'
import { InkError } from '../../model/errors.ts'
import { appliedSchema, migrations, schemaVersion } from './migrate.ts'
import { changedObjects, mendable } from './objects.ts'
import { checkContent, existingFile, lookInto, openDatabase } from './open.ts'
import { isFolderStore, STORE_FILE, tenantFile, tenantsIn } from './tenant-files.ts'

export interface MigrationState {
  readonly number: number
  readonly name: string
  readonly checksum: string
  /** Unix milliseconds; absent until it is applied. */
  readonly appliedAt?: number
}

export interface SchemaState {
  /** The schema version of the file. */
  readonly found: number
  /** The version that this release needs. */
  readonly needed: number
  readonly migrations: readonly MigrationState[]
  /** Triggers and indexes of ours that are missing or changed, in words. */
  readonly guardsMissing: readonly string[]
}

/** Throws if there is no store at this path. The version of a folder is that of its oldest file. */
export function readSchema(store: string): SchemaState {
  const states = filesOf(store).map(readFile)
  const last = (number: number): number | undefined => {
    const times = states.map((state) => state.migrations.find((migration) => migration.number === number)?.appliedAt)
    return times.every((at) => at !== undefined) ? Math.max(...times) : undefined
  }
  return {
    found: Math.min(...states.map((state) => state.found)),
    needed: schemaVersion(),
    migrations: migrations.map(({ number, name, checksum }) => {
      const appliedAt = last(number)
      return { number, name, checksum, ...(appliedAt !== undefined && { appliedAt }) }
    }),
    guardsMissing: states.flatMap((state) => state.guardsMissing),
  }
}

const filesOf = (store: string): readonly string[] =>
  isFolderStore(store) ? [STORE_FILE, ...tenantsIn(store).map(tenantFile)].map((name) => join(store, name)) : [store]

function readFile(file: string): SchemaState {
  return lookInto(existingFile(file), (db) => {
    checkContent(db, { readOnly: true, mends: true })
    const found = appliedSchema(db)
    const applied = db.all('select number, applied_at from migrations order by number')
    const at = new Map(applied.map((row) => [row.number as number, row.applied_at as number]))
    return {
      found,
      needed: schemaVersion(),
      migrations: migrations.map(({ number, name, checksum }) => {
        const appliedAt = at.get(number)
        return { number, name, checksum, ...(appliedAt !== undefined && { appliedAt }) }
      }),
      guardsMissing: mendable(db),
    }
  })
}

/** Returns the differences from the migrations, in words. */
export function changedSchema(store: string): readonly string[] {
  return filesOf(store).flatMap((file) => {
    const changed = changedIn(file)
    return isFolderStore(store) ? changed.map((line) => `${basename(file)}: ${line}`) : changed
  })
}

function changedIn(file: string): readonly string[] {
  try {
    return lookInto(existingFile(file), changedObjects)
  } catch (error) {
    if (!(error instanceof InkError)) throw error
    return [`it cannot be looked at (${error.code})`]
  }
}

/** Applies the missing migrations, each of them atomically, in one file after the other, and restores triggers and indexes. */
export async function migrateFile(
  store: string,
  now: () => number = Date.now,
): Promise<SchemaState & { readonly guardedAgain: readonly string[] }> {
  const { guardsMissing: guardedAgain } = readSchema(store)
  for (const file of filesOf(store)) (await openDatabase(file, now, { create: false, migrate: true, mends: true })).close()
  return { ...readSchema(store), guardedAgain }
}
