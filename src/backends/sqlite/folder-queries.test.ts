// Looking across the files of a folder: nobody waits because of another's damage, and what is in use stays open.

import { readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { codeOf, later, tempFolder } from '../../../test/support/engines.ts'
import { maker, put } from '../../conformance/material.ts'
import { tenantId } from '../../model/ids.ts'
import type { Backend } from '../../ports/backend.ts'
import { type FolderOptions, folderBackend } from './folder.ts'
import { tenantFile } from './tenant-files.ts'

const make = maker(5)
const all = ['a', 'b', 'c', 'd', 'e'].map(tenantId)

async function backendIn(path: string, options: Partial<FolderOptions> = {}): Promise<Backend> {
  const backend = await folderBackend({ path, ...options })
  later(() => backend.close())
  return backend
}

async function offerAll(backend: Backend): Promise<void> {
  for (const [i, tenant] of all.entries())
    await backend.commit([make.commit(tenant, { changes: [put('work', 'w', { queue: 'q', at: 50 - i })] })])
}

const tenantsDue = async (backend: Backend): Promise<string> => (await backend.queries.due('q', 10)).map(({ tenant }) => tenant).join('')

test('a damaged file keeps nobody else’s work waiting, and health says so until it is mended', async () => {
  const folder = tempFolder()
  const before = await backendIn(folder)
  await offerAll(before)
  expect(await tenantsDue(before)).toBe('edcba')
  await before.close()
  const backend = await backendIn(folder)
  const path = join(folder, tenantFile(tenantId('c')))
  const whole = readFileSync(path)
  writeFileSync(path, 'this was a database once '.repeat(400))
  expect(await tenantsDue(backend)).toBe('edba')
  const { ok, why } = await backend.upkeep.health()
  expect([ok, why]).toEqual([false, [expect.stringContaining('1 of the files')]])
  // Whom it concerns is said by the check, which not everybody may ask for.
  expect(why.join()).not.toContain('tenant-c')
  expect((await backend.upkeep.check()).join()).toContain('tenant-c')
  writeFileSync(path, whole)
  expect(await tenantsDue(backend)).toBe('edcba')
  expect(await backend.upkeep.health()).toEqual({ ok: true, ready: true, why: [] })
})

test('a file that is not damaged and cannot be read is an error, because its work may be due', async () => {
  const folder = tempFolder()
  const backend = await backendIn(folder)
  await offerAll(backend)
  await backend.close()
  const again = await backendIn(folder)
  rmSync(join(folder, tenantFile(tenantId('c'))))
  symlinkSync(tenantFile(tenantId('c')), join(folder, tenantFile(tenantId('c'))))
  expect(await codeOf(again.queries.due('q', 10))).toBe('PATH_INVALID')
})

test('a file in use stays open while all files are read', async () => {
  const folder = tempFolder()
  const backend = await backendIn(folder, { openFiles: 2 })
  await offerAll(backend)
  const use = async () => {
    for (const tenant of all.slice(0, 2)) await backend.journal.page(tenant, { from: 0, limit: 1 })
  }
  // A file that is open has its index of the log beside it.
  const open = () =>
    readdirSync(folder)
      .filter((name) => /^tenant-.*-shm$/.test(name))
      .map((name) => name.slice(7, 8))
      .join('')
  await use()
  await vi.waitFor(() => expect(open()).toBe('ab'))
  expect(await tenantsDue(backend)).toBe('edcba')
  await vi.waitFor(() => expect(open()).toBe('ab'))
  // The control: what passes through without holding them closes them.
  await backend.upkeep.measure()
  await vi.waitFor(() => expect(open()).toBe('de'))
})

test('after closing the question is refused, also where there is no file', async () => {
  const backend = await backendIn(tempFolder())
  await backend.close()
  expect(await codeOf(backend.queries.due('q', 10))).toBe('STORE_CLOSED')
})
