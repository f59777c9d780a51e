// Damage to rows and to listing them.

import type { StoredRow } from '../../../src/model/rows.ts'
import { type TableName, tableOf } from '../../../src/model/tables.ts'
import type { Backend } from '../../../src/ports/backend.ts'
import type { ListQuery, RowPage } from '../../../src/ports/rows.ts'
import { resending, type Sabotage, spoiled } from './spoil.ts'

const stamped = 'a row is stamped with the seqs of its first and its last event'
const kept = 'a row is kept as it was put until it is removed'
const together = 'rows that are read together are those of their keys'
const sorted = 'a list is in the order of its index'
const narrowed = 'a list holds the rows its query names'
const cursors = 'a cursor goes on where the page ended'

const showing =
  (alter: (row: StoredRow) => StoredRow) =>
  (backend: Backend): Backend => ({
    ...backend,
    rows: {
      ...backend.rows,
      get: async (tenant, table, id) => {
        const row = await backend.rows.get(tenant, table, id)
        return row && alter(row)
      },
    },
  })

const listing =
  (read: (list: (query: ListQuery) => Promise<RowPage>, query: ListQuery, table: TableName) => Promise<RowPage>) =>
  (backend: Backend): Backend => ({
    ...backend,
    rows: { ...backend.rows, list: (tenant, table, query) => read((asked) => backend.rows.list(tenant, table, asked), query, table) },
  })

const asking = (alter: (query: ListQuery) => ListQuery) => listing((list, query) => list(alter(query)))

export const rowSabotages: readonly Sabotage[] = [
  spoiled(
    'is born anew with every change',
    [stamped],
    showing((row) => ({ ...row, born: row.revision })),
  ),
  spoiled(
    'stamps every row with the first event of its commit',
    [stamped],
    resending((commit) => ({
      ...commit,
      changes: commit.changes.map((change) => (change.kind === 'put' ? { ...change, event: 0 } : change)),
    })),
  ),
  spoiled(
    'stamps every row with the last event of its commit',
    [stamped, 'a commit is applied whole or not at all'],
    resending((commit) => ({
      ...commit,
      changes: commit.changes.map((change) =>
        change.kind === 'put' ? { ...change, event: Math.max(0, commit.events.length - 1) } : change,
      ),
    })),
  ),
  spoiled(
    'takes ids for the same whatever their case',
    [kept, 'a commit that is guarded by a row is refused when the row is at another revision'],
    (backend) => ({
      ...resending((commit) => ({
        ...commit,
        guards: commit.guards.map((guard) => ('id' in guard ? { ...guard, id: guard.id.toLowerCase() } : guard)),
        changes: commit.changes.map((change) => ('id' in change ? { ...change, id: change.id.toLowerCase() } : change)),
      }))(backend),
      rows: { ...backend.rows, get: (tenant, table, id) => backend.rows.get(tenant, table, id.toLowerCase()) },
    }),
  ),
  spoiled(
    'writes bodies anew',
    [kept],
    showing((row) => ({ ...row, body: row.body.normalize('NFD') })),
  ),
  spoiled('shows a row where there is none', [kept], (backend) => ({
    ...backend,
    rows: {
      ...backend.rows,
      get: async (tenant, table, id) => (await backend.rows.get(tenant, table, id)) ?? { id, born: 0, revision: 0, body: '{}' },
    },
  })),
  ...(
    [
      ['leaves out what is not there', (found) => found.filter((row) => row)],
      [
        'shows a key that occurs twice once',
        (found) => found.filter((row, i) => !row || found.findIndex((r) => r?.body === row.body) === i),
      ],
      ['shows rows in the order of their ids', (found) => found.toSorted((x, y) => ((x?.id ?? '') < (y?.id ?? '') ? -1 : 1))],
    ] satisfies [string, (found: readonly (StoredRow | undefined)[]) => readonly (StoredRow | undefined)[]][]
  ).map(([what, alter]) =>
    spoiled(`reading together, ${what}`, [together], (backend) => ({
      ...backend,
      rows: { ...backend.rows, getMany: async (tenant, keys) => alter(await backend.rows.getMany(tenant, keys)) },
    })),
  ),
  spoiled('reads together from one table', [together], (backend) => ({
    ...backend,
    rows: {
      ...backend.rows,
      getMany: (tenant, keys) =>
        backend.rows.getMany(
          tenant,
          keys.map(({ id }) => ({ table: 'names', id })),
        ),
    },
  })),
  spoiled(
    'lists downwards as upwards',
    [sorted, cursors],
    asking(({ backwards: _, ...query }) => query),
  ),
  spoiled(
    'lists text by its UTF-16 units',
    [sorted],
    listing(async (list, query, table) => {
      const page = await list(query)
      const { columns, indexes } = tableOf(table)
      const column = indexes[query.index]?.[query.equals.length] ?? ''
      if (columns[column] !== 'text') return page
      const key = (row: StoredRow): string => {
        const text = (JSON.parse(row.body) as Readonly<Record<string, unknown>>)[column] ?? null
        return text === null ? '' : `=${String(text)}`
      }
      const sign = query.backwards ? -1 : 1
      return { ...page, rows: page.rows.toSorted((x, y) => (key(x) < key(y) ? -sign : key(x) > key(y) ? sign : 0)) }
    }),
  ),
  spoiled(
    'leaves out rows whose column is null',
    [sorted, narrowed, cursors],
    listing(async (list, query) => {
      const page = await list(query)
      return { ...page, rows: page.rows.filter((row) => !row.body.includes('null')) }
    }),
  ),
  spoiled(
    'ignores what must be equal',
    [narrowed, cursors],
    listing((list, query) => (query.equals.length > 0 ? list({ ...query, equals: [], limit: 1000 }) : list(query))),
  ),
  spoiled(
    'ignores where a range begins',
    [narrowed],
    asking(({ from: _, ...query }) => query),
  ),
  spoiled(
    'ignores where a range ends',
    [narrowed],
    asking(({ below: _, ...query }) => query),
  ),
  spoiled(
    'takes the end of a range into it',
    [narrowed],
    asking(({ below, ...query }) =>
      typeof below === 'number' ? { ...query, below: below + 1 } : below === undefined ? query : { ...query, below: `${below}\0` },
    ),
  ),
  spoiled('lists another tenant’s rows where there are none', [narrowed], (backend) => ({
    ...backend,
    rows: {
      ...backend.rows,
      list: async (tenant, table, query) => {
        const page = await backend.rows.list(tenant, table, query)
        if (page.rows.length > 0 || query.cursor !== undefined) return page
        for (const other of await backend.journal.tenants()) if (other !== tenant) return backend.rows.list(other, table, query)
        return page
      },
    },
  })),
  spoiled(
    'begins every page at the beginning',
    [cursors],
    asking(({ cursor: _, ...query }) => query),
  ),
  spoiled(
    'forgets to give a cursor',
    [cursors],
    listing(async (list, query) => ({ rows: (await list(query)).rows })),
  ),
  spoiled('counts rows instead of keeping a place', [cursors], (backend) => ({
    ...backend,
    rows: {
      ...backend.rows,
      list: async (tenant, table, { cursor, ...query }) => {
        const skip = Number(cursor ?? 0)
        const { rows } = await backend.rows.list(tenant, table, { ...query, limit: 1000 })
        const page = rows.slice(skip, skip + query.limit)
        return { rows: page, ...(rows.length > skip + page.length && { cursor: String(skip + page.length) }) }
      },
    },
  })),
  spoiled(
    'takes any cursor',
    ['a cursor nobody made is refused'],
    listing(async (list, query) => {
      try {
        return await list(query)
      } catch {
        return { rows: [] }
      }
    }),
  ),
  spoiled(
    'keeps no fence',
    [stamped, 'a commit that is guarded by a fence is refused when another one is the newest'],
    resending((commit) => ({
      ...commit,
      changes: commit.changes.map((change) => (change.kind === 'put' ? { ...change, grants: false } : change)),
    })),
  ),
  spoiled(
    'takes no row for a row at revision one',
    ['a commit that is guarded by a row is refused when the row is at another revision'],
    (backend) => ({
      ...backend,
      commit: async (batch) =>
        backend.commit(
          await Promise.all(
            batch.map(async (commit) => ({
              ...commit,
              guards: (
                await Promise.all(
                  commit.guards.map(async (guard) =>
                    guard.kind === 'row' && guard.revision === 1 && !(await backend.rows.get(commit.tenant, guard.table, guard.id))
                      ? []
                      : [guard],
                  ),
                )
              ).flat(),
            })),
          ),
        ),
    }),
  ),
]
