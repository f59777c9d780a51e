// Lists by every declared index, compared with a sort of our own over our own copy of the rows.

import { rejects, deepEqual as same } from 'node:assert/strict'
import { type ColumnValue, type TableName, tableNames, tableOf } from '../../model/tables.ts'
import type { Backend } from '../../ports/backend.ts'
import type { ListQuery } from '../../ports/rows.ts'
import { type Bench, group } from '../case.ts'
import { MAIN, OTHER, put, valuesOf } from '../material.ts'
import { save } from './expect.ts'

const a = group('lists')

const sorted = 'a list is in the order of its index'
const narrowed = 'a list holds the rows its query names'
const cursors = 'a cursor goes on where the page ended'
const refusals = 'a cursor nobody made is refused'

const ROWS = 15

interface Copy {
  readonly id: string
  readonly born: number
  readonly revision: number
  readonly values: Readonly<Record<string, ColumnValue>>
}

async function fill({ backend, make }: Bench, table: TableName): Promise<readonly Copy[]> {
  const columns = Object.keys(tableOf(table).columns)
  const copies: Copy[] = []
  const ids = Array.from({ length: ROWS }, (_, i) => `${['z', '\u{1F600}', '\uFFFD', 'é', 'a'][i % 5]}${i}`)
  let seq = (await backend.journal.head(MAIN)).seq
  const born = new Map<string, number>()
  // Some rows are changed again, so that born and revision order them differently.
  for (const id of [...ids, ...ids.slice(3, 7)]) {
    const values = Object.fromEntries(columns.map((name) => [name, make.chance.pick(valuesOf(table, name))]))
    await save(backend, make.commit(MAIN, { changes: [put(table, id, values)] }))
    seq++
    if (!born.has(id)) born.set(id, seq)
    const at = copies.findIndex((copy) => copy.id === id)
    copies.splice(at < 0 ? copies.length : at, 1, { id, born: born.get(id) as number, revision: seq, values })
  }
  await save(backend, make.commit(OTHER, { changes: ids.map((id) => put(table, id, {})) }))
  return copies
}

const columnOf = (copy: Copy, column: string): ColumnValue =>
  column === 'id' ? copy.id : column === 'born' ? copy.born : column === 'revision' ? copy.revision : (copy.values[column] ?? null)

function compare(x: ColumnValue, y: ColumnValue): number {
  if (x === y) return 0
  if (x === null || y === null) return x === null ? -1 : 1
  return typeof x === 'number' && typeof y === 'number' ? x - y : Buffer.compare(Buffer.from(String(x)), Buffer.from(String(y)))
}

function expected(copies: readonly Copy[], columns: readonly string[], query: Omit<ListQuery, 'limit'>): readonly string[] {
  const key = [...columns, 'id']
  const ranged = key[query.equals.length] as string
  const inRange = (value: ColumnValue): boolean => {
    if (query.from === undefined && query.below === undefined) return true
    if (value === null) return false
    return (query.from === undefined || compare(value, query.from) >= 0) && (query.below === undefined || compare(value, query.below) < 0)
  }
  const found = copies
    .filter((copy) => query.equals.every((value, i) => compare(columnOf(copy, key[i] as string), value) === 0))
    .filter((copy) => inRange(columnOf(copy, ranged)))
    .sort((x, y) => key.reduce((order, column) => order || compare(columnOf(x, column), columnOf(y, column)), 0))
    .map((copy) => copy.id)
  return query.backwards ? found.reverse() : found
}

async function listAll(backend: Backend, table: TableName, query: ListQuery): Promise<readonly string[]> {
  const ids: string[] = []
  let cursor: string | undefined
  do {
    const page = await backend.rows.list(MAIN, table, { ...query, ...(cursor !== undefined && { cursor }) })
    if (page.rows.length > query.limit) throw new Error(`${page.rows.length} rows where at most ${query.limit} were asked for`)
    ids.push(...page.rows.map((row) => row.id))
    if (ids.length > 10 * ROWS) throw new Error('a list that does not end')
    cursor = page.cursor
  } while (cursor !== undefined)
  return ids
}

/** The indexes to check, by table: all, or the first of each sequence of column types, which does not grow with every table. */
function indexesOf({ oneIndexPerShape }: Bench): ReadonlyMap<TableName, readonly (readonly [string, readonly string[]])[]> {
  const seen = new Set<string>()
  const isNew = (table: TableName, columns: readonly string[]): boolean => {
    const shape = columns.map((column) => tableOf(table).columns[column] ?? column).join()
    return !seen.has(shape) && seen.add(shape).has(shape)
  }
  const chosen = tableNames.map((table) => {
    const indexes = Object.entries(tableOf(table).indexes)
    return [table, oneIndexPerShape ? indexes.filter(([, columns]) => isNew(table, columns)) : indexes] as const
  })
  return new Map(chosen.filter(([, indexes]) => indexes.length > 0))
}

/** Checks every index in both directions. */
async function everyIndex(bench: Bench, check: (list: Listing) => Promise<void>): Promise<void> {
  for (const [table, indexes] of indexesOf(bench)) {
    const copies = await fill(bench, table)
    for (const [index, columns] of indexes) {
      for (const backwards of [false, true]) {
        const list = async (query: Omit<ListQuery, 'limit' | 'index'>, limits: readonly number[]) => {
          const full = { index, ...query, ...(backwards && { backwards }) }
          const wanted = expected(copies, columns, full)
          for (const limit of limits)
            same(await listAll(bench.backend, table, { ...full, limit }), wanted, `${table} ${JSON.stringify({ ...full, limit })}`)
        }
        await check({ table, columns, copies, list })
      }
    }
  }
}

interface Listing {
  readonly table: TableName
  readonly columns: readonly string[]
  readonly copies: readonly Copy[]
  readonly list: (query: Omit<ListQuery, 'limit' | 'index'>, limits: readonly number[]) => Promise<void>
}

/** All existing values of the leading columns, and one that does not exist. */
function leading({ table, columns, copies }: Listing, length: number): readonly (readonly ColumnValue[])[] {
  const seen = new Map<string, readonly ColumnValue[]>()
  for (const copy of copies) {
    const values = columns.slice(0, length).map((column) => columnOf(copy, column))
    seen.set(JSON.stringify(values), values)
  }
  return length === 0
    ? [[]]
    : [...seen.values(), columns.slice(0, length).map((c) => (typeof valuesOf(table, c)[1] === 'number' ? 3.5 : 'nowhere'))]
}

export const lists = [
  a(sorted, 'every index lists its rows in order, both ways: null, then text by its UTF-8 bytes, then the id', (bench) =>
    everyIndex(bench, ({ list }) => list({ equals: [] }, [ROWS, ROWS * 2])),
  ),

  a(narrowed, 'leading columns narrow a list, null being a value like others', (bench) =>
    everyIndex(bench, async (listing) => {
      for (let length = 1; length <= listing.columns.length; length++)
        for (const equals of leading(listing, length)) await listing.list({ equals }, [ROWS])
    }),
  ),

  a(narrowed, 'a range narrows the next column, and null lies in none', (bench) =>
    everyIndex(bench, async (listing) => {
      for (let length = 0; length < listing.columns.length; length++) {
        const ranged = listing.columns[length] as string
        const bounds =
          ranged === 'born' || ranged === 'revision'
            ? listing.copies.map((c) => columnOf(c, ranged)).slice(2, 12)
            : valuesOf(listing.table, ranged)
        for (const equals of leading(listing, length).slice(0, 3)) {
          const chosen = bounds.filter((_, i) => !bench.oneIndexPerShape || i % 3 === 1)
          for (const from of chosen.filter((value) => value !== null)) {
            await listing.list({ equals, from }, [ROWS])
            await listing.list({ equals, below: from }, [ROWS])
            await listing.list({ equals, from, below: bounds.at(-2) as string | number }, [ROWS])
          }
        }
      }
    }),
  ),

  a(narrowed, 'where every column is fixed the next one is the id', (bench) =>
    everyIndex(bench, async (listing) => {
      for (const equals of leading(listing, listing.columns.length).slice(0, 5)) {
        await listing.list({ equals, from: 'é' }, [ROWS])
        await listing.list({ equals, below: 'é' }, [ROWS])
      }
    }),
  ),

  a(narrowed, 'a list of a tenant nobody has written to is empty', async (bench) => {
    const { backend, make } = bench
    await save(backend, make.commit(OTHER, { changes: tableNames.map((table) => put(table, 'r')) }))
    for (const [table, indexes] of indexesOf(bench))
      for (const [index] of indexes) same(await backend.rows.list(MAIN, table, { index, equals: [], limit: 5 }), { rows: [] })
  }),

  a(cursors, 'with every size of page a list has every row once', (bench) =>
    everyIndex(bench, async (listing) => {
      await listing.list(
        { equals: [] },
        Array.from({ length: ROWS + 1 }, (_, i) => i + 1),
      )
      for (let length = 1; length <= listing.columns.length; length++)
        for (const equals of leading(listing, length)) await listing.list({ equals }, [1, 2])
      await listing.list({ equals: [], from: valuesOf(listing.table, listing.columns[0] as string)[1] as string | number }, [1, 2, 3])
    }),
  ),

  a(cursors, 'rows that come or go between two pages move no other', async ({ backend, make }) => {
    await save(backend, make.commit(MAIN, { changes: ['b', 'd', 'f', 'h'].map((id) => put('names', id, { target: 't' })) }))
    const query = { index: 'byTarget', equals: ['t'], limit: 2 }
    const first = await backend.rows.list(MAIN, 'names', query)
    await save(
      backend,
      make.commit(MAIN, {
        changes: [...['a', 'c'].map((id) => put('names', id, { target: 't' })), { kind: 'remove', table: 'names', id: 'd' }],
      }),
    )
    const rest = await backend.rows.list(MAIN, 'names', { ...query, cursor: first.cursor ?? '' })
    same(
      [first, rest].map((page) => page.rows.map((row) => row.id)),
      [
        ['b', 'd'],
        ['f', 'h'],
      ],
    )
    same(rest.cursor, undefined)
  }),

  a(refusals, 'a malformed cursor is refused with CURSOR_INVALID', async ({ backend, make }) => {
    await save(backend, make.commit(MAIN, { changes: [put('names', 'n', { target: 't' })] }))
    for (const cursor of ['', '{', 'null', '{}', '[]', '["a"]', '["a","b","c"]', '[true,"b"]', '[["a"],"b"]']) {
      await rejects(
        backend.rows.list(MAIN, 'names', { index: 'byTarget', equals: [], limit: 1, cursor }),
        { code: 'CURSOR_INVALID' },
        `cursor ${cursor} is refused`,
      )
    }
  }),
]
