// A folder with one file per tenant, as one backend. A tenant's file appears with its first commit, contains only its data, and can be
// copied, moved and restored alone.

import { statSync } from 'node:fs'
import { join } from 'node:path'
import { sameBytes } from '../../model/bytes.ts'
import { GENESIS } from '../../model/chain.ts'
import { assert, InkError, refuse } from '../../model/errors.ts'
import type { TenantId } from '../../model/ids.ts'
import { compareText } from '../../model/order.ts'
import type { Backend } from '../../ports/backend.ts'
import type { Commit, Outcome } from '../../ports/commit.ts'
import type { TenantPage } from '../../ports/journal.ts'
import type { BackendHealth, Upkeep } from '../../ports/upkeep.ts'
import { fileBackend, type SqliteBackend, type SqliteOptions } from './backend.ts'
import { CheckpointThreads } from './checkpoint-thread.ts'
import { applyBatch } from './commit.ts'
import { makeWritten } from './create.ts'
import { emptyReads, type Reads } from './empty-reads.ts'
import { folderAudit } from './folder-audit.ts'
import { folderBlobs } from './folder-blobs.ts'
import { type FolderQueries, folderQueries } from './folder-queries.ts'
import { folderValues } from './folder-values.ts'
import { type FolderWakeups, folderSignals } from './folder-wakeups.ts'
import { existingFolder } from './open.ts'
import { OpenFiles } from './open-files.ts'
import { STORE_FILE, tenantFile, tenantsIn } from './tenant-files.ts'

export interface FolderOptions extends SqliteOptions {
  /** Maximum number of open files that no call is using. */
  readonly openFiles?: number
}

// A file costs three handles and its page cache.
const OPEN_FILES = 64
const CACHE_BYTES = 4 * 1024 * 1024

export async function folderBackend(options: FolderOptions): Promise<Backend> {
  const { now = Date.now, openFiles = OPEN_FILES, path, ...rest } = options
  const folder = existingFolder(path)
  const threads = new CheckpointThreads()
  const shared = { ...rest, now, threads, cacheBytes: CACHE_BYTES }
  const own = await fileBackend({ ...shared, path: join(folder, STORE_FILE) })
  const files = new OpenFiles(folder, openFiles, (file, tenant, create) => fileBackend({ ...shared, path: file, tenant, create }))
  const wakeups = folderSignals(files)
  const nobody = emptyReads(folder, now)
  let closed = false

  /** A tenant without a file is read from an empty store: reading creates no file. */
  const read = async <T>(tenant: TenantId, work: (reads: Reads) => Promise<T>): Promise<T> => {
    const file = await files.hold(tenant)
    if (!file) return work(nobody.reads)
    try {
      return await work(file.backend)
    } finally {
      file.release()
    }
  }
  const tenants = async ({ after = '', limit }: TenantPage = {}): Promise<readonly TenantId[]> => {
    if (closed) throw refuse('STORE_CLOSED')
    return tenantsIn(folder)
      .filter((tenant) => compareText(tenant, after) > 0)
      .slice(0, limit)
  }
  const named = folderQueries({ files, tenants, read })
  const blobs = folderBlobs({ files, readOnly: rest.readOnly ?? false, closed: () => closed, read })

  return {
    name: 'sqlite',
    traits: { ...own.traits, wall: 'file' },
    commit: async (batch) => {
      if (closed) throw refuse('STORE_CLOSED')
      // Read the clock before saving: a clock that fails afterwards must not turn a saved commit into a failed one.
      const at = now()
      const tenants = Map.groupBy(batch.keys(), (i) => (batch[i] as Commit).tenant)
      const parts = [...tenants].map(([tenant, places]) => ({ tenant, places, commits: places.map((i) => batch[i] as Commit) }))
      const answers = await Promise.allSettled(
        parts.map(({ tenant, commits }) => commitTo({ files, wakeups, tenant, commits, now, readOnly: rest.readOnly ?? false })),
      )
      return together(batch, parts, answers, at)
    },
    journal: {
      head: (tenant) => read(tenant, (reads) => reads.journal.head(tenant)),
      page: (tenant, query) => read(tenant, (reads) => reads.journal.page(tenant, query)),
      tenants,
    },
    rows: {
      get: (tenant, table, id) => read(tenant, (reads) => reads.rows.get(tenant, table, id)),
      getMany: (tenant, keys) => read(tenant, (reads) => reads.rows.getMany(tenant, keys)),
      list: (tenant, table, query) => read(tenant, (reads) => reads.rows.list(tenant, table, query)),
    },
    queries: named,
    leases: {
      // A tenant without a file has no leases to renew.
      renew: (tenant, held, ms, of) => read(tenant, (reads) => reads.leases.renew(tenant, held, ms, of)),
      read: (tenant, ids, of) => read(tenant, (reads) => reads.leases.read(tenant, ids, of)),
    },
    blobs,
    values: folderValues(read),
    texts: {
      statistics: (tenant, table, query) => read(tenant, (file) => file.texts.statistics(tenant, table, query)),
      search: (tenant, table, query) => read(tenant, (file) => file.texts.search(tenant, table, query)),
      around: (tenant, table, places, span) => read(tenant, (file) => file.texts.around(tenant, table, places, span)),
    },
    audit: folderAudit(files),
    // In the file of the store: a worker may serve a tenant that has no file yet.
    workers: own.workers,
    wakeups,
    upkeep: upkeep(files, own, nobody.reads, named),
    close: async () => {
      if (closed) return
      closed = true
      wakeups.close()
      await threads.close()
      await blobs.settled()
      await files.close()
      nobody.close()
      await own.close()
    },
  }
}

interface Sending {
  readonly files: OpenFiles
  readonly wakeups: FolderWakeups
  readonly tenant: TenantId
  readonly commits: readonly Commit[]
  readonly now: () => number
  readonly readOnly: boolean
}

/** Commits to one tenant's file, which is created with its first commit in it. */
async function commitTo({ files, wakeups, tenant, commits, now, readOnly }: Sending): Promise<readonly Outcome[]> {
  let file = await files.hold(tenant)
  if (!file) {
    const path = files.pathOf(tenant)
    if (readOnly) throw refuse('FILE_READ_ONLY', { path, reason: 'it was opened with readOnly' })
    const begun = makeWritten(
      path,
      now(),
      (db) => applyBatch(db, commits, now()),
      (outcomes) => outcomes.some((outcome, i) => outcome.ok && changesSomething(commits[i])),
    )
    if (begun) {
      wakeups.made(tenant)
      return begun
    }
    file = await files.hold(tenant, true)
    assert(file, 'a file that is to be made is opened or refused')
  }
  try {
    return await file.backend.commit(commits)
  } finally {
    file.release()
  }
}

const changesSomething = (commit: Commit | undefined): boolean =>
  commit !== undefined && commit.events.length + commit.changes.length + (commit.nodes?.length ?? 0) > 0

interface Part {
  readonly places: readonly number[]
}

/**
 * Combines the answers of several files. A file that definitely saved nothing fails only its own commits. If one outcome is unknown, the
 * batch is rejected; on a resend, the saved commits are found.
 */
export function together(
  batch: readonly Commit[],
  parts: readonly Part[],
  answers: readonly PromiseSettledResult<readonly Outcome[]>[],
  now: number,
): readonly Outcome[] {
  const outcomes = new Array<Outcome>(batch.length)
  answers.forEach((answer, i) => {
    const { places } = parts[i] as Part
    if (answer.status === 'fulfilled') {
      for (const [j, place] of places.entries()) outcomes[place] = answer.value[j] as Outcome
      return
    }
    const { reason } = answer
    // With one tenant, its error is the answer. Errors of several tenants are not passed on: they name files, and so tenants.
    if (answers.length === 1) throw reason
    if (!(reason instanceof InkError) || reason.kind === 'unknown') throw new Error('a file gave no definite answer', { cause: reason })
    for (const place of places) outcomes[place] = { ok: false, refused: 'failed', found: reason.message, now }
  })
  return outcomes
}

function upkeep(files: OpenFiles, own: SqliteBackend, nobody: Reads, looked: Pick<FolderQueries, 'damaged'>): Upkeep {
  /** Undefined if the tenant has no file. */
  const within = async <T>(tenant: TenantId, work: (backend: SqliteBackend) => Promise<T>): Promise<T | undefined> => {
    const file = await files.hold(tenant)
    try {
      return file && (await work(file.backend))
    } finally {
      file?.release()
    }
  }
  /** Processes one file after the other. A failure does not stop the rest; the first one is thrown at the end. */
  const each = async (work: (backend: SqliteBackend) => Promise<void>): Promise<void> => {
    const failures: unknown[] = []
    for (const tenant of tenantsIn(files.folder)) await within(tenant, work).catch((error: unknown) => failures.push(error))
    if (failures.length > 0) throw failures[0]
  }

  return {
    snapshot: async (tenant) => {
      const file = await files.hold(tenant)
      if (!file) return { journal: nobody.journal, rows: async () => [], close: async () => {} }
      try {
        const snapshot = await file.backend.upkeep.snapshot(tenant)
        return {
          ...snapshot,
          close: async () => {
            await snapshot.close()
            file.release()
          },
        }
      } catch (error) {
        file.release()
        throw error
      }
    },
    scratch: () => own.upkeep.scratch(),
    adopt: async (tenant, scratch, head) =>
      (await within(tenant, (backend) => backend.upkeep.adopt(tenant, scratch, head))) ?? (head.seq === 0 && sameBytes(head.hash, GENESIS)),
    remakeDue: async (tenant) => within(tenant, async (backend) => backend.upkeep.remakeDue?.(tenant)),
    check: async () => {
      const damage = [...(await own.upkeep.check())]
      for (const tenant of tenantsIn(files.folder)) {
        const look = async (backend: SqliteBackend): Promise<void> => {
          for (const line of await backend.upkeep.check()) damage.push(`${tenantFile(tenant)}: ${line}`)
        }
        await within(tenant, look).catch((error: unknown) => {
          // A file that cannot be opened is damage too.
          if (!(error instanceof InkError) || error.kind !== 'corrupt') throw error
          damage.push(error.message)
        })
      }
      return damage
    },
    measure: async () => {
      const rows: Record<string, number> = { ...(await own.upkeep.measure()).rows }
      let blobs = 0
      await each(async (backend) => {
        const part = await backend.upkeep.measure()
        blobs += part.bytes.blobs ?? 0
        for (const [table, count] of Object.entries(part.rows)) rows[table] = (rows[table] ?? 0) + count
      })
      return { bytes: { ...bytesIn(files.folder), blobs }, rows }
    },
    health: async () => {
      const told = await Promise.all([own, ...files.opened()].map((backend) => backend.upkeep.health()))
      const why = [...new Set(told.flatMap((health) => health.why))]
      if (files.failure) why.push(`a file could not be closed in order: ${files.failure}`)
      if (looked.damaged > 0) why.push(`what is due is not known for ${looked.damaged} of the files, which are damaged; check() names them`)
      const { clock } = told[0] as BackendHealth
      return { ok: why.length === 0, ready: told.every(({ ready }) => ready), why, ...(clock && { clock }) }
    },
    receipts: async (tenant, after, limit) => (await within(tenant, (backend) => backend.upkeep.receipts(tenant, after, limit))) ?? [],
    sweepReceipts: async (before) => {
      let swept = 0
      await each(async (backend) => {
        swept += await backend.upkeep.sweepReceipts(before)
      })
      return swept
    },
    // Erased data can only be in the log of an open file: closing a file removes its log.
    scrub: async () => {
      for (const backend of files.opened()) await backend.upkeep.scrub()
    },
    reclaim: async (tenant) => (await within(tenant, async (backend) => backend.upkeep.reclaim?.(tenant))) ?? 0,
    secret: (name) => own.upkeep.secret(name),
    ...(own.upkeep.clock && { clock: own.upkeep.clock }),
  }
}

function bytesIn(folder: string): Readonly<Record<string, number>> {
  const size = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0
  const sum = { database: 0, wal: 0, index: 0 }
  for (const name of [STORE_FILE, ...tenantsIn(folder).map(tenantFile)]) {
    const path = join(folder, name)
    sum.database += size(path)
    sum.wal += size(`${path}-wal`)
    sum.index += size(`${path}-shm`)
  }
  return sum
}
