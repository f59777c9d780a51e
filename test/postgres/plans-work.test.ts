// What workers ask for is found by seeks, however much is in a queue, and whatever the tables held when the plan was made.

import { Client } from 'pg'
import { expect, test } from 'vitest'
import { postgresBackend } from '../../src/backends/postgres/backend.ts'
import { enter } from '../../src/backends/postgres/database.ts'
import { statements as leaseStatements } from '../../src/backends/postgres/leases.ts'
import { backlogs, overdueQueues, readyWork } from '../../src/backends/postgres/queries.ts'
import { tenantId } from '../../src/model/ids.ts'
import type { HeldTable } from '../../src/ports/leases.ts'
import { preparedDatabase } from '../support/databases.ts'
import { later } from '../support/engines.ts'
import { asSuperuser } from './logins.ts'
import { wallOf } from './tenants.ts'

const ITEMS = 50_000
const CLAIMS = 100
const LIMIT = 16
const TENANT = tenantId('acme')

/** Half of it due later and more urgent, a quarter in a hundred series, some of them with dead ones before; every claim but a few renewed. */
const fill = `
  insert into inkfast.heads (tenant, seq, hash) values ('${TENANT}', ${ITEMS}, '');
  insert into inkfast.work (tenant, id, born, revision, fence, queue, state, priority, at, series, body)
  select '${TENANT}', lpad(n::text, 6, '0'), n, n, case when n <= ${CLAIMS} then n end, 'q',
    case when n <= ${CLAIMS} then 'claimed' when n % 40 = 0 then 'dead' else 'ready' end,
    case when n % 2 = 0 then 5 + n % 5 else n % 3 end,
    case when n > ${CLAIMS} and n % 2 = 0 then inkfast.now_v1() + 3600000 + n else n end, case when n % 4 = 3 then 's' || n % 400 end, '{}'
  from generate_series(1, ${ITEMS}) n;
  insert into inkfast.renewals (tenant, id, fence, until)
  select tenant, id, fence, inkfast.now_v1() + 3600000 from inkfast.work where state = 'claimed' and born > 3`

interface Node {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Actual Rows'?: number
  readonly 'Actual Loops'?: number
  readonly 'Rows Removed by Filter'?: number
  readonly Plans?: readonly Node[]
}

const nodesOf = (node: Node): readonly Node[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)]

interface Look {
  /** How our tables are read. */
  readonly ways: readonly string[]
  /** How many entries were looked at on the way. */
  readonly visited: number
  readonly nodes: readonly string[]
}

interface Bench {
  fill(): Promise<void>
  /** What a statement does, in the plan that its connection has for it. */
  look(name: string, values: string): Promise<Look>
  execute(name: string, values: string): Promise<readonly Record<string, unknown>[]>
}

const empty = async (url: string): Promise<void> => (await postgresBackend({ url })).close()
const full = async (url: string): Promise<void> => {
  await empty(url)
  await asSuperuser(url, (superuser) => superuser.query(fill))
}

/** A connection of the app role for the tenant, with its statements prepared; the same plan serves from the first time on. */
async function bench(prepared: Readonly<Record<string, string>>, begin = full): Promise<Bench> {
  const { url } = await preparedDatabase(begin)
  const client = new Client(url)
  await client.connect()
  later(() => client.end())
  const { text, values } = enter((await wallOf(client)).tenant(TENANT))
  await client.query(`set plan_cache_mode = force_generic_plan`)
  for (const [name, sql] of Object.entries(prepared)) await client.query(`prepare ${name} as ${sql}`)
  const inside = async (sql: string) => {
    await client.query('begin; set local role inkfast_app')
    await client.query(text, [...(values ?? [])])
    const { rows } = await client.query(sql)
    await client.query('rollback')
    return rows as readonly Record<string, unknown>[]
  }
  const execute: Bench['execute'] = (name, given) => inside(`execute ${name}${given}`)
  return {
    // Not analyzed: that would end the plans that are kept.
    fill: async () => void (await client.query(fill)),
    execute,
    look: async (name, given) => {
      const [row] = await inside(`explain (analyze, format json) execute ${name}${given}`)
      const [told] = (row?.['QUERY PLAN'] ?? []) as readonly { readonly Plan: Node }[]
      const nodes = told ? nodesOf(told.Plan) : []
      const ours = nodes.filter((node) => ['work', 'renewals', 'leases'].includes(node['Relation Name'] ?? ''))
      const seen = (node: Node) => ((node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0)) * (node['Actual Loops'] ?? 0)
      return {
        ways: [...new Set(ours.map((node) => `${node['Node Type']} ${node['Index Name'] ?? node['Relation Name']}`))].sort(),
        visited: Math.ceil(ours.reduce((sum, node) => sum + seen(node), 0)),
        nodes: nodes.map((node) => node['Node Type']),
      }
    },
  }
}

const READY = `('q', ${LIMIT})`
const SEEKS = [
  'Index Only Scan work_by_due',
  'Index Only Scan work_by_series',
  'Index Only Scan work_by_turn',
  'Index Scan renewals_pkey',
  'Index Scan work_by_ready',
  'Index Scan work_by_turn',
  'Index Scan work_pkey',
]
// Every claim with its renewal, and what was found, and its series.
const ENOUGH = 2 * CLAIMS + 10 * LIMIT

// Each looks for an answer in a way of its own that no index has.
const blind = {
  'what is due': readyWork.replace('order by w.at nulls first, w.born, w.id limit', 'order by w.at + 0, w.born, w.id limit'),
  priorities: readyWork.replace('w.priority < l.priority', 'w.priority + 0 < l.priority'),
  claims: readyWork.replace(`w.state = 'claimed'`, `w.state || '' = 'claimed'`),
  'the next time': readyWork.replace('w.at > c.now', 'w.at + 0 > c.now'),
} as const

test.each([
  { when: 'there was nothing to look for', begin: empty },
  { when: 'everything was there', begin: full },
])('ready items are found by seeks, with a plan from when $when', async ({ begin }) => {
  const { execute, fill, look } = await bench({ ready: readyWork }, begin)
  if (begin === empty) {
    expect(await execute('ready', READY)).toMatchObject([{ id: null, next: null }])
    await fill()
  }
  const rows = await execute('ready', READY)
  expect(rows.map(({ id }) => id)).toHaveLength(LIMIT)
  expect(rows.slice(0, 2).map(({ id }) => id)).toEqual(['000002', '000101'])
  const { ways, visited } = await look('ready', READY)
  expect(ways).toEqual(SEEKS)
  expect(visited).toBeLessThan(ENOUGH)
})

test.each(Object.entries(blind))(
  'the control: a statement that is blind to the index of %s is seen to read everything',
  async (_, text) => {
    expect(text).not.toBe(readyWork)
    const { look } = await bench({ ready: text })
    expect((await look('ready', READY)).visited).toBeGreaterThan(3 * ENOUGH)
  },
)

/** Before everything else that is due: a series of which only the first can be claimed. */
const longSeries = `
  insert into inkfast.work (tenant, id, born, revision, queue, state, priority, at, series, body)
  select '${TENANT}', 'l' || lpad(n::text, 6, '0'), n, n, 'q', 'ready', 100, 0, 'long', '{}' from generate_series(1, ${ITEMS}) n`

test('a search for ready items reads none of a long series', async () => {
  const blindToTurns = readyWork.replaceAll('not w.behind', 'w.behind is not null')
  const { execute, look } = await bench({ ready: readyWork, blind: blindToTurns }, async (url) => {
    await full(url)
    await asSuperuser(url, (superuser) => superuser.query(longSeries))
  })
  const rows = await execute('ready', READY)
  expect(rows.slice(0, 2).map(({ id }) => id)).toEqual(['l000001', '000002'])
  expect((await look('ready', READY)).visited).toBeLessThan(ENOUGH)
  // The control: the same is found by going through all of it.
  expect((await execute('blind', READY)).map(({ id }) => id)).toEqual(rows.map(({ id }) => id))
  expect((await look('blind', READY)).visited).toBeGreaterThan(ITEMS)
})

test('a backlog is counted in the order of an index, and nothing is sorted', async () => {
  const { look } = await bench({ backlog: backlogs })
  const { ways, nodes, visited } = await look('backlog', '')
  expect(ways).toEqual([expect.stringMatching(/^Index (Only )?Scan work_by_(due|ready)$/)])
  expect(visited).toBe(ITEMS)
  expect(nodes.filter((node) => node.includes('Sort'))).toEqual([])
})

/** Items without a time come first in the index of each queue. */
const moreQueues = `
  insert into inkfast.work (tenant, id, born, revision, queue, state, priority, at, body)
  select '${TENANT}', 'm' || n, n, n, 'm' || n % 10, case when n < 5000 then 'dead' else 'ready' end, 0, case when n >= 5000 then n end, '{}'
  from generate_series(1, 10000) n`

test.each([
  { when: 'there was nothing to look for', begin: empty },
  { when: 'everything was there', begin: full },
])('overdue queues are found by seeks, with a plan from when $when', async ({ begin }) => {
  const counted = overdueQueues.replace('w.queue > m.queue', `w.queue || '' > m.queue`)
  const { execute, fill, look } = await bench({ overdue: overdueQueues, counted }, async (url) => {
    await begin(url)
    await asSuperuser(url, (superuser) => superuser.query(moreQueues))
  })
  if (begin === empty) await fill()
  const rows = await execute('overdue', '(5000, 100)')
  expect(rows.map(({ queue }) => queue)).toEqual([...Array.from({ length: 10 }, (_, n) => `m${n}`), 'q'])
  expect(rows[3]).toEqual({ queue: 'm3', at: '5003' })
  const { ways, visited } = await look('overdue', '(5000, 100)')
  expect(ways).toEqual(['Index Only Scan work_by_due'])
  expect(visited).toBeLessThan(100)
  // The control: without a seek from name to name, everything is read.
  expect((await look('counted', '(5000, 100)')).visited).toBeGreaterThan(ITEMS)
})

test.each<HeldTable>(['leases', 'work'])('rows of %s are renewed and read by their keys alone', async (of) => {
  const { read, renew } = leaseStatements[of]
  const { fill, look } = await bench({ read, renew }, empty)
  const ids = `array['000001', '000002', 'nobody']`
  const looks = async () => [await look('read', `(${ids})`), await look('renew', `(${ids}, array[1, 2, 3], 1000)`)]
  const first = await looks()
  await fill()
  for (const { ways, visited } of [...first, ...(await looks())]) {
    expect(ways.filter((way) => !way.endsWith('_pkey') && !way.startsWith('ModifyTable'))).toEqual([])
    expect(visited).toBeLessThanOrEqual(10)
  }
})
