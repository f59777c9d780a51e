// The generated tables in PostgreSQL's spelling, each with its row-level security, its rights and no statistics.

import { columnLines, type Declared, type PlannedColumn, type PlannedTable, planTables } from './plan.ts'

const TYPES = {
  text: 'text collate "C"',
  integer: 'bigint',
  count: 'integer',
  real: 'double precision',
  blob: 'bytea',
  flag: 'boolean',
  serial: 'bigint',
} as const

export const postgresType = ({ type }: PlannedColumn): string => TYPES[type]

export const postgresTables = (declared?: Declared): string => planTables('postgres', declared).map(tableText).join('\n\n')

// The function in the policy is evaluated once a statement, not once a row.
const OWN = '(tenant = (select inkfast.tenant()))'

function tableText(table: PlannedTable): string {
  const { name, columns, rights } = table
  return `create table inkfast.${name} (
${columnLines(table, postgresType)}
);
${table.indexes.map((index) => `create ${index.unique ? 'unique ' : ''}index ${index.name} on inkfast.${name} (${indexColumns(table, index.columns).join(', ')})${index.where ? ` where ${index.where}` : ''};\n`).join('')}alter table inkfast.${name} enable row level security, force row level security;
create policy tenant on inkfast.${name} to inkfast_app, inkfast_reader using ${OWN} with check ${OWN};
grant select on inkfast.${name} to inkfast_app, inkfast_reader;
${rights.length > 0 ? `grant ${rights.join(', ')} on inkfast.${name} to inkfast_app;\n` : ''}alter table inkfast.${name} ${columns.map((column) => `alter ${column.name} set statistics 0`).join(', ')};`
}

/** PostgreSQL puts nulls last, every other backend puts them first: indexes say so on columns that may be null. */
export const indexColumns = ({ columns }: PlannedTable, names: readonly string[]): readonly string[] =>
  names.map((name) => (columns.find((column) => column.name === name)?.required === false ? `${name} nulls first` : name))
