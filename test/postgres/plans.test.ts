// What is asked for by an index is answered from it: no list sorts a tenant's rows, however many there are.

import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { enter } from '../../src/backends/postgres/database.ts'
import { listStep } from '../../src/backends/postgres/rows.ts'
import { open } from '../../src/index.ts'
import { encodeCursor } from '../../src/model/order.ts'
import { type ColumnValue, tableNames, tableOf } from '../../src/model/tables.ts'
import { preparedDatabase } from '../support/databases.ts'

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

async function planOf(text: string, values: readonly unknown[]): Promise<string> {
  await client.query('begin')
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

test.each(lists)('$table $index, backwards: $backwards', async ({ table, index, columns, backwards }) => {
  const equals: ColumnValue[] = columns.slice(0, -1).map((name) => (tableOf(table).columns[name] ? 'open' : 1))
  const [first] = listStep(table, { index, equals, backwards, limit: 10 })
  expect(await planOf(first.text, first.values ?? [])).not.toMatch(/Sort/)
  const last = columns.at(-1) as string
  const cursor = encodeCursor([tableOf(table).columns[last] ? 'x' : 5, 'id'])
  const [next] = listStep(table, { index, equals, backwards, limit: 10, cursor })
  expect(await planOf(next.text, next.values ?? [])).not.toMatch(/Sort/)
})

test('the control: an order that no index has is sorted all the same', async () => {
  expect(await planOf('select id from inkfast.sessions order by born nulls first, id nulls first limit $1', [10])).toMatch(/Sort/)
})
