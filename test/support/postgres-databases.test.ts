// Promises that tests rely on when they ask for a database of their own.

import { Client } from 'pg'
import { expect, it } from 'vitest'
import { freshDatabase, preparedDatabase } from './databases.ts'
import { query } from './postgres-database.ts'

it('a fresh database is empty, and gone when it is dropped, whoever is connected', async () => {
  const database = await freshDatabase()
  const client = new Client(database.url)
  client.on('error', () => {})
  await client.connect()
  expect((await client.query("select count(*)::int as tables from pg_tables where schemaname = 'public'")).rows).toEqual([{ tables: 0 }])
  await database.drop()
  await expect(query(database.url, 'select 1')).rejects.toThrow('does not exist')
  await database.drop()
})

it('a prepared database is made once and copied for each who asks', async () => {
  let prepared = 0
  const prepare = async (url: string): Promise<void> => {
    prepared++
    await query(url, 'create table words (word text)')
    await query(url, "insert into words values ('first')")
  }
  const [one, other] = await Promise.all([preparedDatabase(prepare), preparedDatabase(prepare)])
  await query(one.url, "insert into words values ('second')")
  expect(await query(one.url, 'select word from words order by word')).toEqual([{ word: 'first' }, { word: 'second' }])
  expect(await query(other.url, 'select word from words')).toEqual([{ word: 'first' }])
  expect(prepared).toBe(1)
})

it('another preparation has a template of its own, and one that failed says why each time', async () => {
  const plain = await preparedDatabase((url) => query(url, 'create table plain ()').then(() => {}))
  expect(await query(plain.url, 'select count(*)::int as count from plain')).toEqual([{ count: 0 }])
  const broken = () => Promise.reject(new Error('the migration is wrong'))
  await expect(preparedDatabase(broken)).rejects.toThrow('the migration is wrong')
  await expect(preparedDatabase(broken)).rejects.toThrow('the migration is wrong')
})
