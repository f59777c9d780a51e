// Every command on a folder that keeps a file for each tenant, named without saying what it is.

import { once } from 'node:events'
import { copyFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { open } from '../../src/index.ts'
import { ink, lines, type SmallStore, smallStore, start, tamper } from './support.ts'

let store: SmallStore
let path: string

beforeEach(async () => {
  store = await smallStore('tenant')
  path = store.path
})

const json = async (words: readonly string[]) => JSON.parse((await ink([...words, '--json'])).out)

test('verify walks every file, and holds them against receipts', async () => {
  const receipts = join(path, 'receipts.json')
  writeFileSync(receipts, JSON.stringify(store.receipts))
  const { code, out } = await ink(['verify', path, '--receipts', receipts])
  expect(code).toBe(0)
  expect(out).toMatch(/✓ +acme +2 +2 /)
  expect(out).toMatch(/✓ +main +9 +9 /)
  expect(out).toContain('every page is sound')
  expect(readdirSync(path).filter((name) => /-(wal|shm)$/.test(name))).toEqual([])
  tamper(join(path, 'tenant-main.db'))
  const broken = await json(['verify', path])
  expect(broken.tenants).toMatchObject([
    { tenant: 'acme', intact: true },
    { tenant: 'main', intact: false, brokenAt: store.marked },
  ])
})

test('events, sessions, rebuild, du and tenants speak of all files as one store', async () => {
  expect(lines((await ink(['events', path, '--tenant', 'acme', '--json'])).out)).toHaveLength(2)
  expect((await ink(['sessions', path])).out).toContain('support/4711')
  expect(await json(['rebuild', `${path}/`, '--check'])).toMatchObject({ equal: true, tenants: [{ tenant: 'acme' }, { tenant: 'main' }] })
  const du = await json(['du', path])
  expect(du).toMatchObject({ rows: { events: 11, sessions: 3 }, tenants: [{ tenant: 'acme' }, { tenant: 'main' }] })
  expect(du.bytes.database).toBeGreaterThan(3 * 50_000)
  expect((await ink(['tenants', 'suspend', path, 'acme', '--reason', 'test'])).code).toBe(0)
  expect((await json(['tenants', path])).tenants).toEqual([
    { tenant: 'acme', state: 'suspended', events: 3 },
    { tenant: 'main', state: 'active', events: 9 },
  ])
  expect((await ink(['events', path, '--tenant', 'never'])).code).toBe(3)
  expect(readdirSync(path)).toEqual(['inkfast-folder.db', 'tenant-acme.db', 'tenant-main.db'])
})

test('tail shows what another process appends', async () => {
  const tail = start(['tail', path, '--tenant', 'acme', '--json'])
  const seen: string[] = []
  tail.stdout.setEncoding('utf8').on('data', (text: string) => seen.push(...lines(text)))
  await once(tail.stdout, 'data')
  await using writer = await open(path)
  await writer.tenant('acme').appendAll([{ type: 'a.b', data: 'fresh' }])
  await expect.poll(() => seen.some((line) => line.includes('fresh'))).toBe(true)
  tail.kill('SIGINT')
  await once(tail, 'close')
  expect(tail.exitCode).toBe(0)
})

test('doctor looks at every file, and says which one is wrong', async () => {
  const sound = await ink(['doctor', path])
  expect(sound.code).toBe(0)
  expect(sound.out).toMatch(/✓ files +2 tenants, .* in all/)
  expect(sound.out).toMatch(/✓ journal acme +2 events/)
  copyFileSync(join(path, 'tenant-acme.db'), join(path, 'tenant-other.db'))
  writeFileSync(join(path, 'tenant-empty.db'), '')
  writeFileSync(join(path, 'TENANT.db'), 'x')
  writeFileSync(join(path, 'tenant-x.db.new-0a1b2c3d'), 'x')
  const { code, out } = await ink(['doctor', path])
  expect(code).toBe(1)
  expect(out).toMatch(/✗ schema of tenant-empty\.db +the file is empty/)
  expect(out).toMatch(/✗ journal other .*holds data that does not belong to tenant other/)
  expect(out).toMatch(/✗ journal empty .*is empty/)
  expect(out).toMatch(/! strangers +TENANT\.db is not the file of a tenant/)
  expect(out).toMatch(/! leftovers +1 file /)
  expect(out).toMatch(/✓ journal acme +2 events/)
})

test('migrate shows where the files stand, together', async () => {
  const { code, out } = await ink(['migrate', path])
  expect(code).toBe(0)
  expect(out).toContain('up to date')
  const found = await json(['migrate', path, '--plan'])
  expect(found.found).toBe(found.needed)
  expect((await ink(['migrate', join(path, '..')])).code).not.toBe(0)
})
