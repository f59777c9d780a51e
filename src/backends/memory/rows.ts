// Rows by key and by index, by sorting all of them.

import { assert } from '../../model/errors.ts'
import { compareKeys, compareValues, decodeCursor, encodeCursor } from '../../model/order.ts'
import type { StoredRow } from '../../model/rows.ts'
import { type ColumnValue, type TableName, tableOf } from '../../model/tables.ts'
import type { ListQuery, RowPage, RowReads } from '../../ports/rows.ts'
import { activeTenant, type MemoryRow, type MemoryState, tableRows } from './state.ts'

export function rowReads(state: MemoryState): RowReads {
  return {
    get: async (tenant, table, id) => {
      const row = tableRows(activeTenant(state, tenant).rows, table).get(id)
      return row && toStored(row)
    },
    getMany: async (tenant, keys) => {
      const { rows } = activeTenant(state, tenant)
      return keys.map(({ table, id }) => {
        const row = tableRows(rows, table).get(id)
        return row && toStored(row)
      })
    },
    list: async (tenant, table, query) => listRows([...tableRows(activeTenant(state, tenant).rows, table).values()], table, query),
  }
}

export function toStored({ columns: _, ...row }: MemoryRow): StoredRow {
  return row
}

function listRows(all: readonly MemoryRow[], table: TableName, query: ListQuery): RowPage {
  const index = tableOf(table).indexes[query.index]
  assert(index, `index ${query.index} of ${table} is declared`)
  const names = Object.keys(tableOf(table).columns)
  const columnOf = (row: MemoryRow, column: string): ColumnValue =>
    column === 'id'
      ? row.id
      : column === 'born'
        ? row.born
        : column === 'revision'
          ? row.revision
          : (row.columns[names.indexOf(column)] as ColumnValue)
  // The columns of the index that are not fixed, followed by the id.
  const rest = [...index.slice(query.equals.length), 'id']
  const keyOf = (row: MemoryRow): ColumnValue[] => rest.map((column) => columnOf(row, column))
  const inRange = (row: MemoryRow): boolean => {
    if (!query.equals.every((wanted, i) => columnOf(row, index[i] as string) === wanted)) return false
    const value = columnOf(row, rest[0] as string)
    // As in SQL, null is in no range.
    if (value === null) return query.from === undefined && query.below === undefined
    if (query.from !== undefined && compareValues(value, query.from) < 0) return false
    return query.below === undefined || compareValues(value, query.below) < 0
  }
  const sign = query.backwards ? -1 : 1
  const after = query.cursor === undefined ? undefined : decodeCursor(query.cursor, rest.length)
  const found = all
    .filter(inRange)
    .sort((a, b) => sign * compareKeys(keyOf(a), keyOf(b)))
    .filter((row) => after === undefined || sign * compareKeys(keyOf(row), after) > 0)
  const page = found.slice(0, query.limit)
  const last = page.at(-1)
  return { rows: page.map(toStored), ...(last && found.length > page.length && { cursor: encodeCursor(keyOf(last)) }) }
}
