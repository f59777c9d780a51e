// Several processes, several writers, threads and failures on one file: each gets its turn or is told why not.

import { spawn } from 'node:child_process'
import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { codeOf, expectSound, later, openIn, tempFile } from '../../../test/support/engines.ts'
import { moduleAt } from '../../../test/support/programs.ts'
import { rounds } from '../../../test/support/rounds.ts'
import { open } from '../../index.ts'
import { sqliteBackend } from './backend.ts'
import { openDatabase } from './open.ts'
import { writing } from './transaction.ts'

async function storeWithEvents(path: string): Promise<void> {
  const store = await open(path)
  const session = await store.session('s')
  for (let i = 0; i < 5; i++) await session.append('a.b', { i })
  await store.close()
}

test('a change of a session by another process is noticed by the guard, not by remembered state', async () => {
  const path = tempFile()
  const [ours, theirs] = [await openIn(path), await openIn(path)]
  const session = await ours.session('s')
  await session.append('a.b', 1)
  const same = await theirs.session('s')
  await same.archive()
  expect(await codeOf(session.append('a.b', 2))).toBe('SESSION_ARCHIVED')
  await same.reopen()
  await session.append('a.b', 3)
  await same.delete({ reason: 'test' })
  const head = await ours.head()
  expect(await codeOf(session.append('a.b', { private: 'text' }))).toBe('SESSION_DELETED')
  expect(await codeOf(session.append('a.b', { private: 'text' }, { key: 'k' }))).toBe('SESSION_DELETED')
  expect(await ours.head()).toEqual(head)
  await expectSound(ours)
})

test('three processes that contend for one row all end well', async () => {
  const path = tempFile()
  await (await openIn(path)).session('s')
  const script = `
    import { open } from ${JSON.stringify(moduleAt(new URL('../../index.ts', import.meta.url)))}
    const store = await open(process.argv[1])
    const session = await store.session('s')
    for (let i = 0; i < ${rounds(40, 120)}; i++) await session.rename(process.argv[2] + i)
    await store.close()`
  const children = ['a', 'b', 'c'].map((who) =>
    spawn(process.execPath, ['--input-type=module', '-e', script, path, who], { stdio: 'inherit' }),
  )
  expect(await Promise.all(children.map((c) => new Promise((resolve) => c.on('exit', resolve))))).toEqual([0, 0, 0])
  await expectSound(await openIn(path))
})

test('a tenant that is suspended is refused at once', async () => {
  const path = tempFile()
  await storeWithEvents(path)
  const store = await openIn(path)
  const session = await store.session('s')
  const db = new DatabaseSync(path)
  db.exec("update heads set state = 'suspended'")
  db.close()
  expect(await codeOf(session.append('a.b', 1))).toBe('TENANT_CLOSED')
})

test('every stamp and every indexed column of a row is compared with the fold', async () => {
  const path = tempFile()
  await storeWithEvents(path)
  const store = await openIn(path)
  const db = new DatabaseSync(path)
  later(() => db.close())
  for (const sql of ['born = 9', 'revision = 9', "state = 'archived'", "owner = 'eve'"]) {
    db.exec(`update sessions set ${sql}`)
    expect(
      (await store.rebuild({ check: true })).differences.map((d) => d.table),
      sql,
    ).toEqual(['sessions'])
    expect((await store.rebuild()).equal).toBe(false)
    expect((await store.rebuild({ check: true })).equal, sql).toBe(true)
  }
})

test('a flush that failed leaves the outcome unknown, a full disk does not', async () => {
  const path = tempFile()
  const db = await openDatabase(path, Date.now)
  later(() => db.close())
  for (const [errcode, code] of [
    [1034, 'OUTCOME_UNKNOWN'],
    [13, 'DISK_FULL'],
  ] as const) {
    const failing = {
      ...db,
      run: (sql: string) => {
        if (sql === 'commit') throw Object.assign(new Error('disk'), { errcode })
        return db.run(sql)
      },
    }
    expect(await codeOf(writing(failing, () => 1))).toBe(code)
  }
})

test('an unexpected error in the middle of a batch fails its own commit and no other', async () => {
  const path = tempFile()
  const store = await openIn(path)
  const session = await store.session('s')
  const db = new DatabaseSync(path)
  db.exec("create trigger choke before insert on events when new.type = 'bad.one' begin select raise(abort, 'choked'); end")
  db.close()
  const results = await Promise.allSettled(['good.one', 'bad.one', 'good.two'].map((type) => session.append(type, 1)))
  expect(results.map((r) => (r.status === 'rejected' ? r.reason.code : 'ok'))).toEqual(['ok', 'BACKEND_FAILED', 'ok'])
  expect((await store.verify()).events).toBe(3)
})

test('short-lived writers do not let the log grow while someone else keeps the file open', async () => {
  const path = tempFile()
  await openIn(path)
  for (let i = 0; i < 60; i++) {
    const store = await open(path)
    const session = await store.session('s')
    await Promise.all(Array.from({ length: 6 }, () => session.append('a.b', 'x'.repeat(20_000))))
    await store.close()
  }
  expect(statSync(`${path}-wal`).size).toBeLessThan(12 * 1024 * 1024)
})

test('several writers outside the lane take turns', async () => {
  const store = await openIn(tempFile())
  const session = await store.session('s')
  await Promise.all([store.maintain(), session.append('a.b', 1), store.maintain(), session.append('a.b', 2), store.maintain()])
  await expectSound(store)
})

test('pages are checked while the log is copied, and neither takes the other for its answer', async () => {
  const backend = await sqliteBackend({ path: tempFile(), checkpoint: { begin: 20, short: 10, most: 400 } })
  const store = await open({ backend })
  later(() => store.close())
  const session = await store.session('s')
  for (let i = 0; i < 20; i++) {
    const appended = Array.from({ length: 10 }, () => session.append('a.b', 'x'.repeat(3000)))
    expect(await store.check()).toEqual([])
    await Promise.all(appended)
  }
  // Of the backend alone: how long a write took is the machine's affair.
  expect(await backend.upkeep.health()).toMatchObject({ ok: true, why: [] })
})

test('a store that is closed stays closed, and takes no one with it', async () => {
  const store = await open(tempFile())
  const session = await store.session('s')
  const racing = [
    session.append('a.b', 1),
    store.verify(),
    store.erase({ seq: 1, reason: 'x' }),
    session.delete({ reason: 'x' }),
    store.rebuild({ check: true }),
  ]
  const closing = store.close()
  for (const result of await Promise.allSettled(racing))
    if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'STORE_CLOSED' })
  await closing
  expect(() => store.tenant('acme')).toThrow(expect.objectContaining({ code: 'STORE_CLOSED' }))
})

test('when the store stops in the middle of a batch that is taken apart, nobody is told that a saved commit was not', async () => {
  const path = tempFile()
  const store = await open({ backend: await sqliteBackend({ path, busyMs: 50 }) })
  later(() => store.close())
  const session = await store.session('s')
  const db = new DatabaseSync(path)
  db.exec("create trigger choke before insert on events when new.type = 'bad.one' begin select raise(abort, 'choked'); end")
  const appends = ['good.one', 'bad.one', 'good.two'].map((type) => session.append(type, 1))
  // The lock is taken between two commits of the batch, as another process would take it.
  const locking = setInterval(() => {
    try {
      db.exec('begin immediate')
      clearInterval(locking)
      setTimeout(() => db.exec('rollback'), 200)
    } catch {
      // Not our turn yet.
    }
  }, 0)
  const results = await Promise.allSettled(appends)
  clearInterval(locking)
  await new Promise((resolve) => setTimeout(resolve, 250))
  db.close()
  const there = new Set<string>()
  for await (const e of store.events()) there.add(e.type)
  results.forEach((result, i) => {
    const type = ['good.one', 'bad.one', 'good.two'][i] as string
    if (result.status === 'fulfilled') expect(there.has(type)).toBe(true)
    else if (result.reason.kind !== 'unknown') expect(there.has(type)).toBe(false)
  })
  await expectSound(store)
})

test('a waiting check is told when the store closes', async () => {
  const store = await open(tempFile())
  await store.session('s')
  const checks = [store.check(), store.check()].map((c) => codeOf(c))
  await store.close()
  for (const code of await Promise.all(checks)) expect(['no error', 'STORE_CLOSED']).toContain(code)
})
