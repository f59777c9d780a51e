// Many files in one folder, few of them open: made at once by several, closed when others are wanted, held while they are in use.

import { spawn } from 'node:child_process'
import { linkSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { codeOf, expectSound, later, openIn, tempFolder } from '../../../test/support/engines.ts'
import { moduleAt } from '../../../test/support/programs.ts'
import { maker } from '../../conformance/material.ts'
import type { Store } from '../../index.ts'
import { tenantId } from '../../model/ids.ts'
import type { Backend } from '../../ports/backend.ts'
import { type FolderOptions, folderBackend } from './folder.ts'
import { STORE_FILE, tenantFile } from './tenant-files.ts'

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

test('a file that another process creates first is the one that counts', async () => {
  const [folder, elsewhere] = [tempFolder(), tempFolder()]
  const theirs = await backendIn(elsewhere)
  await theirs.commit([make.commit(acme)])
  await theirs.close()
  let calls = Number.NEGATIVE_INFINITY
  const backend = await backendIn(folder, {
    now: () => {
      // The second time is between the look, which found no file, and giving ours its name.
      if (++calls === 2) linkSync(join(elsewhere, tenantFile(acme)), join(folder, tenantFile(acme)))
      return 1000
    },
  })
  calls = 0
  const [outcome] = await backend.commit([make.commit(acme)])
  expect(calls).toBeGreaterThan(2)
  expect(outcome).toMatchObject({ ok: true, repeated: false, receipts: [{ seq: 2 }] })
  expect(filesIn(folder).filter((name) => name.includes('.new-'))).toEqual([])
})

test('processes that write to the same new tenants at once write one chain each', async () => {
  const folder = tempFolder()
  await (await openFolder(folder)).close()
  const script = `
    import { open } from ${JSON.stringify(moduleAt(new URL('../../index.ts', import.meta.url)))}
    const store = await open(process.argv[1])
    for (let i = 0; i < 8; i++) await store.tenant('t' + i).appendAll([{ type: 'a.b', data: process.argv[2] }])
    await store.close()`
  const children = ['a', 'b', 'c'].map((who) =>
    spawn(process.execPath, ['--input-type=module', '-e', script, folder, who], { stdio: 'inherit' }),
  )
  expect(await Promise.all(children.map((c) => new Promise((resolve) => c.on('exit', resolve))))).toEqual([0, 0, 0])
  const store = await openFolder(folder)
  for (let i = 0; i < 8; i++) {
    const { items } = await store.tenant(`t${i}`).page()
    expect(items.map((e) => e.data).sort()).toEqual(['a', 'b', 'c'])
  }
  expect(filesIn(folder)).toHaveLength(9)
  await expectSound(store)
})

test('no more files are open than may be, except those in use', async () => {
  const folder = tempFolder()
  const backend = await backendIn(folder, { openFiles: 3 })
  const tenants = Array.from({ length: 12 }, (_, i) => tenantId(`t${i}`))
  // The log of a file is there as long as someone has it open.
  const opened = () => readdirSync(folder).filter((name) => name.endsWith('.db-wal') && name !== `${STORE_FILE}-wal`)
  const writeAll = async (rounds: number) => {
    for (let round = 0; round < rounds; round++) for (const tenant of tenants) await backend.commit([make.commit(tenant)])
  }
  await writeAll(2)
  await expect.poll(() => opened().length).toBe(3)
  let woken = 0
  const stop = backend.wakeups.watch(tenants[0] as never, () => woken++)
  const snapshot = await backend.upkeep.snapshot(tenants[1] as never)
  await writeAll(2)
  await expect.poll(() => opened().length).toBe(3)
  expect(opened()).toEqual(expect.arrayContaining(['tenant-t0.db-wal', 'tenant-t1.db-wal']))
  expect(woken).toBeGreaterThanOrEqual(2)
  expect((await snapshot.journal.head(tenants[1] as never)).seq).toBe(2)
  // All at once: every one of them is in use, and all of them are served.
  const outcomes = await backend.commit(tenants.map((tenant) => make.commit(tenant)))
  expect(outcomes.every((outcome) => outcome.ok && outcome.receipts[0]?.seq === 5)).toBe(true)
  stop()
  await snapshot.close()
  await expect.poll(() => opened().length).toBe(3)
  await backend.close()
  expect(opened()).toEqual([])
})

test('one thread copies the logs of all files, and leaves those that are closed', async () => {
  const folder = tempFolder()
  const backend = await backendIn(folder, { openFiles: 2, checkpoint: { begin: 20, short: 10, most: 200 } })
  const tenants = Array.from({ length: 6 }, (_, i) => tenantId(`t${i}`))
  const payload = JSON.stringify('x'.repeat(20_000))
  for (let round = 0; round < 10; round++) {
    // Enough for the log to be looked at, and copied, with every batch.
    const batch = tenants.flatMap((tenant) => make.commits(tenant, 12, () => ({ payload })))
    expect((await backend.commit(batch)).every((outcome) => outcome.ok)).toBe(true)
  }
  expect(await backend.upkeep.health()).toEqual({ ok: true, ready: true, why: [] })
  const logs = () => readdirSync(folder).filter((name) => /^tenant-.*-wal$/.test(name))
  // A thread that kept a closed file open would keep its log there.
  await expect.poll(() => logs().length).toBe(2)
  for (const name of logs()) expect(statSync(join(folder, name)).size, name).toBeLessThan(400 * 4200)
  expect(await backend.upkeep.check()).toEqual([])
  expect((await backend.upkeep.measure()).rows.events).toBe(720)
  await backend.close()
  expect(readdirSync(folder).filter((name) => /-(wal|shm)$/.test(name))).toEqual([])
})

test('a tail of a tenant nobody has written to sees its first event, from this process or another', async () => {
  const folder = tempFolder()
  const [one, two] = [await openFolder(folder), await openFolder(folder)]
  for (const [tenant, writer] of [
    ['acme', one],
    ['ACME', two],
  ] as const) {
    const tail = one.tenant(tenant).events({ live: true })
    const next = tail.next()
    await new Promise((resolve) => setTimeout(resolve, 30))
    await writer.tenant(tenant).appendAll([{ type: 'a.b', data: tenant }])
    expect((await next).value).toMatchObject({ seq: 1, data: tenant })
    await writer.tenant(tenant).appendAll([{ type: 'a.b', data: 2 }])
    expect((await tail.next()).value).toMatchObject({ seq: 2 })
    await tail.return()
  }
})

test('more tenants than files can be open are written, read, verified and closed', async () => {
  const folder = tempFolder()
  const store = await openFolder(folder)
  const ids = Array.from({ length: 90 }, (_, i) => `t${i}`)
  await Promise.all(ids.map(async (id) => (await store.tenant(id).session('s')).append('a.b', id)))
  expect(await store.tenants()).toHaveLength(90)
  for (const id of ids) expect((await store.tenant(id).page()).items[1]?.data).toBe(id)
  expect(readdirSync(folder).filter((name) => name.endsWith('-wal')).length).toBeLessThan(90)
  await expectSound(store)
  expect(await store.maintain()).toMatchObject({ receiptsForgotten: 0, stateExpired: 0 })
})

test('a closed folder answers nothing', async () => {
  const folder = tempFolder()
  const backend = await folderBackend({ path: folder })
  await backend.commit([make.commit(acme)])
  await backend.close()
  await backend.close()
  for (const call of [
    backend.commit([make.commit(acme)]),
    backend.commit([make.commit(ACME)]),
    backend.journal.head(acme),
    backend.journal.tenants(),
    backend.upkeep.snapshot(acme),
  ])
    expect(await codeOf(call)).toBe('STORE_CLOSED')
})
