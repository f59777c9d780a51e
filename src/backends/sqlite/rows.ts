// Rows by key and by a declared index.

import { assert } from '../../model/errors.ts'
import type { TenantId } from '../../model/ids.ts'
import { decodeCursor, encodeCursor } from '../../model/order.ts'
import type { ScannedRow, StoredRow } from '../../model/rows.ts'
import { type ColumnValue, type TableName, tableOf } from '../../model/tables.ts'
import type { ListQuery, RowPage, RowReads } from '../../ports/rows.ts'
import type { Database, SqlRow } from './database.ts'
import { ifActive } from './heads.ts'
import { statements } from './statements.ts'
import { reading } from './transaction.ts'

export function rowReads(db: Database): RowReads {
  return {
    get: (tenant, table, id) => reading(db, () => ifActive(db, tenant, () => getRow(db, tenant, table, id))),
    getMany: (tenant, keys) => reading(db, () => ifActive(db, tenant, () => keys.map(({ table, id }) => getRow(db, tenant, table, id)))),
    list: (tenant, table, query) => reading(db, () => ifActive(db, tenant, () => listRows(db, tenant, table, query))),
  }
}

export function getRow(db: Database, tenant: string, table: TableName, id: string): StoredRow | undefined {
  const row = db.get(statements[table].get, tenant, id)
  return row && toStored(row)
}

export function scanRows(db: Database, tenant: string, table: TableName, after: string | undefined, limit: number): readonly ScannedRow[] {
  const names = Object.keys(tableOf(table).columns)
  return db.all(statements[table].scan, tenant, after ?? '', limit).map((row) => ({
    ...toStored(row),
    columns: names.map((name) => row[name] as ColumnValue),
    ...(row.astray === 1 && { astray: true as const }),
  }))
}

export const toStored = (row: SqlRow): StoredRow => ({
  id: row.id as string,
  born: row.born as number,
  revision: row.revision as number,
  ...(row.fence !== null && { fence: row.fence as number }),
  body: row.body as string,
})

function listRows(db: Database, tenant: TenantId, table: TableName, query: ListQuery): RowPage {
  const index = tableOf(table).indexes[query.index]
  assert(index, `index ${query.index} of ${table} is declared`)
  const rest = [...index.slice(query.equals.length), 'id']
  const where = ['tenant = ?']
  const values: ColumnValue[] = [tenant]
  query.equals.forEach((value, i) => {
    where.push(`${index[i]} is ?`)
    values.push(value)
  })
  const ranged = rest[0] as string
  if (query.from !== undefined) where.push(`${ranged} >= ?`)
  if (query.from !== undefined) values.push(query.from)
  if (query.below !== undefined) where.push(`${ranged} < ?`)
  if (query.below !== undefined) values.push(query.below)
  if (query.cursor !== undefined) {
    const [condition, ...more] = beyond(rest, decodeCursor(query.cursor, rest.length), query.backwards ?? false)
    where.push(condition)
    values.push(...more)
  }
  const order = rest.map((column) => (query.backwards ? `${column} desc` : column)).join(', ')
  const sql = `select ${statements[table].stored}, ${rest
    .slice(0, -1)
    .map((c) => `${c} as key_${c}, `)
    .join('')} 0 as last from ${table} where ${where.join(' and ')} order by ${order} limit ?`
  const rows = db.all(sql, ...values, query.limit + 1)
  const page = rows.slice(0, query.limit)
  const last = page.at(-1)
  return {
    rows: page.map(toStored),
    ...(last &&
      rows.length > page.length && { cursor: encodeCursor(rest.map((c) => (c === 'id' ? last.id : last[`key_${c}`]) as ColumnValue)) }),
  }
}

/**
 * The condition for rows behind the cursor, in the order of model/order.ts: null first. If no column can be null, it is one comparison of
 * row values, which SQLite answers with a seek.
 */
function beyond(columns: readonly string[], key: readonly ColumnValue[], backwards: boolean): [string, ...ColumnValue[]] {
  if (columns.every((c) => NEVER_NULL.includes(c)))
    return [`(${columns.join(', ')}) ${backwards ? '<' : '>'} (${columns.map(() => '?').join(', ')})`, ...key]
  const ways: string[] = []
  const values: ColumnValue[] = []
  columns.forEach((column, i) => {
    const value = key[i] as ColumnValue
    if (value === null && backwards) return
    const same = columns.slice(0, i).map((c) => `${c} is ? and `)
    values.push(...key.slice(0, i))
    if (value === null) ways.push(`(${same.join('')}${column} is not null)`)
    else {
      ways.push(`(${same.join('')}${backwards ? `(${column} < ? or ${column} is null)` : `${column} > ?`})`)
      values.push(value)
    }
  })
  return [`(${ways.join(' or ')})`, ...values]
}

const NEVER_NULL: readonly string[] = ['born', 'revision', 'id']
