// One connection to the file: the pragmas that our promises rest on, a statement cache, and translated errors.

import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { refuse } from '../../model/errors.ts'
import { within } from './failures.ts'

const STATEMENTS_HELD = 500
const CACHE_BYTES = 64 * 1024 * 1024

export type Durability = 'full' | 'normal'
export type SqlRow = Readonly<Record<string, unknown>>

export interface Database {
  readonly path: string
  /** The file name given to SQLite: the path, or a URI with options. */
  readonly name: string
  readonly readOnly: boolean
  /** The last failure of the disk, until a write succeeds. Connections opened with `beside` share it. */
  readonly disk: { failure: string | undefined }
  /** Opens a second connection, for reading. */
  beside(): Database
  all(sql: string, ...values: SQLInputValue[]): readonly SqlRow[]
  /** Rows as arrays in column order, which is cheaper for many rows. Use a statement with `lists` or with `all`, not both. */
  lists(sql: string, ...values: SQLInputValue[]): readonly (readonly unknown[])[]
  /** For the few statements that run for every event. */
  statement(sql: string): StatementSync
  get(sql: string, ...values: SQLInputValue[]): SqlRow | undefined
  run(sql: string, ...values: SQLInputValue[]): number
  exec(sql: string): void
  close(): void
}

export interface ConnectOptions {
  readonly readOnly?: boolean
  /** No process writes to the file, and nothing may be created beside it. */
  readonly immutable?: boolean
  /** Refuses statements that could damage the file; true by default. A file that is thrown away turns its journal off, which is such a one. */
  readonly defensive?: boolean
}

export function connect(path: string, options: ConnectOptions = {}, disk: Database['disk'] = { failure: undefined }): Database {
  const beside = () => connect(path, { ...options, readOnly: true }, disk)
  const readOnly = options.readOnly ?? false
  const name = options.immutable ? `${pathToFileURL(path).href}?immutable=1` : path
  const db = within({ path }, () => new DatabaseSync(name, { readOnly, timeout: 0, defensive: options.defensive ?? true }))
  // The schema of a file may be anybody's: its views, defaults and triggers call no function that could act outside the file.
  db.exec('pragma trusted_schema = off')
  const statements = new Map<string, StatementSync>()
  const prepare = (sql: string): StatementSync => {
    const known = statements.get(sql)
    if (known) return known
    const statement = db.prepare(sql)
    // The texts of queries vary; dropping the cache is cheap, because the fixed ones are prepared again at once.
    if (statements.size === STATEMENTS_HELD) statements.clear()
    statements.set(sql, statement)
    return statement
  }
  return {
    path,
    name,
    readOnly,
    disk,
    beside,
    all: (sql, ...values) => prepare(sql).all(...values) as SqlRow[],
    lists: (sql, ...values) => {
      const statement = prepare(sql)
      statement.setReturnArrays(true)
      return statement.all(...values) as unknown as unknown[][]
    },
    statement: prepare,
    get: (sql, ...values) => prepare(sql).get(...values) as SqlRow | undefined,
    run: (sql, ...values) => Number(prepare(sql).run(...values).changes),
    exec: (sql) => db.exec(sql),
    close: () => {
      statements.clear()
      db.close()
    },
  }
}

/**
 * Set on every open, and read back: a reopened file can silently be NORMAL, which loses acknowledged events in a power cut. `secure_delete`
 * removes erased payloads from the pages. `recursive_triggers` keeps REPLACE from bypassing the append-only guard.
 */
export function setPragmas(db: Database, durability: Durability, cacheBytes = CACHE_BYTES): void {
  db.exec(`
    pragma synchronous = ${durability === 'full' ? 'full' : 'normal'};
    pragma recursive_triggers = on;
    pragma secure_delete = on;
    pragma foreign_keys = on;
    pragma wal_autocheckpoint = 0;
    pragma cache_size = -${Math.ceil(cacheBytes / 1024)};
    pragma temp_store = memory;
  `)
  const found = db.get('pragma synchronous')?.synchronous
  if (found !== (durability === 'full' ? 2 : 1)) throw refuse('DURABILITY_NOT_HELD', { path: db.path, asked: durability, found })
}
