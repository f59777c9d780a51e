// What only the file can promise: guards inside the database, the log, other processes, erased bytes.

import { spawn } from 'node:child_process'
import { copyFileSync, existsSync, readFileSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { codeOf, expectSound, later, openIn, tempFile } from '../../../test/support/engines.ts'
import { moduleAt } from '../../../test/support/programs.ts'
import { open } from '../../index.ts'
import { sqliteBackend } from './backend.ts'
import { openDatabase } from './open.ts'
import { writing } from './transaction.ts'

async function storeWithEvents(path: string, count = 5): Promise<void> {
  const store = await open(path)
  const session = await store.session('s')
  for (let i = 0; i < count; i++) await session.append('a.b', { i })
  await store.close()
}

test('the database itself refuses to change, remove, replace or misplace an event', async () => {
  const path = tempFile()
  await storeWithEvents(path)
  const db = new DatabaseSync(path)
  later(() => db.close())
  db.exec('pragma recursive_triggers = on')
  const copy = 'id, at, type, schema, class, actor, session, run, subject, cause, key, payload, salt, digest, hash'
  for (const sql of [
    "update events set payload = '{}' where seq = 2",
    'update events set payload = null where seq = 2',
    'update events set payload = null, salt = null, at = 1 where seq = 2',
    'update events set hash = zeroblob(32), payload = null, salt = null where seq = 2',
    'delete from events where seq = 6',
    'delete from events',
    `insert into events (tenant, seq, ${copy}) select tenant, 9, ${copy} from events where seq = 6`,
    `insert into events (tenant, seq, ${copy}) select tenant, 6, ${copy} from events where seq = 6`,
    `insert or replace into events (tenant, seq, ${copy}) select tenant, 2, ${copy} from events where seq = 6`,
    `replace into events (rowid, tenant, seq, ${copy}) select 2, tenant, 7, ${copy} from events where seq = 6`,
  ]) {
    expect(() => db.exec(sql), sql).toThrow(/inkfast: (events are append-only|an event must follow)/)
  }
  expect(db.prepare('select count(*) as n from events').get()?.n).toBe(6)
})

test('a second process sees every commit of the first, without gap or repeat', async () => {
  const path = tempFile()
  const store = await openIn(path)
  const session = await store.session('s')
  const script = `
    import { open } from ${JSON.stringify(moduleAt(new URL('../../index.ts', import.meta.url)))}
    const store = await open(process.argv[1])
    const seen = []
    console.log('ready')
    for await (const e of store.events({ live: true })) if (seen.push(e.seq) === 301) break
    console.log(JSON.stringify(seen))
    await store.close()`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, path], { stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  child.stdout.on('data', (chunk) => {
    said += chunk
  })
  while (!said.includes('ready')) await new Promise((resolve) => setTimeout(resolve, 10))
  for (let i = 0; i < 30; i++) {
    await Promise.all(Array.from({ length: 10 }, () => session.append('a.b', i)))
    await new Promise((resolve) => setTimeout(resolve, 3))
  }
  await new Promise((resolve) => child.on('exit', resolve))
  expect(JSON.parse(said.split('\n')[1] as string)).toEqual(Array.from({ length: 301 }, (_, i) => i + 1))
})

test("recent() catches up with another process's commits", async () => {
  const path = tempFile()
  const [store, other] = [await openIn(path), await openIn(path)]
  const session = await other.session('s')
  await session.append('a.b', 'from elsewhere')
  await expect.poll(() => store.recent().at(-1)?.data).toBe('from elsewhere')
})

test('two processes that write at once get their turn, and the chain is one', async () => {
  const path = tempFile()
  const stores = await Promise.all([openIn(path), openIn(path), openIn(path)])
  const session = await (stores[0] as NonNullable<(typeof stores)[0]>).session('s')
  await Promise.all(
    stores.map(async (store) => {
      const own = await store.sessions.get(session.id)
      for (let i = 0; i < 60; i++) await Promise.all([own?.append('a.b', i), own?.append('a.c', i)])
    }),
  )
  expect((await stores[0]?.verify())?.events).toBe(361)
  await expectSound(stores[1] as NonNullable<(typeof stores)[1]>)
})

test('a file that stays locked is told so within its deadline, and nothing is written', async () => {
  const path = tempFile()
  await storeWithEvents(path)
  const backend = await sqliteBackend({ path, busyMs: 60 })
  later(() => backend.close())
  const db = new DatabaseSync(path)
  db.exec('begin immediate')
  expect(await codeOf(backend.upkeep.sweepReceipts(0))).toBe('FILE_BUSY')
  db.exec('rollback')
  db.close()
  expect(await backend.upkeep.sweepReceipts(0)).toBe(0)
})

test('a full disk is told so, nothing of the commit is there, and the next one goes on', async () => {
  const path = tempFile()
  await storeWithEvents(path)
  const db = await openDatabase(path, Date.now)
  later(() => db.close())
  const pages = db.get('pragma page_count')?.page_count as number
  db.exec(`pragma max_page_count = ${pages + 2}`)
  const fill = () => {
    for (let i = 0; i < 50; i++) db.run('insert into secrets (name, value) values (?, ?)', `n${i}`, Buffer.alloc(4000))
  }
  expect(await codeOf(writing(db, fill))).toBe('DISK_FULL')
  expect(db.get('select count(*) as n from secrets')?.n).toBe(1)
  db.exec(`pragma max_page_count = ${pages + 1000}`)
  await writing(db, fill)
  expect(db.get('select count(*) as n from secrets')?.n).toBe(51)
})

test('erased payloads are gone from the file and from the log', async () => {
  const path = tempFile()
  const store = await openIn(path)
  const session = await store.session('s', { title: 'canary-title-5a1f' })
  const receipts = []
  for (let i = 0; i < 20; i++) receipts.push(await session.append('a.b', { note: `canary-${i}-77c0ffee` }))
  const onDisk = (text: string) => [path, `${path}-wal`].some((file) => existsSync(file) && readFileSync(file).includes(text))
  expect(onDisk('canary-7-77c0ffee')).toBe(true)
  await store.erase({ seq: receipts[7]?.seq ?? 0, reason: 'test' })
  expect(onDisk('canary-7-77c0ffee')).toBe(false)
  expect(onDisk('canary-8-77c0ffee')).toBe(true)
  await session.delete({ reason: 'test' })
  expect(onDisk('77c0ffee')).toBe(false)
  expect(onDisk('canary-title')).toBe(false)
})

test('a planted secret reaches neither the file nor the log', async () => {
  const path = tempFile()
  const secret = `gh${'p'}_${'A1b2C3d4E5f6G7h8I9j0'.repeat(2).slice(0, 36)}`
  const store = await openIn(path, { redact: { values: ['correct horse battery'] } })
  const session = await store.session('s', { title: `token ${secret}`, metadata: { note: secret } })
  await session.append('tool.called', { arguments: { authorization: `Bearer ${secret}`, text: 'it is correct horse battery staple' } })
  await store.appendAll([{ type: 'a.b', data: JSON.stringify({ password: 'pa55-canary' }) }])
  for (const file of [path, `${path}-wal`]) {
    const bytes = readFileSync(file)
    for (const canary of [secret, 'correct horse battery', 'pa55-canary']) expect(bytes.includes(canary)).toBe(false)
  }
  const open = await openIn(tempFile(), { redact: false })
  await (await open.session('s')).append('a.b', { password: 'pa55-canary' })
  expect(open.recent().at(-1)?.data).toEqual({ password: 'pa55-canary' })
})

test('the log is copied into the file while commits go on, and stays bounded', async () => {
  const path = tempFile()
  const policy = { begin: 50, short: 40, most: 400 }
  const backend = await sqliteBackend({ path, checkpoint: policy })
  const { createStore } = await import('../../kernel/store.ts')
  const { nodeEnvironment } = await import('../../environment.ts')
  const store = await createStore(backend, nodeEnvironment)
  later(() => store.close())
  const session = await store.session('s')
  for (let round = 0; round < 150; round++) await Promise.all(Array.from({ length: 8 }, () => session.append('a.b', 'x'.repeat(1500))))
  const stats = backend.checkpoints()
  expect(stats.passes).toBeGreaterThan(3)
  expect(stats.mostFrames).toBeLessThan(policy.most * 2)
  expect(statSync(`${path}-wal`).size).toBeLessThan(policy.most * 2 * 4120)
  expect((await store.health()).why).not.toContain('the log is not being copied')
  await expectSound(store)
})

test('a copy made after close is a whole store', async () => {
  const path = tempFile()
  await storeWithEvents(path)
  copyFileSync(path, `${path}.copy`)
  const store = await openIn(`${path}.copy`)
  expect(await store.verify()).toMatchObject({ intact: true, events: 6 })
})

test('an erased payload leaves the log as soon as the reader in its way is gone', async () => {
  const path = tempFile()
  const store = await openIn(path)
  const session = await store.session('s')
  const { seq } = await session.append('a.b', { note: 'canary-in-the-way' })
  const reader = new DatabaseSync(path, { readOnly: true })
  reader.exec('begin')
  reader.prepare('select count(*) from events').get()
  await store.erase({ seq, reason: 'test' })
  const onDisk = () => [path, `${path}-wal`].some((file) => existsSync(file) && readFileSync(file).includes('canary-in-the-way'))
  expect(onDisk()).toBe(true)
  reader.close()
  await expect.poll(onDisk).toBe(false)
})
