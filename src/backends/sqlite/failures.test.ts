// Disks that fail or are full, while a store is created, opened, read and written.

import { spawnSync } from 'node:child_process'
import { rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { codeOf, expectSound, later, tempFile, tempFolder } from '../../../test/support/engines.ts'
import { InkError, open, type Store } from '../../index.ts'
import { fileBackend } from './backend.ts'
import { connect, type Database } from './database.ts'
import { unreadPages } from './failures.ts'
import { migrate } from './migrate.ts'
import { openDatabase } from './open.ts'
import { writing } from './transaction.ts'

const [FULL, CORRUPT, FLUSH_FAILED, READ_FAILED, UNREAD_PAGE] = [13, 11, 1034, 266, 8458]

interface Faults {
  /** Extended code with which statements of the store's connection fail. */
  code?: number
  /** Only these statements fail. */
  only?: RegExp
  /** How many more fail; all by default. */
  left?: number
  /** Extended code with which statements of every new connection fail. */
  beside?: number
  /** Why no new connection can be opened. */
  refused?: InkError
}

const failure = (errcode: number): Error => Object.assign(new Error(`injected failure ${errcode}`), { errcode })

/** A connection to a real file, whose statements fail with codes of SQLite while `faults` says so. */
function failing(db: Database, faults: Faults): Database {
  const guarded =
    <Rest extends readonly unknown[], T>(work: (sql: string, ...rest: Rest) => T) =>
    (sql: string, ...rest: Rest): T => {
      if (faults.code !== undefined && (faults.only?.test(sql) ?? true) && (faults.left ?? 1) > 0) {
        if (faults.left !== undefined) faults.left--
        throw failure(faults.code)
      }
      return work(sql, ...rest)
    }
  return {
    ...db,
    beside: () => {
      if (faults.refused) throw faults.refused
      return failing(db.beside(), { ...(faults.beside !== undefined && { code: faults.beside }) })
    },
    all: guarded(db.all),
    lists: guarded(db.lists),
    get: guarded(db.get),
    run: guarded(db.run),
    exec: guarded(db.exec),
    statement: guarded(db.statement),
  }
}

async function storeOn(faults: Faults, path = tempFile()): Promise<Store> {
  const backend = await fileBackend({ path, connect: (...given) => failing(connect(...given), faults) })
  const store = await open({ backend })
  later(() => store.close())
  return store
}

/** Reasons of `health`, without those about the speed of the machine. */
const reasons = async (store: Store): Promise<readonly string[]> =>
  (await store.health()).why.filter((line) => line.includes('disk') && !line.startsWith('a write took longer'))

const storeAt = async (path: string): Promise<void> => {
  const store = await open(path)
  await (await store.session('s')).append('a.b', 1)
  await store.close()
}

test('a migration that meets a full disk reports the full disk, and not its own rollback', () => {
  const db = connect(tempFile())
  later(() => db.close())
  // SQLite ends the transaction by itself when the disk is full.
  const full: Database = {
    ...db,
    run: () => {
      db.exec('rollback')
      throw failure(FULL)
    },
  }
  expect(() => migrate(full, 0)).toThrow(expect.objectContaining({ errcode: FULL }))
  migrate(db, 0)
  expect(db.get('select count(*) as n from events')).toEqual({ n: 0 })
})

test('a full disk makes health degraded until a write succeeds', async () => {
  const faults: Faults = {}
  const store = await storeOn(faults)
  const session = await store.session('s')
  expect(await reasons(store)).toEqual([])

  Object.assign(faults, { code: FULL, only: /^commit$/ })
  expect(await codeOf(session.append('a.b', 1))).toBe('DISK_FULL')
  expect(await store.health()).toMatchObject({ status: 'degraded' })
  expect(await reasons(store)).toEqual([expect.stringMatching(/no write has succeeded since: .*is full/)])

  delete faults.code
  await session.append('a.b', 2)
  expect(await reasons(store)).toEqual([])
  await expectSound(store)
})

test('a flush that fails makes health degraded until a write succeeds', async () => {
  const faults: Faults = {}
  const store = await storeOn(faults)
  const session = await store.session('s')
  Object.assign(faults, { code: FLUSH_FAILED, only: /^commit$/ })
  expect(await codeOf(session.append('a.b', 1))).toBe('OUTCOME_UNKNOWN')
  expect(await reasons(store)).toHaveLength(1)
  delete faults.code
  await session.append('a.b', 2)
  expect(await reasons(store)).toEqual([])
})

test('a page that the disk cannot read is IO_FAILED, and a page that it reads damaged is FILE_CORRUPT', async () => {
  const faults: Faults = {}
  const store = await storeOn(faults)
  const session = await store.session('s')
  // SQLite reports both to the statement as damage. Only a new connection reports the disk.
  Object.assign(faults, { code: CORRUPT, beside: READ_FAILED })
  const refused = await store.page().catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(InkError)
  expect(refused).toMatchObject({ code: 'IO_FAILED', kind: 'unavailable', message: expect.not.stringContaining('backup') })
  expect(await reasons(store)).toEqual([expect.stringContaining('failed (injected failure 266)')])

  delete faults.beside
  faults.refused = new InkError('IO_FAILED', { path: 'x', reason: 'disk I/O error' })
  expect(await codeOf(store.page())).toBe('IO_FAILED')

  delete faults.refused
  expect(await codeOf(store.page())).toBe('FILE_CORRUPT')

  delete faults.code
  await session.append('a.b', 1)
  expect(await reasons(store)).toEqual([])
  await expectSound(store)
})

test('a read that fails once is tried again, and so is a write', async () => {
  const faults: Faults = {}
  const store = await storeOn(faults)
  const session = await store.session('s')
  Object.assign(faults, { code: CORRUPT, left: 1 })
  expect((await store.page()).items).toHaveLength(1)
  expect(faults.left).toBe(0)
  Object.assign(faults, { left: 1, only: /insert into events/ })
  await session.append('a.b', 1)
  expect(faults.left).toBe(0)
  await expectSound(store)
})

test('a page check tells pages that the disk did not read from damaged pages', () => {
  const unread = `*** in database main ***\nTree 5 page 9: unable to get the page. error code=${UNREAD_PAGE}`
  const overflow = 'Tree 5 page 111 cell 0: failed to get page 112'
  expect(unreadPages(['ok', unread, overflow])).toEqual([unread, overflow])
  expect(unreadPages(['ok', 'Tree 5 page 9: btreeInitPage() returns error code 11', 'wrong # of entries in index x'])).toEqual([])
})

test('a disk that fails once while a store is opened does not leave a store that refuses writes', async () => {
  const path = tempFile()
  await storeAt(path)
  // SQLite opens a file for reading only when the disk fails as it is opened for writing.
  const onlyReads = (times: number) => (file: string) =>
    times-- > 0 ? { ...connect(file, { readOnly: true }), readOnly: false } : connect(file)
  expect(await codeOf(openDatabase(path, Date.now, { connect: onlyReads(2) }))).toBe('IO_FAILED')
  const db = await openDatabase(path, Date.now, { connect: onlyReads(1) })
  later(() => db.close())
  expect(await writing(db, () => db.run('delete from receipts'))).toBe(0)
})

test('a store opens while another process holds its write lock', async () => {
  const path = tempFile()
  await storeAt(path)
  const other = connect(path)
  later(() => other.close())
  other.exec('begin immediate')
  const db = await openDatabase(path, Date.now)
  db.close()
})

test('a store on a disk that really is full is refused with DISK_FULL, and goes on when there is room', async ({ skip }) => {
  const disk = smallDisk()
  if (disk === undefined) return skip('only root may mount a small disk')
  const path = join(disk, 'agents.db')
  const ballast = join(disk, 'ballast')
  const fill = () => writeFileSync(ballast, Buffer.alloc(statfsSync(disk).bavail * 4096))

  fill()
  expect(await codeOf(open(path))).toBe('DISK_FULL')
  rmSync(ballast)
  await storeAt(path)
  fill()
  expect(await codeOf(open(path))).toBe('DISK_FULL')
  rmSync(ballast)

  const store = await open({ url: path, writeBudget: '1m' })
  later(() => store.close())
  const session = await store.session('s')
  fill()
  expect(await reasons(store)).toEqual([expect.stringMatching(/^the disk under .* is full$/)])
  const payload = 'x'.repeat(200_000)
  for (const bytes of [100_000, 5_000_000])
    expect(await codeOf(store.blobs.put(new Uint8Array(bytes))), `a blob of ${bytes} bytes`).toBe('DISK_FULL')
  expect(await codeOf(session.append('a.b', payload))).toBe('DISK_FULL')
  expect(await reasons(store)).toEqual([expect.stringContaining('is full')])
  rmSync(ballast)
  await session.append('a.b', payload)
  expect(await reasons(store)).toEqual([])
  await expectSound(store)
})

/** The path of a disk of eight megabytes, or `undefined` without the right to mount one. */
function smallDisk(): string | undefined {
  const folder = tempFolder()
  if (process.platform !== 'linux') return undefined
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', folder]).status !== 0) return undefined
  later(() => spawnSync('umount', ['--lazy', folder]))
  return folder
}
