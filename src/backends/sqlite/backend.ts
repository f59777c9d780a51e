// The backend on one SQLite file: the journal, the rows and the receipts, for one machine and as many processes on it as needed.

import { realpathSync } from 'node:fs'
import { InkError, refuse } from '../../model/errors.ts'
import type { TenantId } from '../../model/ids.ts'
import type { Backend } from '../../ports/backend.ts'
import type { Commit, Outcome } from '../../ports/commit.ts'
import { BlobFiles } from './blob-files.ts'
import { fileBlobs } from './blobs.ts'
import { Checkpointer, type CheckpointPolicy, type CheckpointStats } from './checkpoint.ts'
import type { CheckpointThreads } from './checkpoint-thread.ts'
import { applyBatch } from './commit.ts'
import { type Database, within } from './database.ts'
import { ifActive } from './heads.ts'
import { journalReads } from './journal.ts'
import { leases } from './leases.ts'
import { type OpenOptions, openDatabase } from './open.ts'
import { queries } from './queries.ts'
import { rowReads } from './rows.ts'
import { blobFolder } from './tenant-files.ts'
import { reading, writing } from './transaction.ts'
import { upkeep } from './upkeep.ts'
import { fileSignals } from './wakeups.ts'

export interface SqliteOptions extends OpenOptions {
  readonly path: string
  /** Store time; the machine's clock by default. */
  readonly now?: () => number
  readonly checkpoint?: CheckpointPolicy
  /** How long a commit waits for other processes to let go of the file. */
  readonly busyMs?: number
}

export interface SqliteBackend extends Backend {
  readonly checkpoints: () => CheckpointStats
}

/** Options of a file that shares its process with other files of one folder. */
export interface FileOptions extends SqliteOptions {
  /** The one tenant whose journal the file may hold. */
  readonly tenant?: TenantId
  /** Copy the logs of several files and check their pages, one file after the other. */
  readonly threads?: CheckpointThreads
  /** Pages held in memory, at most. */
  readonly cacheBytes?: number
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
  // A log that others left behind is seen at once.
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
  // Beside the file itself, whichever link led to it: whoever comes another way must find the same.
  const files = new BlobFiles(blobFolder(realpathSync(db.path)), db.path)
  const blobs = fileBlobs({
    files: () => files,
    checkWritable,
    checkActive: (tenant) => reading(db, () => ifActive(db, tenant, () => {})),
  })

  // An unexpected error spoils the transaction: then every commit gets one of its own, and only the one at fault fails.
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
        // Some of the batch is saved by now, so this is no longer a refusal of all of it: sent again, what is there is found.
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
    queries: queries(db, now),
    leases: leases({ db, now, write: write as <T>(work: () => T) => Promise<T> }),
    blobs,
    wakeups,
    upkeep: upkeep({ db, files, checkpointer, now, closed: () => closed, write: write as <T>(work: () => T) => Promise<T> }),
    checkpoints: () => checkpointer.stats(),
    close: async () => {
      if (closed) return
      closed = true
      wakeups.close()
      await blobs.settled()
      await checkpointer.close()
      checkpointer.last()
      // The last connection to close copies the log and removes it; one that is not last leaves it to the others.
      db.close()
    },
  }
}

const owners = 'select tenant from heads union all select min(tenant) from events union all select max(tenant) from events'

// The tenant's id is inside every digest, so a file under another's name would only read as one that was tampered with. It is told as
// what it is, and not shown to anybody.
function checkOwner(db: Database, tenant: TenantId): void {
  try {
    const others = within(db.path, () => db.all(owners).some((row) => row.tenant !== null && row.tenant !== tenant))
    if (others) throw refuse('FILE_MISPLACED', { path: db.path, tenant })
  } catch (error) {
    db.close()
    throw error
  }
}

const isChoking = (error: unknown): error is InkError => error instanceof InkError && error.code === 'BACKEND_FAILED'

// Near enough to know when to look: a commit touches a few pages, an event one more, and a payload those it fills.
function pagesOf(batch: readonly Commit[]): number {
  let pages = 2
  for (const { events, changes } of batch) {
    pages += changes.length
    for (const event of events) pages += 1 + event.payload.length / 4096
  }
  return pages
}
