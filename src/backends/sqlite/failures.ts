// Errors of SQLite and of the file system, translated into our error table. A failing disk, a full disk and a damaged file are told apart.

import { accessSync, closeSync, constants, fsyncSync, openSync, statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { type ErrorCode, InkError, refuse } from '../../model/errors.ts'
import type { Database } from './database.ts'

export const SQLITE = {
  BUSY: 5,
  LOCKED: 6,
  READONLY: 8,
  IOERR: 10,
  CORRUPT: 11,
  FULL: 13,
  CANTOPEN: 14,
  PERM: 3,
  NOTADB: 26,
  AUTH: 23,
} as const

// SQLite needs a page of the log and a part of its index to go on.
const ROOM_NEEDED = 64 * 1024
// Checking the pages of a file of this size takes about a tenth of a second.
const CHECKED_BYTES = 64 * 1024 * 1024

/** The file that an error is about. Without `beside` it is not read again. */
export type FileOf = Pick<Database, 'path'> & Partial<Pick<Database, 'beside'>>

export const errcode = (error: unknown): number | undefined => {
  const code = (error as { errcode?: unknown } | undefined)?.errcode
  return typeof code === 'number' ? code & 0xff : undefined
}

export const isDamage = (code: number | undefined): boolean =>
  [SQLITE.CORRUPT, SQLITE.NOTADB].some((damage) => damage === (code ?? 0) % 256)

export const isBusy = (error: unknown): boolean => errcode(error) === SQLITE.BUSY || errcode(error) === SQLITE.LOCKED

/** Translates an error of SQLite, or returns `undefined` if it has no code of ours. */
export function translate(file: FileOf, error: unknown): InkError | undefined {
  const { path } = file
  const reason = reasonOf(error)
  switch (errcode(error)) {
    case SQLITE.CORRUPT: {
      const unread = readFailure(file)
      return unread === undefined ? refuse('FILE_CORRUPT', { path, reason }, error) : refuse('IO_FAILED', { path, reason: unread }, error)
    }
    case SQLITE.NOTADB:
      return refuse('NOT_A_DATABASE', { path }, error)
    case SQLITE.FULL:
      return refuse('DISK_FULL', { path }, error)
    case SQLITE.READONLY:
      return refuse('FILE_READ_ONLY', { path, reason }, error)
    case SQLITE.CANTOPEN:
      return isPermitted(path) ? diskError(path, reason, error) : refuse('FILE_DENIED', { path, reason }, error)
    case SQLITE.PERM:
    case SQLITE.AUTH:
      return refuse('FILE_DENIED', { path, reason }, error)
    case SQLITE.BUSY:
    case SQLITE.LOCKED:
      return refuse('FILE_BUSY', { path, waitedMs: 0 }, error)
    case SQLITE.IOERR:
      return diskError(path, reason, error)
    default:
      if ((error as { code?: unknown } | undefined)?.code === 'ERR_INVALID_STATE') return refuse('STORE_CLOSED', {}, error)
      // No row of ours contains such an integer, so the bytes were changed.
      return (error as { code?: unknown } | undefined)?.code === 'ERR_OUT_OF_RANGE'
        ? refuse('FILE_CORRUPT', { path, reason }, error)
        : undefined
  }
}

/** Runs a read or a step of opening, and translates its errors. Commits do that in transaction.ts. */
export function within<T>(file: FileOf, work: () => T extends Promise<unknown> ? never : T): T {
  try {
    return work()
  } catch (error) {
    throw translate(file, error) ?? error
  }
}

/** Translates an error of the file system, once. Nothing was acknowledged. */
export function fileError(path: string, error: unknown): InkError {
  if (error instanceof InkError) return error
  const reason = reasonOf(error)
  switch ((error as NodeJS.ErrnoException | undefined)?.code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return refuse('DISK_FULL', { path }, error)
    case 'EROFS':
      return refuse('FILE_READ_ONLY', { path, reason }, error)
    case 'EACCES':
    case 'EPERM':
      return refuse('FILE_DENIED', { path, reason }, error)
    default:
      return refuse('IO_FAILED', { path, reason }, error)
  }
}

/** Remembers a failure of the disk, so that `health` reports it until a write succeeds. Returns the error. */
export function noted<E>(db: Pick<Database, 'disk'>, error: E): E {
  if (error instanceof InkError && OF_THE_DISK.includes(error.code)) db.disk.failure = error.message
  return error
}

const OF_THE_DISK: readonly ErrorCode[] = ['DISK_FULL', 'IO_FAILED', 'OUTCOME_UNKNOWN', 'FILE_CORRUPT', 'FILE_READ_ONLY', 'FILE_DENIED']

/** Lines of a page check that name a page which the disk did not read. The other lines name damage. */
export const unreadPages = (lines: readonly string[]): readonly string[] =>
  lines.filter((line) => {
    const [, code] = /error code=(\d+)/.exec(line) ?? []
    return line.includes('failed to get page') || (Number(code) & 0xff) === SQLITE.IOERR
  })

/**
 * The reason why the disk cannot read the file, or `undefined` if it can. Only SQLite may open the file in this process: closing another
 * descriptor of it would release SQLite's locks.
 */
export function readFailure(file: FileOf): string | undefined {
  let db: Database | undefined
  try {
    flushFolder(dirname(file.path))
    db = file.beside?.()
    if (!db) return undefined
    // Loading the schema reports an unread page as what it is, unlike any later statement.
    db.all('select 1 from sqlite_schema limit 1')
    if (statSync(file.path).size > CHECKED_BYTES) return undefined
    const lines = db.all('pragma quick_check(1)').map((row) => String(row.quick_check))
    return unreadPages(lines)[0]
  } catch (error) {
    // A connection that cannot even be opened is refused in our words.
    if (error instanceof InkError) return error.code === 'IO_FAILED' ? String(error.details.reason) : undefined
    return errcode(error) === SQLITE.IOERR || isDiskFault(error) ? reasonOf(error) : undefined
  } finally {
    db?.close()
  }
}

/** A file is on disk under its name only after its folder was flushed. */
export function flushFolder(folder: string): void {
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

export const isDiskFault = (error: unknown): boolean =>
  ['EIO', 'ENXIO', 'ENODEV', 'ESTALE'].includes((error as NodeJS.ErrnoException | undefined)?.code ?? '')

const diskError = (path: string, reason: string, error: unknown): InkError =>
  isFull(dirname(path)) ? refuse('DISK_FULL', { path }, error) : refuse('IO_FAILED', { path, reason }, error)

// SQLite reports a full disk as an I/O error when it cannot extend the index of the log.
export function isFull(folder: string): boolean {
  try {
    const { bavail, bsize, files, ffree } = statfsSync(folder)
    return bavail * bsize < ROOM_NEEDED || (files > 0 && ffree === 0)
  } catch {
    // A disk that does not answer is not full.
    return false
  }
}

// SQLite says only that it could not open a file, and not whether permissions or the disk are the reason.
function isPermitted(path: string): boolean {
  try {
    accessSync(dirname(path), constants.R_OK | constants.W_OK | constants.X_OK)
    if (statSync(path, { throwIfNoEntry: false })) accessSync(path, constants.R_OK | constants.W_OK)
    return true
  } catch (error) {
    return isDiskFault(error)
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
