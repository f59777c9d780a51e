// What is at the path decides what happens, and nothing is ever created or changed by a refusal.

import { spawn } from 'node:child_process'
import { appendFileSync, chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { codeOf, openIn, tempFile, tempFolder } from '../../../test/support/engines.ts'
import { printedAs, projectFor } from '../../../test/support/other-user.ts'
import { unprivileged } from '../../../test/support/postgres-programs.ts'
import { moduleAt } from '../../../test/support/programs.ts'
import { open } from '../../index.ts'
import { pathOf } from '../../open.ts'
import { connect, setPragmas } from './database.ts'
import { checkLibrary, openDatabase } from './open.ts'

const modesIn = (folder: string): Record<string, string> =>
  Object.fromEntries(readdirSync(folder).map((name) => [name, (statSync(join(folder, name)).mode & 0o777).toString(8)]))

// Root may write anywhere, so that permissions are tried as another user.
const ordinary = unprivileged()

test('a missing folder is an error and is not created', async () => {
  const folder = join(tempFolder(), 'nope')
  expect(await codeOf(open(join(folder, 'a.db')))).toBe('FOLDER_MISSING')
  expect(existsSync(folder)).toBe(false)
})

test('a missing file is created, unless it is asked not to be', async () => {
  const path = tempFile()
  expect(await codeOf(open({ url: path, create: false }))).toBe('FILE_MISSING')
  expect(existsSync(path)).toBe(false)
  await (await open(path)).close()
  expect(readdirSync(dirname(path))).toEqual(['agents.db'])
  await (await open({ url: path, create: false })).close()
})

test('a new store is readable by its user alone, with its log, its index and its blobs, and an existing file keeps its mode', async () => {
  const before = process.umask(0o022)
  try {
    const path = tempFile()
    const store = await openIn(path)
    await (await store.session('s')).append('a.b', {})
    await store.blobs.put(new Uint8Array(3))
    expect(modesIn(dirname(path))).toEqual({ 'agents.db': '600', 'agents.db-shm': '600', 'agents.db-wal': '600', 'agents.db.blobs': '700' })
    await store.close()
    chmodSync(path, 0o640)
    const again = await openIn(path)
    await (await again.session('s')).append('a.b', {})
    expect(modesIn(dirname(path))).toMatchObject({ 'agents.db': '640', 'agents.db-shm': '640', 'agents.db-wal': '640' })
  } finally {
    process.umask(before)
  }
})

test("a tenant's new file gets the mode of the folder's own file", async () => {
  const folder = tempFolder()
  const store = await openIn(folder, { layout: 'tenant' })
  const write = async (tenant: string) => (await store.tenant(tenant).session('s')).append('a.b', {})
  await write('one')
  chmodSync(join(folder, 'inkfast-folder.db'), 0o660)
  await write('two')
  expect(modesIn(folder)).toMatchObject({ 'tenant-one.db': '600', 'tenant-two.db': '660' })
})

test('a file that is no database, or cut to nothing, is refused and left alone', async () => {
  for (const [content, code] of [
    ['this is a text file, long enough to be looked at as a database header and refused.'.repeat(20), 'NOT_A_DATABASE'],
    ['short', 'NOT_A_DATABASE'],
    ['', 'FILE_EMPTY'],
  ] as const) {
    const path = tempFile()
    writeFileSync(path, content)
    expect(await codeOf(open(path))).toBe(code)
    expect(readFileSync(path, 'utf8')).toBe(content)
    expect(readdirSync(dirname(path))).toEqual(['agents.db'])
  }
})

test("another application's database is refused and left alone", async () => {
  const path = tempFile()
  const db = new DatabaseSync(path)
  db.exec('create table theirs (x); insert into theirs values (1)')
  db.close()
  const before = readFileSync(path)
  expect(await codeOf(open(path))).toBe('NOT_A_STORE')
  expect(readFileSync(path).equals(before)).toBe(true)
})

test('a newer schema and a changed migration are refused', async () => {
  for (const [sql, code] of [
    ['pragma user_version = 99', 'SCHEMA_NEWER'],
    ['pragma user_version = -1', 'NOT_A_STORE'],
    ["update migrations set checksum = 'other'", 'SCHEMA_CHANGED'],
  ] as const) {
    const path = tempFile()
    await (await open(path)).close()
    const db = new DatabaseSync(path)
    db.exec(sql)
    db.close()
    expect(await codeOf(open(path))).toBe(code)
  }
})

test('a folder in place of a file says what to do', async () => {
  const path = tempFile()
  mkdirSync(path)
  expect(await codeOf(open(path))).toBe('NOT_YET')
  expect(await codeOf(openDatabase('/dev/null', Date.now))).toBe('FILE_DENIED')
})

test('a read-only folder and a read-only file each have their own error', async () => {
  const folder = tempFolder()
  const path = join(folder, 'a.db')
  await (await open(path)).close()
  const { node, entry } = projectFor(ordinary)
  const script = `
    import { open } from ${JSON.stringify(entry)}
    for (const path of process.argv.slice(1)) await open(path).then((s) => (console.log('opened'), s.close()), (e) => console.log(e.code))`
  chmodSync(path, 0o444)
  chmodSync(folder, 0o555)
  const said = await printedAs(ordinary, node, script, path, join(folder, 'new.db'))
  chmodSync(folder, 0o755)
  expect(said.trim().split('\n')).toEqual(['FILE_READ_ONLY', 'FILE_DENIED'])
  expect(readdirSync(folder)).toEqual(['a.db'])
})

test('a store can be read where nothing may be written, and takes no writes', async () => {
  const folder = tempFolder()
  const path = join(folder, 'a.db')
  const store = await open(path)
  await (await store.session('s')).append('a.b', 1)
  await store.close()
  const before = readFileSync(path)
  const { node, entry } = projectFor(ordinary)
  const script = `
    import { open } from ${JSON.stringify(entry)}
    const store = await open({ url: process.argv[1], readOnly: true })
    const { intact, events } = await store.verify()
    const { equal } = await store.rebuild({ check: true })
    const session = await store.session('s')
    const code = await session.append('a.b', 2).catch((e) => e.code)
    console.log(JSON.stringify([intact, events, equal, code, await store.check(), (await store.health()).status]))
    await store.close()`
  chmodSync(path, 0o444)
  chmodSync(folder, 0o555)
  for (const user of ordinary.uid === undefined ? [{}] : [ordinary, {}]) {
    const said = await printedAs(user, node, script, path)
    expect(JSON.parse(said)).toEqual([true, 2, true, 'FILE_READ_ONLY', [], 'ok'])
  }
  chmodSync(folder, 0o755)
  expect(readFileSync(path).equals(before)).toBe(true)
  expect(await codeOf(open({ url: join(folder, 'none.db'), readOnly: true }))).toBe('FILE_MISSING')
})

test('synchronous is set and read back on every open, and a connection that does not hold it is refused', async () => {
  const path = tempFile()
  for (const [durability, value] of [
    ['full', 2],
    ['normal', 1],
    ['full', 2],
  ] as const) {
    const db = await openDatabase(path, Date.now, { durability })
    expect(db.get('pragma synchronous')?.synchronous).toBe(value)
    expect(db.get('pragma journal_mode')?.journal_mode).toBe('wal')
    expect(db.get('pragma recursive_triggers')?.recursive_triggers).toBe(1)
    expect(db.get('pragma secure_delete')?.secure_delete).toBe(1)
    db.close()
  }
  const db = connect(path)
  const deaf = { ...db, exec: () => {}, get: () => ({ synchronous: 1 }) }
  expect(() => setPragmas(deaf, 'full')).toThrow(expect.objectContaining({ code: 'DURABILITY_NOT_HELD' }))
  db.close()
})

test('an SQLite library with the WAL-reset race is refused with the Node to use', () => {
  for (const version of ['3.51.2', '3.50.9', '3.9.99', '0']) {
    expect(() => checkLibrary(version)).toThrow(expect.objectContaining({ code: 'SQLITE_TOO_OLD' }))
  }
  for (const version of ['3.51.3', '3.53.0', '4.0.0', process.versions.sqlite]) checkLibrary(version as string)
})

test('several processes that create the same store at once share one journal', async () => {
  const path = tempFile()
  const script = `
    import { open } from ${JSON.stringify(moduleAt(new URL('../../index.ts', import.meta.url)))}
    const store = await open(process.argv[1])
    const session = await store.session('shared')
    for (let i = 0; i < 40; i++) await session.append('a.b', i)
    await store.close()`
  const children = Array.from({ length: 4 }, () =>
    spawn(process.execPath, ['--input-type=module', '-e', script, path], { stdio: 'inherit' }),
  )
  const codes = await Promise.all(children.map((c) => new Promise((resolve) => c.on('exit', resolve))))
  expect(codes).toEqual([0, 0, 0, 0])
  expect(readdirSync(dirname(path))).toEqual(['agents.db'])
  const store = await openIn(path)
  expect(await store.verify()).toMatchObject({ intact: true, events: 161 })
  expect((await store.rebuild({ check: true })).equal).toBe(true)
})

test('close leaves one file and no log', async () => {
  const path = tempFile()
  const store = await open(path)
  await (await store.session('s')).append('a.b', 'x'.repeat(10_000))
  expect(existsSync(`${path}-wal`)).toBe(true)
  await Promise.all([store.close(), store.close()])
  expect(readdirSync(dirname(path))).toEqual(['agents.db'])
})

test('bytes behind the last page of the file do no harm', async () => {
  const path = tempFile()
  await (await open(path)).close()
  appendFileSync(path, Buffer.alloc(100))
  const store = await openIn(path)
  await (await store.session('s')).append('a.b', 1)
  expect((await store.verify()).intact).toBe(true)
})

test('an address that is no store is refused without telling its password', async () => {
  for (const [url, code] of [
    ['', 'URL_UNKNOWN'],
    ['redis://user:hunter2@host/1', 'URL_UNKNOWN'],
    ['postgres://user:hun#hunter2@host/db', 'URL_UNKNOWN'],
    ['postgres://user:1/hunter2@host/db', 'URL_UNKNOWN'],
    ['postgres://user:hunter2@127.0.0.1:1/db', 'DATABASE_UNREACHABLE'],
    ['a\0b', 'URL_UNKNOWN'],
    ['file://%', 'URL_UNKNOWN'],
    ['mysql://user:p@ss-hunter2@host/db', 'URL_UNKNOWN'],
    ['mysql://user:hun/hunter2@host', 'URL_UNKNOWN'],
    ['file:///x.db?password=hunter2', 'URL_UNKNOWN'],
    ['file:x.db?password=hunter2', 'URL_UNKNOWN'],
    ['sqlite:hunter2.db', 'URL_UNKNOWN'],
  ] as const) {
    await expect(open(url)).rejects.toMatchObject({ code, message: expect.not.stringContaining('hunter2') })
  }
  for (const options of [
    { durability: 'fast' },
    { layout: 'odd' },
    { layout: 'tenant' },
    { payloadBytes: 0 },
    { clock: {} },
    { entropy: {} },
    { redactKey: 'short' },
    { durabilty: 'full' },
    { url: 5 },
    { backend: {} },
    { redact: { keys: 'ssn' } },
    { redact: 5 },
    { lane: { commits: 'x' } },
    { clock: null },
    { entropy: null },
    { logger: 5 },
    { readOnly: true },
    { airGapped: 'yes' },
    { embedder: {} },
  ]) {
    expect(await codeOf(open({ url: ':memory:', ...options } as never))).toBe('OPTION_INVALID')
  }
  expect(await codeOf(open({ url: ':memory:', layout: 'session' }))).toBe('NOT_YET')
})

test('a path that leads nowhere is refused in our words', async () => {
  const folder = tempFolder()
  symlinkSync(join(folder, 'gone.db'), join(folder, 'dangling.db'))
  symlinkSync(join(folder, 'loop.db'), join(folder, 'loop.db'))
  writeFileSync(join(folder, 'file'), 'x')
  for (const name of ['x'.repeat(250), 'x'.repeat(300), `${'y/'.repeat(2500)}a.db`, 'dangling.db', 'loop.db', 'file/a.db']) {
    expect(await codeOf(open(join(folder, name))), name.slice(0, 20)).toMatch(/^(PATH_INVALID|FOLDER_MISSING)$/)
  }
  await (await open(join(folder, `${'z'.repeat(230)}.db`))).close()
  expect(readdirSync(folder).filter((name) => name.includes('.new-'))).toEqual([])
})

test('an empty database of another application is not made into a store', async () => {
  const path = tempFile()
  const db = new DatabaseSync(path)
  db.exec('pragma user_version = 0; vacuum')
  db.close()
  expect(await codeOf(open(path))).toBe('NOT_A_STORE')
})

test('a file: URL without a slash is a path relative to the working folder', () => {
  expect(pathOf('file:my%20store.db')).toBe(join(process.cwd(), 'my store.db'))
  expect(pathOf('file:///srv/my%20store.db')).toBe('/srv/my store.db')
})

test('a backend of your own is opened like any other', async () => {
  const { memoryBackend } = await import('../memory/backend.ts')
  const { nodeEnvironment } = await import('../../environment.ts')
  const store = await open({ backend: memoryBackend(nodeEnvironment) })
  await (await store.session('s')).append('a.b', 1)
  expect((await store.verify()).intact).toBe(true)
  await store.close()
  expect(await codeOf(open({ url: ':memory:', backend: memoryBackend(nodeEnvironment) }))).toBe('OPTION_INVALID')
  expect(await codeOf(open({}))).toBe('URL_UNKNOWN')
})
