// Maintenance of the file: snapshots, rebuilt rows, size and soundness.

import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { sameBytes } from '../../model/bytes.ts'
import { assert } from '../../model/errors.ts'
import { tableNames, tableOf } from '../../model/tables.ts'
import { checkActive } from '../../model/tenant.ts'
import type { Scratch, Upkeep } from '../../ports/upkeep.ts'
import type { BlobFiles } from './blob-files.ts'
import type { Checkpointer } from './checkpoint.ts'
import type { ClockWatch } from './clock.ts'
import { applyChange } from './commit.ts'
import { connect, type Database } from './database.ts'
import { remakeDue } from './due.ts'
import { isFull, within } from './failures.ts'
import { readHead } from './heads.ts'
import { journalReads } from './journal.ts'
import { migrate } from './migrate.ts'
import { changedObjects } from './objects.ts'
import { readReceipts } from './receipts.ts'
import { getRow, scanRows } from './rows.ts'
import { reading } from './transaction.ts'

const findSecret = 'select value from secrets where name = ?'
const keepSecret = 'insert into secrets (name, value) values (?, ?) on conflict (name) do nothing'
// In pages of tenants, because every index begins with the tenant, and other writers come in between.
const lastOfPage = 'select max(tenant) as tenant from (select tenant from heads where tenant > ? order by tenant limit ?)'
const sweepReceipts = 'delete from receipts where tenant in (select tenant from heads where tenant > ? and tenant <= ?) and at < ?'
const sweepRenewals = 'delete from renewals where tenant > ? and tenant <= ? and until < ?'
const TENANTS_AT_A_TIME = 1000
const clearIndex = [
  'delete from postings where tenant = ?1 and term in (select id from terms where tenant = ?1 and source = ?2)',
  'delete from terms where tenant = ? and source = ?',
  'delete from corpora where tenant = ? and source = ?',
]
const SECRET_BYTES = 32
const SCRUB_AGAIN_MS = 100
/** 1 MiB in pages. Writers wait for no longer than it takes to move these. */
const RECLAIMED_PAGES = 256

// Scratch rows belong to one tenant, but the column needs a value.
const ALONE = '-'
const scratches = new WeakMap<Scratch, Database>()

export interface UpkeepParts {
  readonly db: Database
  readonly files: Pick<BlobFiles, 'measure'>
  readonly checkpointer: Checkpointer
  /** Absent in a file that is only read, and in the file of one tenant. */
  readonly clock: ClockWatch | undefined
  readonly now: () => number
  readonly closed: () => boolean
  /** Runs inside a write transaction, once it has the write lock. */
  readonly write: <T>(work: () => T) => Promise<T>
}

export function upkeep({ db, files, checkpointer, clock, now, closed, write }: UpkeepParts): Upkeep {
  let scrubbing: NodeJS.Timeout | undefined
  const rest = () => {
    clearInterval(scrubbing)
    scrubbing = undefined
  }
  // Health reports a failure, and it is retried: the erasure itself is committed.
  const emptied = (): boolean => {
    try {
      checkpointer.failure = undefined
      return db.get('pragma wal_checkpoint(truncate)')?.busy === 0
    } catch (error) {
      checkpointer.failure = error instanceof Error ? error.message : String(error)
      return false
    }
  }
  return {
    snapshot: async (tenant) => {
      const still = db.beside()
      try {
        await reading(db, () => {
          still.exec('begin')
          // The snapshot begins with the first read, not with `begin`. This read also checks the tenant's state.
          checkActive(tenant, readHead(still, tenant).state)
        })
      } catch (error) {
        still.close()
        throw error
      }
      return {
        journal: journalReads(still),
        rows: (table, after, limit) => reading(still, () => scanRows(still, tenant, table, after, limit)),
        close: async () => still.close(),
      }
    },
    scratch: async () => {
      // Only this user may enter the folder, because the rows contain titles and metadata.
      const folder = mkdtempSync(join(tmpdir(), 'inkfast-rebuild-'))
      const path = join(folder, 'rows.db')
      const side = connect(path, { defensive: false })
      side.exec('pragma journal_mode = off; pragma synchronous = off')
      migrate(side, now())
      side.exec('begin')
      const scratch: Scratch = {
        get: async (table, id) => getRow(side, ALONE, table, id),
        apply: async (seq, changes) => {
          for (const change of changes)
            if (change.kind !== 'erase') applyChange(side, ALONE as never, change.kind === 'put' ? { ...change, event: 0 } : change, seq)
        },
        rows: async (table, after, limit) => scanRows(side, ALONE, table, after, limit),
        close: async () => {
          side.close()
          rmSync(folder, { recursive: true, force: true })
        },
      }
      scratches.set(scratch, side)
      return scratch
    },
    adopt: async (tenant, scratch, head) => {
      const side = scratches.get(scratch)
      assert(side, 'a store adopts only what it has made')
      side.exec('commit')
      // ATTACH is refused inside a transaction, so it comes first.
      const folded = `folded_${randomUUID().replaceAll('-', '')}`
      within(db, () => db.run(`attach database ? as ${folded}`, side.path))
      try {
        return await write(() => {
          const at = readHead(db, tenant)
          if (at.seq !== head.seq || !sameBytes(at.hash, head.hash)) return false
          for (const table of tableNames.filter((name) => tableOf(name).authority === 'journal')) {
            const columns = [
              'id',
              'born',
              'revision',
              ...(tableOf(table).fenced ? ['fence'] : []),
              ...Object.keys(tableOf(table).columns),
              'body',
            ].join(', ')
            // The triggers make the word index again, from nothing.
            if (tableOf(table).text) for (const clear of clearIndex) db.run(clear, tenant, table)
            db.run(`delete from main.${table} where tenant = ?`, tenant)
            db.run(`insert into main.${table} (tenant, ${columns}) select ?, ${columns} from ${folded}.${table}`, tenant)
          }
          remakeDue(db, tenant)
          return true
        })
      } finally {
        if (!closed()) within(db, () => db.exec(`detach database ${folded}`))
        // After a refusal, folding continues.
        side.exec('begin')
      }
    },
    remakeDue: async (tenant) => {
      if (!db.readOnly) await write(() => remakeDue(db, tenant))
    },
    check: async () => {
      const damage = await checkpointer.check()
      // A damaged schema cannot be read.
      return damage.length > 0 ? damage : reading(db, () => changedObjects(db))
    },
    measure: async () => {
      const size = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0
      const rows = await reading(db, () =>
        Object.fromEntries(
          ['events', 'receipts', 'heads', 'nodes', 'blobs', ...tableNames].map((name) => [
            name,
            db.get(`select count(*) as n from ${name}`)?.n as number,
          ]),
        ),
      )
      const { bytes } = await files.measure()
      return {
        bytes: { database: size(db.path), wal: size(`${db.path}-wal`), index: size(`${db.path}-shm`), blobs: bytes },
        rows,
      }
    },
    health: async () => {
      const unready = [
        ...(db.disk.failure ? [`the disk failed, and no write has succeeded since: ${db.disk.failure}`] : []),
        ...(!db.disk.failure && isFull(dirname(db.path)) ? [`the disk under ${db.path} is full`] : []),
      ]
      const uncopied = checkpointer.failure ? [`the log is not being copied into the file: ${checkpointer.failure}`] : []
      const why = [...uncopied, ...unready]
      // A file that does not answer is not asked for more.
      const trust = unready.length === 0 ? await clock?.peek() : undefined
      return { ok: why.length === 0, ready: unready.length === 0, why, ...(trust?.until !== undefined && { clock: trust }) }
    },
    receipts: (tenant, after, limit) =>
      reading(db, () => {
        checkActive(tenant, readHead(db, tenant).state)
        return readReceipts(db, tenant, after, limit)
      }),
    sweepReceipts: async (before) => {
      let swept = 0
      for (let after = ''; ; ) {
        const last = await reading(db, () => db.get(lastOfPage, after, TENANTS_AT_A_TIME)?.tenant as string | null)
        if (last === null) return swept
        const from = after
        swept += await write(() => {
          db.run(sweepRenewals, from, last, before)
          return db.run(sweepReceipts, from, last, before)
        })
        after = last
      }
    },
    ...(clock && { clock: () => clock.look() }),
    scrub: async () => {
      if (db.readOnly) return
      // Old pages may still be in the log, and truncating it removes them. If a reader blocks that, it is retried. Closing the last
      // connection removes the log in any case.
      if (scrubbing === undefined && !emptied()) scrubbing = setInterval(() => (closed() || emptied()) && rest(), SCRUB_AGAIN_MS).unref()
    },
    reclaim: () =>
      write(() => {
        const pages = () => db.get('pragma page_count')?.page_count as number
        const before = pages()
        db.exec(`pragma incremental_vacuum(${RECLAIMED_PAGES})`)
        return (before - pages()) * (db.get('pragma page_size')?.page_size as number)
      }),
    secret: async (name) => {
      const known = await reading(db, () => db.get(findSecret, name)?.value as Uint8Array | undefined)
      if (known) return known
      // Nothing is masked in a read-only store, so the key is not kept.
      if (db.readOnly) return randomBytes(SECRET_BYTES)
      await write(() => db.run(keepSecret, name, randomBytes(SECRET_BYTES)))
      return db.get(findSecret, name)?.value as Uint8Array
    },
  }
}
