import { copyFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { codeOf, expectSound, later, openIn, tempFile, tempFolder } from '../../../test/support/engines.ts'
import { maker } from '../../conformance/material.ts'
import { open, type Store } from '../../index.ts'
import { refuse } from '../../model/errors.ts'
import { isTenant, MAIN, tenantId } from '../../model/ids.ts'
import type { Backend } from '../../ports/backend.ts'
import { sqliteBackend } from './backend.ts'
import { type FolderOptions, folderBackend, together } from './folder.ts'
import { migrations as known, type Migration } from './migrate.ts'
import { migrateFile, readSchema } from './schema.ts'
import { STORE_FILE, tenantFile, tenantOf } from './tenant-files.ts'

const make = maker(5)
const acme = tenantId('acme')
const ACME = tenantId('ACME')

const openFolder = (path: string, options: Parameters<typeof openIn>[1] = {}): Promise<Store> =>
  openIn(path, { layout: 'tenant', ...options })

async function backendIn(path: string, options: Partial<FolderOptions> = {}): Promise<Backend> {
  const backend = await folderBackend({ path, ...options })
  later(() => backend.close())
  return backend
}

const filesIn = (folder: string): readonly string[] => readdirSync(folder).filter((name) => !/-(wal|shm)$/.test(name))

test('every tenant has a name of its own, on any file system, and gets it back from it', () => {
  const ids = [
    'acme',
    'ACME',
    'Acme',
    'aCME',
    'con',
    'CON',
    'nul',
    'a.',
    'a',
    'A.',
    'a.b',
    'a-b',
    'a_b',
    '0',
    'x.db',
    'x',
    'x.db-wal',
    'X'.repeat(64),
  ]
  const names = ids.map((id) => tenantFile(tenantId(id)))
  expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(ids.length)
  expect(names.filter((name) => !/^tenant-[a-z0-9._+-]+\.db$/.test(name) || name.length > 240)).toEqual([])
  expect(names.map(tenantOf)).toEqual(ids)
  for (const other of [
    STORE_FILE,
    'tenant-acme.db-wal',
    'tenant-ACME.db',
    'tenant-a+.db',
    'tenant-.db',
    'tenant-a.db.new-0a1b2c3d',
    'acme.db',
    'tenant--a.db',
  ])
    expect(tenantOf(other), other).toBeUndefined()
  // What a user may choose is told from what he may not by the same rule.
  expect(isTenant('a/b')).toBe(false)
})

test('a tenant’s file appears with its first commit, and by nothing less', async () => {
  const folder = tempFolder()
  const store = await openFolder(folder)
  expect(store.traits).toMatchObject({ wall: 'file', durable: true, shared: true })
  const view = store.tenant('acme')
  expect((await view.page()).items).toEqual([])
  expect(await view.sessions.find('s')).toBeUndefined()
  expect((await view.sessions.list()).items).toEqual([])
  expect(await view.verify()).toMatchObject({ intact: true, events: 0 })
  expect(await view.rebuild()).toMatchObject({ equal: true })
  expect(await view.types()).toEqual([])
  expect(await view.usage()).toEqual([])
  expect(await codeOf(view.erase({ seq: 1, reason: 'test' }))).toBe('EVENT_UNKNOWN')
  expect(await store.tenantState('acme')).toBe('active')
  expect(filesIn(folder)).toEqual([STORE_FILE])
  const session = await view.session('s')
  await store.tenant('ACME').appendAll([{ type: 'a.b', data: 'theirs' }])
  expect(filesIn(folder)).toEqual([STORE_FILE, 'tenant-+a+c+m+e.db', 'tenant-acme.db'])
  await session.append('a.b', 'mine')
  expect(await store.tenants()).toEqual(['ACME', 'acme'])
  await expectSound(store)
})

test('a first commit that is refused, or only asks, leaves no file', async () => {
  const folder = tempFolder()
  const backend = await backendIn(folder)
  const guard = { kind: 'row', table: 'names', id: 'n', revision: 1 } as const
  const outcomes = await backend.commit([make.commit(acme, { guards: [guard] }), { tenant: ACME, guards: [], events: [], changes: [] }])
  expect(outcomes).toMatchObject([
    { ok: false, refused: guard, found: 0 },
    { ok: true, receipts: [] },
  ])
  expect(filesIn(folder)).toEqual([STORE_FILE])
})

test('the events of a tenant are in its own file and in no other', async () => {
  const folder = tempFolder()
  const store = await openFolder(folder)
  for (const tenant of ['acme', 'ACME']) await store.tenant(tenant).appendAll([{ type: 'a.b', data: `marker-of-${tenant}` }])
  await store.close()
  const holding = (text: string) => readdirSync(folder).filter((name) => readFileSync(join(folder, name)).includes(text))
  expect(holding('marker-of-acme')).toEqual(['tenant-acme.db'])
  expect(holding('marker-of-ACME')).toEqual(['tenant-+a+c+m+e.db'])
  // Closed in order: nothing lies beside the files.
  expect(readdirSync(folder)).toEqual([STORE_FILE, 'tenant-+a+c+m+e.db', 'tenant-acme.db'])
})

test('a folder is opened as what it is, and never made in silence', async () => {
  const folder = tempFolder()
  expect(await codeOf(open(folder))).toBe('NOT_YET')
  expect(await codeOf(open(`${folder}/`))).toBe('NOT_YET')
  expect(await codeOf(open({ url: join(folder, 'deeper'), layout: 'tenant' }))).toBe('FOLDER_MISSING')
  expect(await codeOf(open({ url: join(folder, 'much/deeper/'), layout: 'tenant' }))).toBe('FOLDER_MISSING')
  expect(await codeOf(open({ url: folder, layout: 'tenant', create: false }))).toBe('FILE_MISSING')
  expect(await codeOf(open({ url: folder, layout: 'tenant', readOnly: true }))).toBe('FILE_MISSING')
  expect(readdirSync(folder)).toEqual([])
  writeFileSync(join(folder, 'file'), 'x')
  expect(await codeOf(open({ url: join(folder, 'file'), layout: 'tenant' }))).toBe('PATH_INVALID')
  for (const url of ['postgres://127.0.0.1:1/db', ':memory:']) expect(await codeOf(open({ url, layout: 'tenant' }))).toBe('OPTION_INVALID')

  const first = await openFolder(folder)
  await first.tenant('acme').appendAll([{ type: 'a.b', data: 1 }])
  await first.close()
  for (const url of [folder, `${folder}/`, pathToFileURL(folder), pathToFileURL(`${folder}/`)]) {
    const again = await open(url)
    expect(again.traits.wall).toBe('file')
    expect((await again.tenant('acme').head()).seq).toBe(1)
    await again.close()
  }
  expect(await codeOf(open({ url: folder, layout: 'single' }))).toBe('NOT_YET')
})

test('secrets are the folder’s: the same text has the same tag in every tenant, also when it is opened again', async () => {
  const folder = tempFolder()
  const secret = `ghp_${'a1B2'.repeat(9)}`
  const tags = new Set<string>()
  for (const tenant of ['acme', 'ACME']) {
    const store = await openFolder(folder)
    await store.tenant(tenant).appendAll([{ type: 'a.b', data: { text: `token ${secret}` } }])
    tags.add(JSON.stringify((await store.tenant(tenant).page()).items[0]?.data))
    await store.close()
  }
  expect(tags.size).toBe(1)
  expect([...tags][0]).not.toContain(secret)
})

test('a file under another tenant’s name is refused, and its neighbours are served', async () => {
  const folder = tempFolder()
  const first = await openFolder(folder)
  for (const tenant of ['acme', 'ACME', 'main']) await first.tenant(tenant).appendAll([{ type: 'a.b', data: tenant }])
  await first.close()
  const [mine, theirs, third] = [acme, ACME, tenantId('third')].map((id) => join(folder, tenantFile(id))) as [string, string, string]
  renameSync(mine, `${mine}.kept`)
  copyFileSync(theirs, mine)
  copyFileSync(theirs, third)
  const store = await openFolder(folder)
  for (const tenant of ['acme', 'third']) {
    const view = store.tenant(tenant)
    const append = () => view.appendAll([{ type: 'a.b', data: 1 }])
    for (const call of [append, () => view.page(), () => view.head(), () => view.session('s'), () => view.verify()])
      await expect(call()).rejects.toMatchObject({ code: 'FILE_MISPLACED', kind: 'corrupt', message: expect.not.stringContaining('ACME') })
  }
  expect((await store.tenant('ACME').page()).items).toHaveLength(1)
  expect(await store.check()).toEqual([expect.stringContaining('tenant-acme.db'), expect.stringContaining('tenant-third.db')])
  await store.appendAll([{ type: 'a.b', data: 2 }])
  rmSync(mine)
  rmSync(third)
  renameSync(`${mine}.kept`, mine)
  expect((await store.tenant('acme').page()).items[0]?.data).toBe('acme')
  expect(await store.check()).toEqual([])
  await expectSound(store)
})

test('a file that was written to by itself, as another tenant, is refused too', async () => {
  const folder = tempFolder()
  const first = await openFolder(folder)
  await first.tenant('acme').appendAll([{ type: 'a.b', data: 1 }])
  await first.close()
  const alone = await open(join(folder, tenantFile(acme)))
  expect((await alone.tenant('acme').verify()).intact).toBe(true)
  await alone.appendAll([{ type: 'a.b', data: 'as main' }])
  await alone.close()
  const store = await openFolder(folder)
  expect(await codeOf(store.tenant('acme').page())).toBe('FILE_MISPLACED')
})

test('a file that cannot be used fails its own commits and no others', async () => {
  const folder = tempFolder()
  writeFileSync(join(folder, tenantFile(ACME)), 'not a database, and long enough to be read as one'.repeat(100))
  const backend = await backendIn(folder)
  const batch = [make.commit(acme), make.commit(ACME), make.commit(MAIN), make.commit(ACME)]
  const outcomes = await backend.commit(batch)
  expect(outcomes.map((outcome) => (outcome.ok ? 'saved' : outcome.refused))).toEqual(['saved', 'failed', 'saved', 'failed'])
  expect(outcomes[1]).toMatchObject({ found: expect.stringContaining('not an SQLite database') })
  await expect(backend.commit([make.commit(ACME)])).rejects.toMatchObject({ code: 'NOT_A_DATABASE' })
  expect((await backend.journal.head(acme)).seq).toBe(1)
  // The lane goes through the same door.
  const store = await openFolder(folder)
  const settled = await Promise.all(
    ['acme', 'ACME', 'main'].map((tenant) => codeOf(store.tenant(tenant).appendAll([{ type: 'a.b', data: 1 }]))),
  )
  expect([settled[0], settled[2]]).toEqual(['no error', 'no error'])
  expect(settled[1]).toMatch(/^(BACKEND_FAILED|NOT_A_DATABASE)$/)
})

test('when one file does not know what became of its commits, neither does the batch', () => {
  const batch = [make.commit(acme), make.commit(ACME)]
  const parts = [{ places: [0] }, { places: [1] }]
  const saved = { ok: true, receipts: [], repeated: false, now: 0 } as const
  const fulfilled = { status: 'fulfilled', value: [saved] } as const
  const rejected = (reason: unknown) => ({ status: 'rejected', reason }) as const
  const known = refuse('DISK_FULL', { path: 'x' })
  expect(together(batch, parts, [fulfilled, rejected(known)], 7)).toEqual([
    saved,
    { ok: false, refused: 'failed', found: known.message, now: 7 },
  ])
  expect(() => together(batch.slice(0, 1), parts.slice(0, 1), [rejected(known)], 7)).toThrow(known)
  for (const reason of [new Error('lost'), refuse('OUTCOME_UNKNOWN', { reason: 'lost' })]) {
    // No InkError: the lane takes one for the knowledge that nothing was saved.
    expect(() => together(batch, parts, [fulfilled, rejected(reason)], 7)).toThrow(
      expect.objectContaining({ name: 'Error', message: 'a file gave no definite answer', cause: reason }),
    )
  }
})

test('a folder opened to be read takes no writes, and makes no file', async () => {
  const folder = tempFolder()
  const first = await openFolder(folder)
  await first.tenant('acme').appendAll([{ type: 'a.b', data: 1 }])
  await first.close()
  const store = await openFolder(folder, { readOnly: true })
  expect((await store.tenant('acme').page()).items).toHaveLength(1)
  expect((await store.tenant('never').page()).items).toEqual([])
  for (const tenant of ['acme', 'never'])
    expect(await codeOf(store.tenant(tenant).appendAll([{ type: 'a.b', data: 1 }]))).toBe('FILE_READ_ONLY')
  expect(filesIn(folder)).toEqual([STORE_FILE, tenantFile(acme)])
})

test('the schema of a folder is that of the file that is furthest behind', async () => {
  const folder = tempFolder()
  const store = await openFolder(folder)
  await store.tenant('acme').appendAll([{ type: 'a.b', data: 1 }])
  await store.close()
  const { found, needed, migrations } = readSchema(folder)
  expect(found).toBe(needed)
  expect(migrations.every((migration) => migration.appliedAt !== undefined)).toBe(true)
  // As a version would that knows one step more: only the file of the store has it so far.
  const step = { number: needed + 1, name: 'later', sql: 'alter table sessions add column mood text', checksum: 'later' }
  const steps = known as Migration[]
  steps.push(step)
  using _ = { [Symbol.dispose]: () => void steps.pop() }
  await migrateFile(join(folder, STORE_FILE))
  expect(readSchema(folder)).toMatchObject({ found: needed, needed: step.number })
  expect(readSchema(folder).migrations.map((migration) => migration.appliedAt !== undefined)).toEqual([
    ...migrations.map(() => true),
    false,
  ])
  const looking = await openFolder(folder, { migrate: false })
  expect(await codeOf(looking.tenant('acme').page())).toBe('SCHEMA_OLDER')
  expect((await looking.page()).items).toEqual([])
  await looking.close()
  expect(await migrateFile(folder)).toMatchObject({ found: step.number })
  expect(readSchema(folder)).toMatchObject({ found: step.number, needed: step.number })
  writeFileSync(join(folder, tenantFile(ACME)), 'not a database, and long enough to be read as one'.repeat(100))
  expect(() => readSchema(folder)).toThrow(expect.objectContaining({ code: 'NOT_A_DATABASE' }))
  expect(() => readSchema(tempFolder())).toThrow(expect.objectContaining({ code: 'NOT_YET' }))
})

test('a file of a folder is a store by itself', async () => {
  const folder = tempFolder()
  const store = await openFolder(folder)
  await store.tenant('acme').appendAll([{ type: 'a.b', data: 1 }])
  await store.close()
  const copy = tempFile()
  copyFileSync(join(folder, tenantFile(acme)), copy)
  const alone = await sqliteBackend({ path: copy })
  expect(await alone.journal.tenants()).toEqual(['acme'])
  await alone.close()
  mkdirSync(join(folder, 'tenant-folder.db'))
  const again = await openFolder(folder)
  expect(await codeOf(again.tenant('folder').page())).toBe('NOT_YET')
})
