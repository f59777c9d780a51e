// Where a store's schema stands, and bringing it up to date: looked at without changing anything, so that a person can decide first.

import { connect, within } from './database.ts'
import { appliedSchema, checkSchema, migrations, schemaVersion } from './migrate.ts'
import { existingFile, openDatabase } from './open.ts'

export interface MigrationState {
  readonly number: number
  readonly name: string
  readonly checksum: string
  /** Unix milliseconds; absent while it is not applied. */
  readonly appliedAt?: number
}

export interface SchemaState {
  /** What the file has. */
  readonly found: number
  /** What this version needs. */
  readonly needed: number
  readonly migrations: readonly MigrationState[]
}

/** Refuses what is not there or is no store; says where everything else stands. */
export function readSchema(file: string): SchemaState {
  const path = existingFile(file)
  const db = connect(path, { readOnly: true })
  try {
    return within(path, () => {
      checkSchema(db)
      const found = appliedSchema(db)
      const applied = db.all('select number, applied_at from migrations order by number')
      const at = new Map(applied.map((row) => [row.number as number, row.applied_at as number]))
      return {
        found,
        needed: schemaVersion,
        migrations: migrations.map(({ number, name, checksum }) => {
          const appliedAt = at.get(number)
          return { number, name, checksum, ...(appliedAt !== undefined && { appliedAt }) }
        }),
      }
    })
  } finally {
    db.close()
  }
}

/** Applies what is missing, each step all or nothing. */
export async function migrateFile(file: string, now: () => number = Date.now): Promise<SchemaState> {
  const db = await openDatabase(file, now, { create: false, migrate: true })
  db.close()
  return readSchema(file)
}
