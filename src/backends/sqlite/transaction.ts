// Waits for the file's only write lock. SQLite's own waiting starves processes (3 s, measured). Retrying at random moments is fair: both
// processes got half, and the longest wait was 78 ms.

import { setTimeout as wait } from 'node:timers/promises'
import { refuse } from '../../model/errors.ts'
import type { Database } from './database.ts'
import { errcode, isBusy, noted, SQLITE, translate } from './failures.ts'

const DEADLINE_MS = 15_000
const READ_DEADLINE_MS = 5_000
const FIRST_WAIT_MS = 1
const LONGEST_WAIT_MS = 12

/** Runs begin, work, commit. `work` is synchronous: nothing is awaited in between, so two writers never interleave. */
export async function writing<T>(db: Database, work: () => T extends Promise<unknown> ? never : T, deadlineMs = DEADLINE_MS): Promise<T> {
  const result = await patiently(db, deadlineMs, () => {
    db.run('begin immediate')
    return transact(db, work)
  })
  db.disk.failure = undefined
  return result
}

/** Also waits a little for a file that is being recovered or closed. */
export async function reading<T>(db: Database, work: () => T extends Promise<unknown> ? never : T): Promise<T> {
  return patiently(db, READ_DEADLINE_MS, work)
}

async function patiently<T>(db: Database, deadlineMs: number, attempt: () => T): Promise<T> {
  const started = performance.now()
  let retried = false
  for (let longest = FIRST_WAIT_MS; ; longest = Math.min(longest * 2, LONGEST_WAIT_MS)) {
    try {
      return attempt()
    } catch (error) {
      if (!isBusy(error)) {
        // SQLite reports a page that the disk did not read (EIO) as a damaged page. A passing failure is over at the second try.
        if (retried || errcode(error) !== SQLITE.CORRUPT) throw noted(db, translate(db, error) ?? error)
        retried = true
        continue
      }
      const waitedMs = Math.round(performance.now() - started)
      if (waitedMs > deadlineMs) throw refuse('FILE_BUSY', { path: db.path, waitedMs }, error)
    }
    await wait(Math.random() * longest)
  }
}

function transact<T>(db: Database, work: () => T): T {
  let result: T
  try {
    result = work()
  } catch (error) {
    undo(db)
    if (errcode(error) === SQLITE.CORRUPT) throw error
    // Nothing was committed, and that is certain.
    throw translate(db, error) ?? refuse('BACKEND_FAILED', { reason: error instanceof Error ? error.message : String(error) }, error)
  }
  try {
    db.run('commit')
  } catch (error) {
    undo(db)
    // A full disk is reported before the commit is marked. After a failed flush the outcome is unknown, and the error says so.
    throw errcode(error) === SQLITE.IOERR ? unknownOutcome(error) : error
  }
  return result
}

const unknownOutcome = (error: unknown) =>
  refuse('OUTCOME_UNKNOWN', { reason: error instanceof Error ? error.message : String(error), key: false }, error)

// SQLite may have rolled back by itself; a second rollback then fails harmlessly.
export function undo(db: Database): void {
  try {
    db.run('rollback')
  } catch (error) {
    if (!String(error).includes('no transaction is active')) throw error
  }
}
