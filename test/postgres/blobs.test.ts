// Blobs in a database: one round trip each, flushed like commits, found by their key, whatever the server has as its settings.

import { createHash } from 'node:crypto'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { backendOn, postgresBackend } from '../../src/backends/postgres/backend.ts'
import { get, has } from '../../src/backends/postgres/blobs.ts'
import type { Connection, Connections } from '../../src/backends/postgres/connections.ts'
import { enter } from '../../src/backends/postgres/database.ts'
import { openOver } from '../../src/backends/postgres/open.ts'
import { pooled } from '../../src/backends/postgres/pool.ts'
import { MAIN } from '../../src/model/ids.ts'
import type { Backend } from '../../src/ports/backend.ts'
import { later, tempDatabase } from '../support/engines.ts'
import { flushesSeen, watchFlushes } from './flushes.ts'
import { asSuperuser } from './logins.ts'

const bytes = Uint8Array.from({ length: 70_000 }, (_, i) => i)
const digest = createHash('sha256').update(bytes).digest('hex')

/** A backend over connections that are looked at, or meddled with, at every round trip. */
async function backendOver(url: string, run: (connection: Connection) => Connection['run']): Promise<Backend> {
  const real = pooled({ url })
  const connections: Connections = {
    ...real,
    acquire: async () => {
      const connection = await real.acquire()
      return { ...connection, run: run(connection) }
    },
  }
  const backend = backendOn(await openOver({ url }, connections), { url })
  later(() => backend.close())
  return backend
}

test.each([
  ['full', 'on'],
  ['normal', 'off'],
] as const)('with durability %s a blob is flushed as a commit is, whatever the server has as its default', async (durability, wanted) => {
  const url = await tempDatabase()
  await watchFlushes(url, 'blobs', wanted)
  const backend = await postgresBackend({ url, durability })
  later(() => backend.close())
  await backend.blobs.put(MAIN, digest, bytes)
  expect(await flushesSeen(url)).toEqual([wanted])
})

test('putting, getting and asking take one round trip each', async () => {
  let trips = 0
  const backend = await backendOver(await tempDatabase(), (connection) => (steps, timeoutMs) => {
    trips++
    return connection.run(steps, timeoutMs)
  })
  const tripsOf = async (work: () => Promise<unknown>): Promise<number> => {
    trips = 0
    await work()
    return trips
  }
  expect(await tripsOf(() => backend.blobs.put(MAIN, digest, bytes))).toBe(1)
  expect(await tripsOf(() => backend.blobs.get(MAIN, digest, 0))).toBe(1)
  expect(await tripsOf(() => backend.blobs.has(MAIN, [digest, 'ab'.repeat(32)]))).toBe(1)
})

test('a blob whose reply was lost is put again, and is there once', async () => {
  const url = await tempDatabase()
  let lose = 0
  const backend = await backendOver(url, (connection) => async (steps, timeoutMs) => {
    const answer = await connection.run(steps, timeoutMs)
    if (lose-- > 0) throw new Error('the connection broke before the reply came')
    return answer
  })
  lose = 2
  await backend.blobs.put(MAIN, digest, bytes)
  expect((await backend.blobs.get(MAIN, digest, 0))?.body).toEqual(bytes)
  const { rows } = await asSuperuser(url, (superuser) => superuser.query('select count(*)::integer as n from inkfast.blobs'))
  expect(rows).toEqual([{ n: 1 }])
  // And when no reply ever comes, it is not said to be there.
  lose = 1000
  await expect(backend.blobs.put(MAIN, digest, bytes)).rejects.toMatchObject({ code: 'DATABASE_UNREACHABLE' })
})

test('bytes are the same however the server writes them', async () => {
  const url = await tempDatabase()
  await asSuperuser(url, (superuser) => superuser.query(`alter database ${new URL(url).pathname.slice(1)} set bytea_output = 'escape'`))
  const backend = await postgresBackend({ url })
  later(() => backend.close())
  await backend.blobs.put(MAIN, digest, bytes)
  expect((await backend.blobs.get(MAIN, digest, 0))?.body).toEqual(bytes)
})

test('blobs are looked up by their key alone, also while there are none', async () => {
  const url = await tempDatabase()
  const client = new Client(url)
  await client.connect()
  later(() => client.end())
  const planOf = async (text: string, ...values: readonly unknown[]): Promise<string> => {
    await client.query('begin; set local role inkfast_app')
    await client.query(enter('').text.replace(/, inkfast.*/, ''))
    const { rows } = await client.query({ text: `explain (costs off) ${text}`, values: [...values] })
    await client.query('rollback')
    return rows.map((row) => row['QUERY PLAN']).join('\n')
  }
  const byKey = /using blobs_pkey on blobs[\s\S]*Index Cond: .*digest >= .*digest <= /
  const look = async () => {
    for (const plan of [await planOf(get, digest, 0), await planOf(has, [digest])]) expect(plan).toMatch(byKey)
  }
  await look()
  await client.query(
    `insert into inkfast.blobs select 'acme', encode(sha256(n::text::bytea), 'hex'), 1, 1, 'database', n::text, 'present', 1, 0 from generate_series(1, 20000) n`,
  )
  await client.query('analyze')
  await look()
  // The control: what is asked by something else goes through everything that the tenant has.
  expect(await planOf('select digest from inkfast.blobs where bytes = $1', 5)).not.toMatch(byKey)
})
