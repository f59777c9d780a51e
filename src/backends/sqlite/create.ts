// Creates a store's file. It is never created in place: it is completed under a temporary name and then linked. A crash leaves no store or
// a whole one, and two processes that create it at once share one file.

import { randomBytes } from 'node:crypto'
import { closeSync, fchmodSync, linkSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { InkError, refuse } from '../../model/errors.ts'
import { connect, type Database, setPragmas } from './database.ts'
import { fileError, flushFolder, within } from './failures.ts'
import { migrate } from './migrate.ts'

// Leaves room for the suffixes, however long the name is.
const NAME_KEPT = 40
// Only this user reads a new store. SQLite gives the log and its index the mode of the file, and blobs get it too.
const PRIVATE = 0o600
/** The file of a folder store itself, which also identifies a folder as ours. */
export const STORE_FILE = 'inkfast-folder.db'

/** Creates an empty store, unless another process was first. */
export function make(path: string, now: number): void {
  if (isOrphaned(path)) throw refuse('FILE_LOST', { path })
  try {
    makeBeside(besideOf(path), path, now)
    flushFolder(dirname(path))
  } catch (error) {
    throw makeError(path, error)
  }
}

/**
 * Creates a store together with its first write, and names it once that is on disk, so that no process finds it empty. If `isWorth` is
 * false, the result is returned and no file is left. Returns `undefined` if it cannot be done in one step: another process was first, or
 * there are no hard links or no space. The caller then creates an empty store and writes to it, and meets any real error again.
 */
export function makeWritten<T>(path: string, now: number, write: (db: Database) => T, isWorth: (written: T) => boolean): T | undefined {
  if (isOrphaned(path)) return undefined
  const beside = besideOf(path)
  try {
    let written: T
    try {
      const db = connectNew(beside)
      try {
        layOut(db, now)
        db.exec('begin immediate')
        written = write(db)
        db.exec('commit')
      } finally {
        db.close()
      }
      if (!isWorth(written)) return written
      linkSync(beside, path)
    } catch {
      return undefined
    }
    // The file has its name, so from here on a failure leaves the outcome unknown.
    flushFolder(dirname(path))
    return written
  } finally {
    removeAll(beside)
  }
}

/**
 * A log whose file is gone: SQLite would apply it to the new file and mix two stores. The log is looked for first, because a process that
 * creates the store makes the file before its log.
 */
function isOrphaned(path: string): boolean {
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false })
  return log !== undefined && log.size > 0 && !statSync(path, { throwIfNoEntry: false })
}

function makeBeside(beside: string, path: string, now: number): void {
  try {
    const db = connectNew(beside)
    try {
      within(db, () => layOut(db, now))
    } finally {
      db.close()
    }
    place(beside, path)
  } finally {
    removeAll(beside)
  }
}

/** Gives a new file its pragmas and its schema. */
function layOut(db: Database, now: number): void {
  // A garbage collection gives space back slice by slice. This cannot be chosen any more once there is a table.
  db.exec('pragma auto_vacuum = incremental')
  setPragmas(db, 'full')
  migrate(db, now)
}

/** Creates the file before SQLite does, which would let every user read it. A tenant's file gets the mode of the folder's own file. */
function connectNew(path: string): Database {
  const own = statSync(join(dirname(path), STORE_FILE), { throwIfNoEntry: false })
  const file = openSync(path, 'wx', PRIVATE)
  try {
    if (own) fchmodSync(file, own.mode & 0o666)
  } finally {
    closeSync(file)
  }
  return connect(path)
}

function makeError(path: string, error: unknown): InkError {
  const { code } = error as { code?: string }
  if (['EACCES', 'EROFS', 'FILE_DENIED'].includes(code ?? ''))
    return refuse('FILE_DENIED', { path, reason: 'the folder is not writable' }, error)
  if (!(error instanceof InkError)) return fileError(path, error)
  // No other process knows the new file, so the disk is why its pages are not as they were written.
  if (error.kind === 'corrupt') return refuse('IO_FAILED', { path, reason: error.details.reason }, error)
  return refuse(error.code, { ...error.details, path }, error)
}

/** Gives the finished file its name, unless another process was first: then its file is the store. */
function place(beside: string, path: string): void {
  try {
    linkSync(beside, path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return
    // Some file systems have no hard links. There, two processes that create at once may collide: the later one wins, and neither has
    // written yet.
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(code ?? '')) throw error
    if (!statSync(path, { throwIfNoEntry: false })) renameSync(beside, path)
  }
}

const besideOf = (path: string): string =>
  join(dirname(path), `${basename(path).slice(0, NAME_KEPT)}.new-${randomBytes(4).toString('hex')}`)

function removeAll(path: string): void {
  for (const rest of ['', '-wal', '-shm', '-journal']) rmSync(path + rest, { force: true })
}
