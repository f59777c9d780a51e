// A disk that is full refuses what does not fit, definitely; what was acknowledged stays, and with room there is again, writing goes on.

import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { InkError, type Receipt } from '../../src/index.ts'
import { expectSound, later, openIn, tempDatabase } from '../support/engines.ts'
import { createDatabase } from '../support/postgres-database.ts'
import { unprivileged } from '../support/postgres-programs.ts'
import { startServer } from '../support/postgres-server.ts'
import { asSuperuser } from './logins.ts'
import { refused } from './secrets.ts'

/** A disk of four megabytes that belongs to the user of the server; undefined where we may not make one. */
function smallDisk(): string | undefined {
  const { uid, gid } = unprivileged()
  if (process.platform !== 'linux' || uid === undefined) return undefined
  const folder = mkdtempSync(join(tmpdir(), 'inkfast-disk-'))
  const options = `size=4m,mode=0700,uid=${uid},gid=${gid}`
  const made = spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder]).status === 0
  later(() => {
    if (made) spawnSync('umount', ['--lazy', folder])
    rmdirSync(folder)
  })
  return made ? folder : undefined
}

const run = (url: string, sql: string) => asSuperuser(url, (superuser) => superuser.query(sql))

test('a server that says its disk is full is told as such, and nothing of the commit is saved', async () => {
  const url = await tempDatabase()
  const store = await openIn(url)
  const session = await store.session('s')
  const { seq } = await store.head()
  await run(
    url,
    `create function public.full() returns trigger language plpgsql as
       $$ begin raise exception 'could not extend file: No space left on device' using errcode = 'disk_full'; end $$;
     create trigger full_disk before insert on inkfast.events for each statement execute function public.full()`,
  )
  expect(await refused(session.append('task.done', {}), 'DATABASE_FULL')).toMatch(/No space left.*Free some space/)
  expect((await store.head()).seq).toBe(seq)
  await run(url, 'drop trigger full_disk on inkfast.events')
  expect((await session.append('task.done', {})).seq).toBe(seq + 1)
})

test('a disk that really is full', async ({ skip }) => {
  const disk = smallDisk()
  if (disk === undefined) return skip('only root may make a small disk')
  const server = await startServer()
  later(() => server.stop())
  const { url } = await createDatabase(server.url)
  const store = await openIn(url)
  const session = await store.session('s')
  await asSuperuser(url, async (superuser) => {
    await superuser.query(`create tablespace small location '${disk}'`)
    await superuser.query('alter table inkfast.events set tablespace small')
  })
  const receipts: Receipt[] = []
  // What cannot be made smaller: random digits.
  const append = async () => receipts.push(await session.append('task.done', { text: randomBytes(60_000).toString('base64') }))
  let refusal: unknown
  while (refusal === undefined && receipts.length < 200)
    refusal = await append().then(
      () => undefined,
      (error: unknown) => error,
    )
  expect(refusal).toBeInstanceOf(InkError)
  expect(refusal).toMatchObject({ code: 'DATABASE_FULL' })
  expect(receipts.length).toBeGreaterThan(5)
  const { seq } = await store.head()
  expect(seq).toBe(receipts.length + 1)
  expect(store.stats().resent).toBe(0)
  await asSuperuser(url, (superuser) => superuser.query('alter table inkfast.events set tablespace pg_default'))
  await append()
  expect((await store.head()).seq).toBe(seq + 1)
  expect(await store.verify({ receipts })).toMatchObject({ intact: true })
  await expectSound(store)
})
