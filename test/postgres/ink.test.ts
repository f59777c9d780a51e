// What is written stays written, and is on the disk when it is acknowledged: also where a login or a setting would allow otherwise.

import { expect, test } from 'vitest'
import { postgresBackend } from '../../src/backends/postgres/backend.ts'
import { MAIN, maker } from '../../src/conformance/material.ts'
import { later, openIn, tempDatabase } from '../support/engines.ts'
import { flushesSeen, watchFlushes } from './flushes.ts'
import { asSuperuser } from './logins.ts'

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
