// Migrates any released schema to this one, each step in its own transaction and checked by its checksum. A newer schema is refused.

import { createHash } from 'node:crypto'
import { refuse } from '../../model/errors.ts'
import type { Database } from './database.ts'
import { migrationFiles } from './migration-files.ts'
import { undo } from './transaction.ts'

export interface Migration {
  readonly number: number
  readonly name: string
  readonly sql: string
  readonly checksum: string
}

/** 'INKF': distinguishes our files from those of other applications. */
export const APPLICATION_ID = 0x494e4b46

export const migrations: readonly Migration[] = migrationFiles.map(([file, sql]) => ({
  number: Number(file.slice(0, 4)),
  name: file.slice(5, -4),
  sql,
  checksum: createHash('sha256').update(sql).digest('hex'),
}))

export const schemaVersion = (): number => migrations.at(-1)?.number ?? 0

/** Checks that the file is a store of ours with a schema that is known. Reads no table: one that is a view would run its SQL. */
export function checkVersion(db: Database): void {
  const found = appliedSchema(db)
  // A new store gets its name only when it is complete. An empty database therefore belongs to another application and is left alone.
  if (db.get('pragma application_id')?.application_id !== APPLICATION_ID || found < 1) throw refuse('NOT_A_STORE', { path: db.path })
  if (found > schemaVersion()) throw refuse('SCHEMA_NEWER', { path: db.path, found, known: schemaVersion() })
}

/** Checks that the migrations that were applied are the ones that this version ships. */
export function checkApplied(db: Database): void {
  const found = appliedSchema(db)
  const applied = new Map(db.all('select number, checksum from migrations').map((row) => [row.number, row.checksum]))
  for (const { number, checksum } of migrations)
    if (number <= found && applied.get(number) !== checksum) throw refuse('SCHEMA_CHANGED', { path: db.path, migration: number })
}

export const appliedSchema = (db: Database): number => db.get('pragma user_version')?.user_version as number

/** The caller holds no transaction. Several processes may migrate at once: each step checks again under the write lock. */
export function migrate(db: Database, now: number): void {
  for (const { number, name, sql, checksum } of migrations) {
    if (appliedSchema(db) >= number) continue
    db.exec('begin immediate')
    try {
      if (appliedSchema(db) < number) {
        db.exec(sql)
        db.exec(`pragma application_id = ${APPLICATION_ID}; pragma user_version = ${number}`)
        db.run('insert into migrations (number, name, checksum, applied_at) values (?, ?, ?, ?)', number, name, checksum, now)
      }
      db.exec('commit')
    } catch (error) {
      undo(db)
      throw error
    }
  }
}
