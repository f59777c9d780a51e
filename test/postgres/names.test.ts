// Names in our statements mean what they mean to the server, whatever others have put into its schemas.

import { expect, test } from 'vitest'
import { backendOn } from '../../src/backends/postgres/backend.ts'
import { openOver } from '../../src/backends/postgres/open.ts'
import { pooled } from '../../src/backends/postgres/pool.ts'
import { open } from '../../src/index.ts'
import { freshDatabase } from '../support/databases.ts'
import { codeOf, later, openIn, tempDatabase } from '../support/engines.ts'
import { asSuperuser, makeLogin } from './logins.ts'

// It fits better than the server's own, which takes any array: whoever calls it by its bare name calls this one.
const poison = `
  create function public.cardinality(integer[]) returns integer language plpgsql as $$ begin raise exception 'poisoned'; end $$`

test('a function that fits better than the server’s own is not called', async () => {
  const url = await tempDatabase()
  await asSuperuser(url, async (client) => {
    await client.query(poison)
    // The control: it is there to be called.
    await expect(client.query('select cardinality(array[1, 2])')).rejects.toThrow('poisoned')
  })
  const store = await openIn(url)
  const session = await store.session('s')
  const events = [1, 2].map((data) => ({ session: session.id, type: 'a.b', data }))
  const receipts = await store.appendAll(events, { key: 'k' })
  expect(await store.appendAll(events, { key: 'k' })).toEqual(receipts)
  expect(await store.verify()).toMatchObject({ intact: true })
})

test('a type of the same name in a temporary schema is not taken for the server’s', async () => {
  const url = await tempDatabase()
  const real = pooled({ url, connections: 1 })
  const poisoned = await real.acquire()
  await poisoned.script('create domain pg_temp.bytea as integer')
  // The control: on this very connection, which is the only one, the bare name is the wrong type.
  await expect(poisoned.run([{ text: `select '\\x00'::bytea` }], 5000)).rejects.toThrow('invalid input syntax for type integer')
  poisoned.release()
  const { listen: _, ...alone } = real
  const store = await open({ backend: backendOn(await openOver({ url }, alone), { url }) })
  later(() => store.close())
  const session = await store.session('s')
  await session.append('a.b', 1)
  expect((await store.page({ session: session.id })).items).toHaveLength(2)
})

test('a schema inkfast that somebody else made is not read, and nothing in it is called', async () => {
  const { url } = await freshDatabase()
  const { name } = await makeLogin(url)
  await asSuperuser(url, async (client) => {
    await client.query(`create schema inkfast authorization ${name}`)
    await client.query(`create function inkfast.trap() returns integer language plpgsql as $$ begin raise exception 'trapped'; end $$`)
    await client.query(`create view inkfast.migrations as select inkfast.trap() as number`)
    await expect(client.query('select * from inkfast.migrations')).rejects.toThrow('trapped')
  })
  const refusal = open(url)
  await expect(refusal).rejects.toThrow(/its schema inkfast belongs to/)
  expect(await codeOf(refusal)).toBe('DATABASE_UNSUITABLE')
})

test('receipts carry their hash with any bytea_output', async () => {
  const url = await tempDatabase()
  const name = new URL(url).pathname.slice(1)
  await asSuperuser(url, (client) => client.query(`alter database ${name} set bytea_output = 'escape'`))
  const store = await openIn(url)
  const { hash } = await (await store.session('s')).append('a.b', 1)
  expect(hash).toMatch(/^[0-9a-f]{64}$/)
  expect(await store.verify()).toMatchObject({ intact: true, head: { hash } })
})
