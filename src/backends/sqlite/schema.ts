// Where a store's schema stands, and bringing it up to date: looked at without changing anything, so that a person can decide first.

import { statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { refuse } from '../../model/errors.ts'
import { connect, within } from './database.ts'
import { appliedSchema, checkSchema, migrations, schemaVersion } from './migrate.ts'
import { openDatabase } from './open.ts'

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
  const path = resolve(file)
  const folder = dirname(path)
  if (!statSync(folder, { throwIfNoEntry: false })) throw refuse('FOLDER_MISSING', { folder, path })
  const there = statSync(path, { throwIfNoEntry: false })
  if (!there) throw refuse('FILE_MISSING', { path })
  if (!there.isFile()) throw refuse('FILE_DENIED', { path, reason: 'it is not a file' })
  if (there.size === 0) throw refuse('FILE_EMPTY', { path })
  const db = connect(path)
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
