// Opens a store's file, or creates it first. Every refusal leaves the place as it was.

import { accessSync, constants, statSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { type InkError, refuse } from '../../model/errors.ts'
import { make } from './create.ts'
import { connect, type Database, type Durability, setPragmas } from './database.ts'
import { errcode, fileError, isBusy, isDiskFault, SQLITE, translate, within } from './failures.ts'
import { appliedSchema, checkApplied, checkVersion, migrate, schemaVersion } from './migrate.ts'
import { checkObjects, mendObjects } from './objects.ts'
import { undo } from './transaction.ts'

export interface OpenOptions {
  readonly durability?: Durability
  /** Create the file if it does not exist; true by default. */
  readonly create?: boolean
  /** Read only, change nothing. */
  readonly readOnly?: boolean
  /** Migrate an older schema; true by default. */
  readonly migrate?: boolean
}

export interface PrepareOptions extends OpenOptions {
  /** Makes triggers and indexes again that are missing or changed. Without it, such a file is refused. */
  readonly mends?: boolean
  /** Maximum size of the page cache. */
  readonly cacheBytes?: number
  /** Opens a connection; tests give one whose disk fails. */
  readonly connect?: typeof connect
}

// The first version with the repaired WAL reset.
const SQLITE_NEEDED = '3.51.3'
const NODE_NEEDED = '22.22.3, 24.15'
const OPEN_DEADLINE_MS = 10_000
// Most file systems allow 255 bytes, and SQLite appends a suffix to the name.
const NAME_BYTES = 240

export async function openDatabase(file: string, now: () => number, options: PrepareOptions = {}): Promise<Database> {
  checkLibrary(process.versions.sqlite ?? '0')
  const path = checkPath(file)
  const folder = dirname(path)
  if (!isThere(path)) {
    if (options.create === false || options.readOnly) throw refuse('FILE_MISSING', { path })
    make(path, now())
  }
  checkFile(path)
  if (!options.readOnly) checkWritable(path, folder)

  const started = performance.now()
  let retried = false
  for (;;) {
    const db = (options.connect ?? connect)(path, { readOnly: options.readOnly ?? false })
    try {
      prepare(db, now(), options)
      return db
    } catch (error) {
      db.close()
      if (options.readOnly && needsSideFiles(path, error)) return openImmutable(path, now(), options)
      // Another process is opening, migrating or closing the same file.
      if (isBusy(error)) {
        if (performance.now() - started > OPEN_DEADLINE_MS) throw refuse('FILE_BUSY', { path, waitedMs: OPEN_DEADLINE_MS }, error)
        await wait(5 + Math.random() * 20)
        continue
      }
      if (retried || !mayPass(error)) throw openError(db, error)
      retried = true
    }
  }
}

// One failed call of the disk (EIO) looks like damage, or leaves a connection that only reads. A new connection starts afresh.
const mayPass = (error: unknown): boolean =>
  ([SQLITE.CORRUPT, SQLITE.IOERR, SQLITE.READONLY] as readonly (number | undefined)[]).includes(errcode(error))

function openError(db: Database, error: unknown): unknown {
  // Permissions were checked before, so the disk is why SQLite could open the file for reading only.
  if (errcode(error) === SQLITE.READONLY && !db.readOnly)
    return refuse('IO_FAILED', { path: db.path, reason: 'SQLite could open the file for reading only' }, error)
  return translate(db, error) ?? error
}

function checkPath(file: string): string {
  const path = resolve(file)
  const folder = dirname(path)
  if (Buffer.byteLength(basename(path)) > NAME_BYTES)
    throw refuse('PATH_INVALID', { path: shown(path), reason: `the name has more than ${NAME_BYTES} bytes` })
  if (!isThere(folder)) throw refuse('FOLDER_MISSING', { folder, path })
  if (!stat(folder).isFolder) throw refuse('PATH_INVALID', { path: shown(path), reason: `${folder} is not a folder` })
  return path
}

function checkFile(path: string): void {
  const { size, isFile, isFolder } = stat(path)
  if (isFolder) throw refuse('NOT_YET', { feature: "A folder as a store without layout: 'tenant'", instead: 'Pass a file in that folder.' })
  if (!isFile) throw refuse('FILE_DENIED', { path, reason: 'it is not a regular file' })
  if (size === 0) throw refuse('FILE_EMPTY', { path })
}

/** Checks that the folder exists. It is never created silently. */
export function existingFolder(given: string): string {
  const path = resolve(given)
  if (!isThere(path)) throw refuse('FOLDER_MISSING', { folder: path, path })
  if (!stat(path).isFolder)
    throw refuse('PATH_INVALID', {
      path: shown(path),
      reason: "it is a file, but layout: 'tenant' needs a folder",
    })
  return path
}

/** Checks a file that is inspected without being opened as a store. */
export function existingFile(file: string): string {
  const path = checkPath(file)
  if (!isThere(path)) throw refuse('FILE_MISSING', { path })
  checkFile(path)
  return path
}

// A closed store in a read-only place can still be read: no process can be writing to it there.
const needsSideFiles = (path: string, error: unknown): boolean =>
  (errcode(error) === SQLITE.READONLY || errcode(error) === SQLITE.CANTOPEN) && !isThere(`${path}-wal`)

/** Reads a file without changing anything, even in a read-only place. */
export function lookInto<T>(path: string, look: (db: Database) => T): T {
  const looking = (immutable: boolean): T => {
    const db = connect(path, { readOnly: true, immutable })
    try {
      return look(db)
    } finally {
      db.close()
    }
  }
  const file = { path, beside: () => connect(path, { readOnly: true }) }
  try {
    return looking(false)
  } catch (error) {
    if (!needsSideFiles(path, error)) throw translate(file, error) ?? error
  }
  try {
    return looking(true)
  } catch (error) {
    throw translate(file, error) ?? error
  }
}

function openImmutable(path: string, now: number, options: PrepareOptions): Database {
  const db = connect(path, { readOnly: true, immutable: true })
  try {
    within(db, () => prepare(db, now, options))
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

function prepare(db: Database, now: number, options: PrepareOptions): void {
  checkContent(db, { readOnly: options.readOnly ?? false, mends: options.mends ?? false })
  if (!options.readOnly) {
    const mode = db.get('pragma journal_mode = wal')?.journal_mode
    if (mode !== 'wal')
      throw refuse('IO_FAILED', { path: db.path, reason: `write-ahead logging is not possible here (journal_mode is ${mode})` })
    setPragmas(db, options.durability ?? 'full', options.cacheBytes)
    if (options.migrate !== false) migrate(db, now)
    if (options.mends) mendObjects(db)
    checkTakesWrites(db)
  }
  if (appliedSchema(db) < schemaVersion())
    throw refuse('SCHEMA_OLDER', { path: db.path, found: appliedSchema(db), needed: schemaVersion() })
}

/**
 * Checks what is in the file before any statement reads or writes a table of it. All is read as of one moment: another process may be migrating
 * the file.
 */
export function checkContent(db: Database, how: { readonly readOnly: boolean; readonly mends: boolean }): void {
  db.exec('begin')
  try {
    checkVersion(db)
    checkObjects(db, how)
    checkApplied(db)
  } finally {
    undo(db)
  }
}

/** When the disk fails at the moment of opening, SQLite silently opens a file for reading only. */
function checkTakesWrites(db: Database): void {
  try {
    // Changes nothing. Unlike `begin immediate`, a statement that writes is refused on such a connection.
    db.exec('delete from migrations where false')
  } catch (error) {
    // SQLite asks for the write lock only on a connection that can write.
    if (!isBusy(error)) throw error
  }
}

export function checkLibrary(found: string): void {
  const [a, b] = [found, SQLITE_NEEDED].map((v) => v.split('.').reduce((sum, part) => sum * 1000 + Number(part), 0)) as [number, number]
  if (a < b) throw refuse('SQLITE_TOO_OLD', { found, needed: SQLITE_NEEDED, node: NODE_NEEDED })
}

function checkWritable(path: string, folder: string): void {
  const may = (place: string, right: number): string | undefined => {
    try {
      accessSync(place, right)
      return undefined
    } catch (error) {
      if (isDiskFault(error)) throw fileError(path, error)
      return (error as Error).message
    }
  }
  const unreadable = may(path, constants.R_OK) ?? may(folder, constants.R_OK | constants.X_OK)
  if (unreadable) throw refuse('FILE_DENIED', { path, reason: unreadable })
  const unwritable = may(path, constants.W_OK) ?? may(folder, constants.W_OK)
  if (unwritable) throw refuse('FILE_READ_ONLY', { path, reason: unwritable })
}

export function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    throw pathError(path, error)
  }
}

// A folder on the path cannot be entered, or the path is invalid.
export function pathError(path: string, error: unknown): InkError {
  const { code, message } = error as NodeJS.ErrnoException
  if (isDiskFault(error)) return fileError(path, error)
  const denied = code === 'EACCES' || code === 'EPERM'
  return denied
    ? refuse('FILE_DENIED', { path, reason: message }, error)
    : refuse('PATH_INVALID', { path: shown(path), reason: code ?? message }, error)
}

const shown = (path: string): string => (path.length > 120 ? `${path.slice(0, 60)}…${path.slice(-60)}` : path)

function stat(path: string): { size: number; isFile: boolean; isFolder: boolean } {
  try {
    const found = statSync(path)
    return { size: found.size, isFile: found.isFile(), isFolder: found.isDirectory() }
  } catch (error) {
    throw pathError(path, error)
  }
}
