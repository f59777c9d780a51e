// Rows by key and by a declared index.

import { assert } from '../../model/errors.ts'
import { decodeCursor, encodeCursor } from '../../model/order.ts'
import type { ScannedRow, StoredRow } from '../../model/rows.ts'
import { type ColumnValue, type TableName, tableOf } from '../../model/tables.ts'
import type { ListQuery, RowPage, RowReads } from '../../ports/rows.ts'
import type { Cells, Step, Value } from './connections.ts'
import type { Database } from './database.ts'
import type { Reading } from './journal.ts'
import { statements } from './statements.ts'

export function rowReads(db: Database): RowReads {
  return {
    get: async (tenant, table, id) => {
      // No stored text contains U+0000, and PostgreSQL would refuse it.
      if (id.includes('\0')) return undefined
      const [rows] = await db.readSmall(tenant, { text: statements[table].get, values: [id], prepared: true })
      return rows?.[0] && toStored(rows[0])
    },
    getMany: async (tenant, keys) => {
      const steps = keys.map(({ table, id }) => !id.includes('\0') && { text: statements[table].get, values: [id], prepared: true })
      const found = await db.readSmall(tenant, ...steps.filter((step) => step !== false))
      let at = 0
      return steps.map((step) => {
        const row = step && found[at++]?.[0]
        return row ? toStored(row) : undefined
      })
    },
    list: async (tenant, table, query) => {
      const [step, rest] = listStep(table, query)
      const [rows = []] = await db.read(tenant, step)
      return toPage(rows, rest, query.limit)
    },
  }
}

export async function scanRows(read: Reading, table: TableName, after: string | undefined, limit: number): Promise<readonly ScannedRow[]> {
  const types = Object.values(tableOf(table).columns)
  const [rows = []] = await read({ text: statements[table].scan, values: [after ?? '', limit], prepared: true })
  return rows.map((row) => ({
    ...toStored(row),
    columns: types.map((type, i) => columnValue(row[STORED + i] ?? null, type)),
    ...(row[STORED + types.length] === 't' && { astray: true as const }),
  }))
}

const STORED = 5
const columnValue = (cell: string | null, type: 'text' | 'integer'): ColumnValue => (cell === null || type === 'text' ? cell : Number(cell))

export const toStored = ([id, born, revision, fence, body]: Cells): StoredRow => ({
  id: id as string,
  born: Number(born),
  revision: Number(revision),
  ...(fence !== null && { fence: Number(fence) }),
  body: body as string,
})

interface Ordered {
  readonly name: string
  readonly type: 'text' | 'integer'
}

/** Returns the statement, and the columns of its cursor. */
export function listStep(table: TableName, query: ListQuery): readonly [Step, readonly Ordered[]] {
  const index = tableOf(table).indexes[query.index]
  assert(index, `index ${query.index} of ${table} is declared`)
  const typed = (name: string): Ordered => ({ name, type: name === 'id' ? 'text' : (tableOf(table).columns[name] ?? 'integer') })
  const rest = [...index.slice(query.equals.length), 'id'].map(typed)
  const values: Value[] = []
  const parameter = ({ type }: Ordered, value: ColumnValue): string => {
    values.push(value)
    return `$${values.length}::${type === 'integer' ? 'bigint' : 'text'}`
  }
  // Only integers are stored: a bound between two of them is rounded up, and no value equals it.
  const bound = (column: Ordered, value: string | number): string =>
    parameter(column, column.type === 'integer' ? Math.ceil(Number(value)) : value)
  const is = (column: Ordered, value: ColumnValue, equal: (bound: string) => string): string => {
    if (value === null) return `${column.name} is null`
    return typeof value === 'number' && !Number.isInteger(value) ? 'false' : `${column.name} ${equal(parameter(column, value))}`
  }
  const same = (column: Ordered, value: ColumnValue): string => is(column, value, (p) => `= ${p}`)
  // Written as a range, so that the column stays part of the order, which only the requested index has.
  const only = (column: Ordered, value: ColumnValue): string => is(column, value, (p) => `between ${p} and ${p}`)
  const where = query.equals.map((value, i) => only(typed(index[i] as string), value))
  const ranged = rest[0] as Ordered
  if (query.from !== undefined) where.push(`${ranged.name} >= ${bound(ranged, query.from)}`)
  if (query.below !== undefined) where.push(`${ranged.name} < ${bound(ranged, query.below)}`)
  const back = query.backwards ?? false
  if (query.cursor !== undefined) where.push(beyond(rest, decodeCursor(query.cursor, rest.length), back, same, parameter))
  // Like the indexes: the place of nulls is stated only if a column can be null.
  const ordered = ({ name }: Ordered): string => {
    const nulls = NEVER_NULL.includes(name) ? '' : back ? ' nulls last' : ' nulls first'
    return `${name}${back ? ' desc' : ''}${nulls}`
  }
  const fixed = index.slice(0, query.equals.length).map(typed)
  const order = [...fixed, ...rest].map(ordered).join(', ')
  const keys = rest.map(({ name }) => `, ${name}`).join('')
  values.push(query.limit + 1)
  const text = `select ${statements[table].stored}${keys} from inkfast.${table} where ${where.length > 0 ? where.join(' and ') : 'true'} order by ${order} limit $${values.length}::integer`
  return [{ text, values, prepared: true }, rest]
}

function toPage(rows: readonly Cells[], rest: readonly Ordered[], limit: number): RowPage {
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return {
    rows: page.map(toStored),
    ...(last &&
      rows.length > page.length && { cursor: encodeCursor(rest.map(({ type }, i) => columnValue(last[STORED + i] ?? null, type))) }),
  }
}

const NEVER_NULL: readonly string[] = ['born', 'revision', 'id']

/**
 * The condition for rows behind the cursor, in the order of model/order.ts: null first. If no column can be null, it is one comparison of
 * row values, which is answered with a seek.
 */
function beyond(
  columns: readonly Ordered[],
  key: readonly ColumnValue[],
  backwards: boolean,
  same: (column: Ordered, value: ColumnValue) => string,
  parameter: (column: Ordered, value: ColumnValue) => string,
): string {
  const all = (write: (column: Ordered, value: ColumnValue) => string) =>
    columns.map((column, i) => write(column, key[i] as ColumnValue)).join(', ')
  if (columns.every(({ name }) => NEVER_NULL.includes(name)))
    return `(${all(({ name }) => name)}) ${backwards ? '<' : '>'} (${all(parameter)})`
  const ways = columns.flatMap((column, i) => {
    const value = key[i] as ColumnValue
    // Null is first, so nothing comes before it.
    if (value === null && backwards) return []
    const before = columns.slice(0, i).map((earlier, k) => `${same(earlier, key[k] as ColumnValue)} and `)
    const { name } = column
    if (value === null) return [`(${before.join('')}${name} is not null)`]
    const bound = parameter(column, value)
    return [`(${before.join('')}${backwards ? `(${name} < ${bound} or ${name} is null)` : `${name} > ${bound}`})`]
  })
  return `(${ways.join(' or ')})`
}
