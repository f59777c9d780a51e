// What is written stays written, and is on the disk when it is acknowledged: also where a login or a setting would allow otherwise.

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { postgresBackend } from '../../src/backends/postgres/backend.ts'
import { migrateDatabase } from '../../src/backends/postgres/schema.ts'
import { MAIN, maker } from '../../src/conformance/material.ts'
import { open } from '../../src/index.ts'
import { codeOf, later, openIn, tempDatabase } from '../support/engines.ts'
import { flushesSeen, watchFlushes } from './flushes.ts'
import { asSuperuser, makeLogin } from './logins.ts'
import { keyOfWall } from './tenants.ts'

test.each([
  `update inkfast.events set payload = '"other"'`,
  `update inkfast.events set type = 'other.type', payload = null, salt = null`,
  'update inkfast.events set payload = null',
  'delete from inkfast.events',
  'truncate inkfast.events',
])('an event is changed by nobody, a superuser included: %s', async (sql) => {
  const url = await tempDatabase()
  const store = await openIn(url)
  await (await store.session('s')).append('a.b', { text: 'kept' })
  await expect(asSuperuser(url, (superuser) => superuser.query(sql))).rejects.toThrow('append-only')
  expect(await store.verify()).toMatchObject({ intact: true, events: 2 })
})

const copyTo = (seqs: string): string => `
  insert into inkfast.events select (jsonb_populate_record(e, jsonb_build_object('seq', s))).*
  from inkfast.events e, unnest(array[${seqs}]) s where e.seq = 2`

test.each([
  ['beyond the next place', copyTo('9')],
  ['in the next place, without a head', copyTo('5')],
  ['with a gap between them', copyTo('5, 7')],
  ['beyond the next place, with a head', `with moved as (update inkfast.heads set seq = 9) ${copyTo('9')}`],
])('an event is inserted by nobody, a superuser included, %s', async (_, sql) => {
  const url = await tempDatabase()
  const store = await openIn(url)
  const session = await store.session('s')
  for (let n = 2; n <= 4; n++) await session.append('a.b', { n })
  await expect(asSuperuser(url, (superuser) => superuser.query(sql))).rejects.toThrow('only a commit of a node')
  await session.append('a.b', { n: 5 })
  expect(await store.verify()).toMatchObject({ intact: true, events: 5 })
})

test('the check of a store without the guard finds a misplaced event, and the documented repair removes it', async () => {
  const url = await tempDatabase()
  const store = await openIn(url)
  const session = await store.session('s')
  for (let n = 2; n <= 4; n++) await session.append('a.b', { n })
  expect(await store.check()).toEqual([])
  await asSuperuser(url, async (superuser) => {
    await superuser.query('alter table inkfast.events disable trigger events_by_commit')
    await superuser.query(copyTo('9'))
    await superuser.query('alter table inkfast.events enable trigger events_by_commit')
  })
  expect(await store.check()).toEqual([expect.stringContaining('tenant main has its head at seq 4, but holds 5 events up to seq 9')])
  expect((await store.verify()).problems).toContainEqual(
    expect.objectContaining({ seq: 9, reason: expect.stringContaining('beyond the head') }),
  )
  const repair = sqlBlock('docs/guide/operating-postgres.md', 'Events beyond the head').replaceAll('acme', 'main')
  await asSuperuser(url, (superuser) => superuser.query(repair))
  expect(await store.check()).toEqual([])
  for (let n = 5; n <= 9; n++) await session.append('a.b', { n })
  expect(await store.verify()).toMatchObject({ intact: true, events: 9 })
})

/** The first SQL block below a heading of a page. */
function sqlBlock(page: string, heading: string): string {
  const text = readFileSync(page, 'utf8').split(`## ${heading}\n`)[1] ?? ''
  return /```sql\n([\s\S]*?)```/.exec(text)?.[1] ?? ''
}

test('a trigger that was dropped or turned off is found by check and refused by open, and migrate restores it', async () => {
  for (const damage of [
    'drop trigger events_stay on inkfast.events',
    'alter table inkfast.events disable trigger events_remain',
    `create or replace trigger events_stay before update or delete on inkfast.events for each row when (old.seq < 0)
       execute function inkfast.events_stay()`,
    'drop trigger events_by_commit on inkfast.events',
  ]) {
    const url = await tempDatabase()
    const store = await openIn(url)
    await (await store.session('s')).append('a.b', { text: 'kept' })
    expect(await store.check()).toEqual([])
    await asSuperuser(url, (superuser) => superuser.query(damage))
    expect(await store.check(), damage).toEqual([expect.stringMatching(/^the trigger events_\w+ is missing or turned off/)])
    expect(await codeOf(open(url)), damage).toBe('GUARDS_MISSING')
    // Reading remains possible, to find out what was changed.
    expect(await (await openIn(url, { readOnly: true })).verify()).toMatchObject({ intact: true })
    expect((await migrateDatabase(url)).guardedAgain).toEqual([expect.stringMatching(/^the trigger events_/)])
    expect(await (await openIn(url)).check()).toEqual([])
  }
})

test('health says whether the login has more rights than a node needs', async () => {
  const url = await tempDatabase()
  expect(await (await openIn(url)).health()).toEqual({ status: 'ok', ready: true, why: [], login: 'powerful' })
  const { url: node } = await makeLogin(url, { roles: ['inkfast_app'] })
  const tenantKey = await asSuperuser(url, keyOfWall)
  expect(await (await openIn(node, { tenantKey })).health()).toMatchObject({ login: 'restricted' })
})

test('verify names the event that was changed after somebody took the guard away', async () => {
  const url = await tempDatabase()
  const store = await openIn(url)
  await (await store.session('s')).append('a.b', { text: 'kept' })
  await asSuperuser(url, async (superuser) => {
    await superuser.query('alter table inkfast.events disable trigger all')
    await superuser.query(`update inkfast.events set payload = '{"text":"lied"}' where seq = 2`)
  })
  expect(await store.verify()).toMatchObject({ intact: false, brokenAt: 2 })
})

test.each([
  ['full', 'on'],
  ['normal', 'off'],
] as const)('with durability %s a commit is flushed as promised, whatever the server has as its default', async (durability, wanted) => {
  const url = await tempDatabase()
  await watchFlushes(url, 'events', wanted)
  const backend = await postgresBackend({ url, durability })
  later(() => backend.close())
  await backend.commit([maker().commit(MAIN)])
  expect(await flushesSeen(url)).toEqual([wanted])
})
