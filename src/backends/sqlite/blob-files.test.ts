// Blobs on disk: flushed before they are named, in a place of their own, and as private as the file they lie beside.

import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import * as files from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { codeOf, later, openIn, tempFile, tempFolder } from '../../../test/support/engines.ts'
import { maker } from '../../conformance/material.ts'
import { refuse } from '../../model/errors.ts'
import { MAIN, tenantId } from '../../model/ids.ts'
import { sqliteBackend } from './backend.ts'
import { BlobFiles, type Disk } from './blob-files.ts'
import { folderBackend } from './folder.ts'
import { GroupedWrites } from './grouped-writes.ts'
import { tenantFolder } from './tenant-files.ts'

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const ACME = tenantId('acme')

const filesUnder = (folder: string): string[] =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
        .sort()
    : []

/** The real disk, with a word for everything that is written, flushed or named. */
function watched(calls: string[]): Disk {
  const open = async (...args: Parameters<typeof files.open>) => {
    const handle = await files.open(...args)
    const { writeFile, sync } = handle
    const name = basename(String(args[0])).replace(/new-.*/, 'new')
    handle.writeFile = (...given) => {
      calls.push(`write ${name}`)
      return writeFile.apply(handle, given)
    }
    handle.sync = () => {
      calls.push(`flush ${name}`)
      return sync.call(handle)
    }
    return handle
  }
  const rename = (from: string, to: string) => {
    calls.push(`name ${basename(to)}`)
    return files.rename(from, to)
  }
  return { ...files, open, rename } as Disk
}

test.each([
  ['ENOSPC', 'DISK_FULL'],
  ['EIO', 'IO_FAILED'],
])('a blob that is streamed to a disk that fails with %s is refused with %s', async (code, refused) => {
  const path = tempFile()
  writeFileSync(path, '')
  const open = async (...args: Parameters<typeof files.open>) =>
    Object.assign(await files.open(...args), { writeFile: async () => Promise.reject(Object.assign(new Error(code), { code })) })
  const file = await new BlobFiles(`${path}.blobs`, path, { ...files, open } as Disk).create(MAIN)
  expect(await codeOf(file.add(bytesOf('one')))).toBe(refused)
  await file.drop()
  expect(filesUnder(`${path}.blobs`)).toEqual([])
})

test('on a real disk the bytes are flushed before they are named, and the names up to the folder of the store after', async () => {
  const path = tempFile()
  writeFileSync(path, '')
  const calls: string[] = []
  const blobs = new BlobFiles(`${path}.blobs`, path, watched(calls))
  const digest = sha256(bytesOf('one'))
  const shard = digest.slice(0, 2)
  await blobs.put(MAIN, digest, bytesOf('one'))
  const above = ['flush tenant-main.blobs', 'flush agents.db.blobs', `flush ${basename(dirname(path))}`]
  const written = [`write ${digest}.new`, `flush ${digest}.new`, `name ${digest}`, `flush ${shard}`]
  expect(calls.splice(0)).toEqual([...written, ...above])
  await blobs.put(MAIN, digest, bytesOf('one'))
  expect(calls.splice(0)).toEqual([`flush ${shard}`])
  // Another program does not know what the first has flushed.
  await new BlobFiles(`${path}.blobs`, path, watched(calls)).put(MAIN, digest, bytesOf('one'))
  expect(calls.splice(0)).toEqual([`flush ${shard}`, ...above])
  // Nor does anybody once the folder was taken away.
  rmSync(`${path}.blobs`, { recursive: true })
  await blobs.put(MAIN, digest, bytesOf('one'))
  expect(calls.splice(0)).toEqual([...written, ...above])
  expect(await blobs.get(MAIN, digest)).toEqual(bytesOf('one'))
})

test('a blob lies beside the file, under its tenant and its digest, and nothing does before the first is put', async () => {
  const path = tempFile()
  const store = await openIn(path)
  await store.session('s')
  expect(existsSync(`${path}.blobs`)).toBe(false)
  const { digest } = await store.blobs.put(bytesOf('mine'))
  await store.tenant('ACME').blobs.put(bytesOf('mine'))
  expect(filesUnder(`${path}.blobs`)).toEqual([
    join(`${path}.blobs`, 'tenant-+a+c+m+e.blobs', digest.slice(0, 2), digest),
    join(`${path}.blobs`, 'tenant-main.blobs', digest.slice(0, 2), digest),
  ])
  expect(readFileSync(filesUnder(`${path}.blobs`)[1] ?? '', 'utf8')).toBe('mine')
})

test('every tenant has a folder of its own, on any file system', () => {
  const ids = ['acme', 'ACME', 'Acme', 'con', 'CON', 'a.', 'a', 'A.', 'x.blobs', 'x', 'X'.repeat(64)]
  const names = ids.map((id) => tenantFolder(tenantId(id)))
  expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(ids.length)
  expect(names.filter((name) => !/^tenant-[a-z0-9._+-]+\.blobs$/.test(name) || name.length > 240)).toEqual([])
})

test('in a folder of tenants a blob lies beside its tenant’s file, which the first blob makes', async () => {
  const path = tempFolder()
  const backend = await folderBackend({ path })
  later(() => backend.close())
  const [early, late] = [bytesOf('early'), bytesOf('late')]
  await backend.blobs.put(ACME, sha256(early), early)
  expect(readdirSync(path).filter((name) => /^tenant-.*(db|blobs)$/.test(name))).toEqual(['tenant-acme.db', 'tenant-acme.db.blobs'])
  await backend.commit([maker(3).commit(ACME)])
  await backend.blobs.put(ACME, sha256(late), late)
  expect(
    filesUnder(join(path, 'tenant-acme.db.blobs'))
      .map((name) => basename(name))
      .sort(),
  ).toEqual([sha256(early), sha256(late)].sort())
  expect((await backend.blobs.get(ACME, sha256(early), 0))?.body).toEqual(early)
  expect(await backend.journal.tenants()).toEqual([ACME])
  expect(await backend.upkeep.measure()).toMatchObject({ bytes: { blobs: 9 }, rows: { blobs: 2 } })
})

test('a store opened through a link finds the same blobs', async () => {
  const path = tempFile()
  const store = await openIn(path)
  const ref = await store.blobs.put(bytesOf('mine'))
  const link = join(tempFolder(), 'link.db')
  symlinkSync(path, link)
  const linked = await openIn(link)
  expect(await linked.blobs.get(ref)).toEqual(bytesOf('mine'))
  const other = await linked.blobs.put(bytesOf('through the link'))
  expect(await store.blobs.get(other)).toEqual(bytesOf('through the link'))
  expect(existsSync(`${link}.blobs`)).toBe(false)
})

test('a user who may not read the file may not read its blobs', async () => {
  const modes = (path: string) => [path, dirname(path), dirname(dirname(path))].map((one) => (statSync(one).mode & 0o777).toString(8))
  for (const [mode, expected] of [
    [0o600, ['600', '700', '700']],
    [0o640, ['640', '750', '750']],
  ] as const) {
    const path = tempFile()
    const store = await openIn(path)
    chmodSync(path, mode)
    await store.blobs.put(bytesOf('mine'))
    expect(modes(filesUnder(`${path}.blobs`)[0] ?? '')).toEqual(expected)
  }
})

test('a disk that is full is told so, and leaves nothing half there', async () => {
  for (const [code, told] of [
    ['ENOSPC', 'DISK_FULL'],
    ['EDQUOT', 'DISK_FULL'],
    ['EROFS', 'FILE_READ_ONLY'],
    ['EACCES', 'FILE_DENIED'],
    ['EIO', 'IO_FAILED'],
  ] as const) {
    const path = tempFile()
    writeFileSync(path, '')
    let well = false
    const open = async (...args: Parameters<typeof files.open>) => {
      const handle = await files.open(...args)
      const { writeFile } = handle
      handle.writeFile = async (bytes) => {
        if (well) return writeFile.call(handle, bytes)
        await writeFile.call(handle, (bytes as Uint8Array).subarray(0, 2))
        throw Object.assign(new Error('no'), { code })
      }
      return handle
    }
    const blobs = new BlobFiles(`${path}.blobs`, path, { ...files, open } as Disk)
    const bytes = bytesOf('more than there is room for')
    expect(await codeOf(blobs.put(MAIN, sha256(bytes), bytes))).toBe(told)
    expect(filesUnder(`${path}.blobs`)).toEqual([])
    expect(await blobs.get(MAIN, sha256(bytes))).toBeUndefined()
    well = true
    await blobs.put(MAIN, sha256(bytes), bytes)
    expect(await blobs.get(MAIN, sha256(bytes))).toEqual(bytes)
  }
})

test('a put whose file a collection took for one of a dead process is told so, and leaves nothing', async () => {
  const path = tempFile()
  writeFileSync(path, '')
  const digest = sha256(bytesOf('one'))
  const rename: Disk['rename'] = async (from, to) => {
    await files.rm(from)
    return files.rename(from, to)
  }
  expect(await new BlobFiles(`${path}.blobs`, path, { ...files, rename } as Disk).put(MAIN, digest, bytesOf('one'))).toBe(false)
  expect(filesUnder(`${path}.blobs`)).toEqual([])
  expect(await new BlobFiles(`${path}.blobs`, path).put(MAIN, digest, bytesOf('one'))).toBe(true)
})

test.each([
  ['one file', () => sqliteBackend({ path: tempFile() })],
  ['a folder', () => folderBackend({ path: tempFolder() })],
])('puts in %s end while one collection follows the other, and every blob is whole', async (_, open) => {
  const backend = await open()
  later(() => backend.close())
  await backend.commit([maker(3).commit(MAIN)])
  let putting = true
  const sweeping = (async () => {
    while (putting) await backend.blobs.sweep(MAIN, 0)
  })()
  const all = Array.from({ length: 60 }, (_, i) => bytesOf(`blob ${i}`))
  await Promise.all(all.map((bytes) => backend.blobs.put(MAIN, sha256(bytes), bytes)))
  putting = false
  await sweeping
  for (const bytes of all) expect((await backend.blobs.get(MAIN, sha256(bytes), 0))?.body).toEqual(bytes)
})

test('a file in the place of the blob folder fails a put, and health reports it', async () => {
  const path = tempFile()
  const store = await openIn(path)
  writeFileSync(`${path}.blobs`, 'not a folder')
  expect(await codeOf(store.blobs.put(bytesOf('x')))).toBe('IO_FAILED')
  expect((await store.health()).why).toContainEqual(expect.stringContaining('the disk failed'))
  expect(await codeOf(store.blobs.get(sha256(bytesOf('x'))))).toBe('BLOB_UNKNOWN')
  expect(readFileSync(`${path}.blobs`, 'utf8')).toBe('not a folder')
})

test('a blob is stored compressed where that was asked for, and in the database where it is small', async () => {
  const path = tempFile()
  const store = await openIn(path)
  const sizesOf = () => filesUnder(`${path}.blobs`).map((name) => statSync(name).size)
  const text = bytesOf('the same words again and again '.repeat(100))
  await store.blobs.put(text, { kind: 'tool-state' })
  expect(sizesOf()).toEqual([text.length])
  await store.blobs.put(bytesOf(`${text} more`), { kind: 'tool-state', profile: 'compact' })
  expect(sizesOf().sort((a, b) => a - b)[0]).toBeLessThan(500)
  await store.blobs.put(bytesOf('small'), { hints: ['inline-preferred'] })
  expect(sizesOf()).toHaveLength(2)
  expect((await store.measure()).rows.blobs).toBe(3)
})

test('rows of puts that finish at the same time share a transaction, and a refusal fails only its own', async () => {
  let transactions = 0
  const grouped = new GroupedWrites(async (work) => {
    transactions++
    return work()
  })
  const closed = refuse('TENANT_CLOSED', { tenant: 'acme', state: 'suspended' })
  const fail = () => {
    throw closed
  }
  const answers = await Promise.allSettled([grouped.add(() => 1), grouped.add(fail), grouped.add(() => 3)])
  expect(answers).toEqual([
    { status: 'fulfilled', value: 1 },
    { status: 'rejected', reason: closed },
    { status: 'fulfilled', value: 3 },
  ])
  expect(transactions).toBe(1)
  await grouped.add(() => 4)
  expect(transactions).toBe(2)
})

test('a file that a crash left while a blob was made is no blob', async () => {
  const path = tempFile()
  const backend = await sqliteBackend({ path })
  later(() => backend.close())
  const digest = sha256(bytesOf('whole'))
  const folder = join(`${path}.blobs`, 'tenant-main.blobs', digest.slice(0, 2))
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${digest}.new-0123456789ab`), 'who')
  expect(await backend.blobs.has(MAIN, [digest])).toEqual([false])
  expect(await backend.blobs.get(MAIN, digest, 0)).toBeUndefined()
  expect(await backend.upkeep.measure()).toMatchObject({ bytes: { blobs: 3 }, rows: { blobs: 0 } })
  await backend.blobs.put(MAIN, digest, bytesOf('whole'))
  expect((await backend.blobs.get(MAIN, digest, 0))?.body).toEqual(bytesOf('whole'))
  expect(await backend.upkeep.measure()).toMatchObject({ bytes: { blobs: 8 }, rows: { blobs: 1 } })
})

test.each([
  ['one file', () => sqliteBackend({ path: tempFile() })],
  ['a folder', () => folderBackend({ path: tempFolder() })],
])('closing %s waits for what is being put, and nothing is written after', async (_, open) => {
  const backend = await open()
  const all = Array.from({ length: 30 }, (_, i) => new Uint8Array(50_000).fill(i))
  const putting = all.map((bytes) =>
    backend.blobs.put(MAIN, sha256(bytes), bytes).then(
      () => 'put',
      (error) => error.code,
    ),
  )
  let ended = 0
  for (const one of putting) one.then(() => ended++)
  await new Promise((resolve) => setImmediate(resolve))
  await backend.close()
  expect(ended).toBe(all.length)
  expect(new Set(await Promise.all(putting))).toEqual(new Set(['put']))
  expect(await codeOf(backend.blobs.put(MAIN, sha256(bytesOf('late')), bytesOf('late')))).toBe('STORE_CLOSED')
})
