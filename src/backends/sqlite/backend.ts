// The backend on one SQLite file: journal, rows and receipts, for one machine and any number of processes on it.

import { realpathSync } from 'node:fs'
import { InkError, refuse } from '../../model/errors.ts'
import type { TenantId } from '../../model/ids.ts'
import type { Backend } from '../../ports/backend.ts'
import type { Commit, Outcome } from '../../ports/commit.ts'
import { audit } from './audit.ts'
import { BlobFiles } from './blob-files.ts'
import { fileBlobs } from './blobs.ts'
import { Checkpointer, type CheckpointPolicy, type CheckpointStats } from './checkpoint.ts'
import type { CheckpointThreads } from './checkpoint-thread.ts'
import { ClockWatch } from './clock.ts'
import { applyBatch } from './commit.ts'
import type { Database } from './database.ts'
import { noted, within } from './failures.ts'
import { journalReads } from './journal.ts'
import { leases } from './leases.ts'
import { type OpenOptions, openDatabase, type PrepareOptions } from './open.ts'
import { queries } from './queries.ts'
import { rowReads } from './rows.ts'
import { blobFolder } from './tenant-files.ts'
import { texts } from './texts.ts'
import { writing } from './transaction.ts'
import { upkeep } from './upkeep.ts'
import { values } from './values.ts'
import { fileSignals } from './wakeups.ts'
import { workers } from './workers.ts'

// A rough count: its row, its pieces, and their indexes.
const PAGES_OF_A_BLOB = 6

export interface SqliteOptions extends OpenOptions {
  readonly path: string
  /** Store time; by default the machine's clock. */
  readonly now?: () => number
  /** Milliseconds that never step back; by default the machine's. */
  readonly steady?: () => number
  /** How often this process compares its clock with the file. */
  readonly clockLookMs?: number
  readonly checkpoint?: CheckpointPolicy
  /** The longest time that a commit waits for the write lock of other processes. */
  readonly busyMs?: number
}

export interface SqliteBackend extends Backend {
  readonly checkpoints: () => CheckpointStats
}

/** Options of a file that shares its process with other files of a folder. */
export interface FileOptions extends SqliteOptions, PrepareOptions {
  /** The only tenant whose journal the file may contain. */
  readonly tenant?: TenantId
  /** Shared threads that copy the logs of several files and check their pages, one file after the other. */
  readonly threads?: CheckpointThreads
}

export function sqliteBackend(options: SqliteOptions): Promise<SqliteBackend> {
  return fileBackend(options)
}

export async function fileBackend(options: FileOptions): Promise<SqliteBackend> {
  const now = options.now ?? Date.now
  const db = await openDatabase(options.path, now, options)
  if (options.tenant !== undefined) checkOwner(db, options.tenant)
  const durability = options.durability ?? 'full'
  const checkpointer = new Checkpointer(db, durability, options.checkpoint, options.threads)
  const wakeups = fileSignals(db)
  // A log that other processes left behind is noticed at once.
  if (!db.readOnly) checkpointer.committed(Infinity)
  let closed = false
  const checkWritable = (): void => {
    if (closed) throw refuse('STORE_CLOSED')
    if (db.readOnly) throw refuse('FILE_READ_ONLY', { path: db.path, reason: 'it was opened with readOnly' })
  }
  const write = async <T>(work: () => T extends Promise<unknown> ? never : T): Promise<T> => {
    await checkpointer.ready()
    checkWritable()
    return writing(db, work, options.busyMs)
  }
  // The folder is beside the real file, so that every symbolic link leads to the same blobs.
  const files = new BlobFiles(blobFolder(realpathSync(db.path)), db.path)
  const blobs = fileBlobs({
    db,
    files,
    now,
    checkWritable,
    failed: (error) => noted(db, error),
    write: async (work) => {
      await checkpointer.ready()
      const answer = await writing(db, work as () => never, options.busyMs)
      checkpointer.committed(PAGES_OF_A_BLOB)
      return answer
    },
  })

  const clock =
    db.readOnly || options.tenant !== undefined
      ? undefined
      : new ClockWatch({
          db,
          now,
          steady: options.steady ?? (() => performance.now()),
          write: write as <T>(work: () => T) => Promise<T>,
          everyMs: options.clockLookMs,
        })

  // An unexpected error spoils the transaction. Each commit then gets its own, and only the faulty one fails.
  const applyApart = async (batch: readonly Commit[]): Promise<readonly Outcome[]> => {
    try {
      return await write(() => applyBatch(db, batch, now()))
    } catch (error) {
      if (!isChoking(error)) throw error
    }
    const outcomes: Outcome[] = []
    for (const commit of batch) {
      try {
        outcomes.push(...(await write(() => applyBatch(db, [commit], now()))))
      } catch (error) {
        // Part of the batch is saved, so the error must not look definite. On a resend, the saved commits are found.
        if (!isChoking(error))
          throw outcomes.length === 0 ? error : new Error(`stopped after ${outcomes.length} of ${batch.length} commits`, { cause: error })
        outcomes.push({ ok: false, refused: 'failed', found: String(error.details.reason), now: now() })
      }
    }
    return outcomes
  }

  return {
    name: 'sqlite',
    traits: { durable: durability === 'full', network: false, shared: true, wall: 'statements' },
    commit: async (batch) => {
      const outcomes = await applyApart(batch)
      checkpointer.committed(pagesOf(batch))
      wakeups.wake(batch.map((commit) => commit.tenant))
      return outcomes
    },
    journal: journalReads(db),
    rows: rowReads(db),
    queries: queries({ db, now, write: write as (work: () => void) => Promise<void> }),
    leases: leases({ db, now, write: write as <T>(work: () => T) => Promise<T> }),
    blobs,
    texts: texts(db),
    values: values({ db, write: write as <T>(work: () => T) => Promise<T> }),
    audit: audit({ db, write: write as <T>(work: () => T) => Promise<T> }),
    workers: workers({ db, now, write: write as <T>(work: () => T) => Promise<T> }),
    wakeups,
    upkeep: upkeep({ db, files, checkpointer, clock, now, closed: () => closed, write: write as <T>(work: () => T) => Promise<T> }),
    checkpoints: () => checkpointer.stats(),
    close: async () => {
      if (closed) return
      closed = true
      clock?.close()
      wakeups.close()
      await blobs.settled()
      await checkpointer.close()
      checkpointer.last()
      // The last connection to close copies the log and removes it.
      db.close()
    },
  }
}

const owners = 'select tenant from heads union all select min(tenant) from events union all select max(tenant) from events'

// The tenant's id is part of every digest, so another tenant's file would look tampered with. It is refused for what it is, and never
// served.
function checkOwner(db: Database, tenant: TenantId): void {
  try {
    const others = within(db, () => db.all(owners).some((row) => row.tenant !== null && row.tenant !== tenant))
    if (others) throw refuse('FILE_MISPLACED', { path: db.path, tenant })
  } catch (error) {
    db.close()
    throw error
  }
}

const isChoking = (error: unknown): error is InkError => error instanceof InkError && error.code === 'BACKEND_FAILED'

// A rough count of written pages: a few per commit, one per event, and those that payloads fill.
function pagesOf(batch: readonly Commit[]): number {
  let pages = 2
  for (const { events, changes, nodes = [] } of batch) {
    pages += changes.length
    for (const { body } of nodes) pages += 1 + body.length / 4096
    for (const event of events) pages += 1 + event.payload.length / 4096
  }
  return pages
}
