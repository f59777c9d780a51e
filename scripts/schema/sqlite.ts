// The generated tables in SQLite's spelling.

import { columnLines, type Declared, type PlannedTable, planTables } from './plan.ts'

const TYPES = {
  text: 'text',
  integer: 'integer',
  count: 'integer',
  real: 'real',
  blob: 'blob',
  flag: 'integer',
  serial: 'integer',
} as const

export const sqliteTables = (declared?: Declared): string => planTables('sqlite', declared).map(tableText).join('\n\n')

function tableText(table: PlannedTable): string {
  const indexes = table.indexes.map(
    ({ name, columns, where, unique }) =>
      `create ${unique ? 'unique ' : ''}index ${name} on ${table.name} (${columns.join(', ')})${where ? ` where ${where}` : ''};`,
  )
  return [
    `create table ${table.name} (\n${columnLines(table, ({ type }) => TYPES[type])}\n) strict${table.key[0] === 'id' || table.large ? '' : ', without rowid'};`,
    ...(indexes.length > 0 ? ['', ...indexes] : []),
  ].join('\n')
}
