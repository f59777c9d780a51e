// What is asked for by an index is answered from it: no list sorts a tenant's rows, however many there are.

import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { enter } from '../../src/backends/postgres/database.ts'
import { pageStep } from '../../src/backends/postgres/journal.ts'
import { listStep } from '../../src/backends/postgres/rows.ts'
import { maker } from '../../src/conformance/material.ts'
import { open } from '../../src/index.ts'
import { type EventId, type Id, MAIN, type RunId, type SessionId } from '../../src/model/ids.ts'
import { encodeCursor } from '../../src/model/order.ts'
import { type ColumnValue, tableNames, tableOf } from '../../src/model/tables.ts'
import type { PageQuery } from '../../src/ports/journal.ts'
import { preparedDatabase } from '../support/databases.ts'
import { openIn, tempDatabase } from '../support/engines.ts'
import { asSuperuser } from './logins.ts'
import { until } from './until.ts'
import { watched } from './watched.ts'

let client: Client

beforeAll(async () => {
  const { url } = await preparedDatabase(async (fresh) => (await open(fresh)).close())
  client = new Client(url)
  await client.connect()
  await client.query(`
    insert into inkfast.sessions (tenant, id, born, revision, state, owner, body)
    select 'acme', n::text, n, n, case when n % 3 > 0 then 'open' end, case when n % 2 > 0 then 'ada' end, '{}'
    from generate_series(1, 20000) n`)
  await client.query('analyze')
  // As for a tenant: the wall stands before every row.
  await client.query('set role inkfast_app')
})

afterAll(() => client.end())

async function planOf(text: string, values: readonly unknown[], role = 'inkfast_app'): Promise<string> {
  await client.query(`begin; set local role ${role}`)
  await client.query(enter('').text.replace(/, inkfast.*/, ''))
  const { rows } = await client.query({ text: `explain (costs off) ${text}`, values: [...values] })
  await client.query('rollback')
  return rows.map((row) => row['QUERY PLAN']).join('\n')
}

const lists = tableNames.flatMap((table) =>
  Object.entries(tableOf(table).indexes).flatMap(([index, columns]) =>
    [false, true].map((backwards) => ({ table, index, columns, backwards })),
  ),
)

test.each(lists)(
  'a list of $table by $index is read in the order of the index, backwards: $backwards',
  async ({ table, index, columns, backwards }) => {
    const sample = (name: string): ColumnValue => (tableOf(table).columns[name] === 'text' ? 'open' : 1)
    const equals = columns.slice(0, -1).map(sample)
    const [first] = listStep(table, { index, equals, backwards, limit: 10 })
    expect(await planOf(first.text, first.values ?? [])).not.toMatch(/Sort/)
    const cursor = encodeCursor([sample(columns.at(-1) as string), 'id'])
    const [next] = listStep(table, { index, equals, backwards, limit: 10, cursor })
    expect(await planOf(next.text, next.values ?? [])).not.toMatch(/Sort/)
  },
)

const id = '01HF7YAT008B78NC00T411MSDF'
const pages: readonly (readonly [string, Partial<PageQuery>, string])[] = [
  ['everything', {}, 'events_pkey'],
  ['an id', { id: id as EventId, session: id as SessionId }, 'events_by_id'],
  ['a key', { key: new Uint8Array(16) }, 'events_by_key'],
  ['a session', { session: id as SessionId }, 'events_by_session'],
  ['a run', { run: id as RunId }, 'events_by_run'],
  ['a row', { subject: id as Id }, 'events_by_subject'],
  ['a type', { types: [{ text: 'a.b', prefix: false }] }, 'events_by_type'],
  ['a session and a type', { session: id as SessionId, types: [{ text: 'a.b', prefix: false }] }, 'events_by_session'],
  ['types under a prefix', { types: [{ text: 'a.', prefix: true }] }, 'events_pkey'],
]

test.each(pages)('a page of %s is read in the order of its own index', async (_, query, index) => {
  for (const rest of [{}, { backwards: true, from: 9 }, { bytes: 100 }, { to: 5 }]) {
    const step = pageStep({ from: 0, limit: 10, ...query, ...rest }, 10)
    const plan = await planOf(step.text, step.values ?? [])
    expect(plan).toContain(index)
    expect(plan).not.toMatch(/Sort|Seq Scan/)
  }
})

test('commits look up by primary keys alone, also with plans from when there was nothing to look up', async () => {
  const url = await tempDatabase()
  const store = await openIn(url, { connections: 1 })
  for (let n = 0; n < 40; n++) {
    const session = await store.session(`s/${n}`)
    const { seq } = await session.append('a.b', n, { key: `k/${n}` })
    await session.append('a.b', n, { key: `k/${n}` })
    await session.append('a.b', n, { after: seq })
    if (n % 5 === 0) await session.archive()
  }
  await store.erase({ seq: 2, reason: 'a test' })
  await store.close()
  await until('the server has counted', async () => (await used(url)).includes('receipts_pkey'))
  // What was asked with `after` is asked of the session; nothing else may use an index that is there for lists.
  expect((await used(url)).filter((name) => !name.endsWith('_pkey'))).toEqual(['events_by_session'])
})

test('an earlier sending is looked up by the id of its event, also with plans from when there was nothing to look up', async () => {
  const url = await tempDatabase()
  const backend = await watched(url, () => {})
  const make = maker()
  for (let n = 0; n < 30; n++) await backend.commit(make.commits(MAIN, 2).map((commit) => ({ ...commit, since: 0 })))
  await backend.close()
  await until('the server has counted', async () => (await used(url)).includes('heads_pkey'))
  expect((await used(url)).filter((name) => name.startsWith('events_'))).toEqual(['events_by_id'])
})

// Opening looks into every table a few times, to see that it sees nothing.
async function used(url: string): Promise<readonly string[]> {
  const { rows } = await asSuperuser(url, (superuser) =>
    superuser.query(`select indexrelname as name from pg_stat_user_indexes where schemaname = 'inkfast' and idx_scan > 20 order by 1`),
  )
  return rows.map(({ name }) => name as string)
}

test('the control: an order that no index has is sorted all the same', async () => {
  expect(await planOf('select id from inkfast.sessions order by born nulls first, id nulls first limit $1', [10])).toMatch(/Sort/)
})
