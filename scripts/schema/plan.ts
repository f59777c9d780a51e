// Every generated table as a database has it: columns, key, indexes and rights, from the declarations in src/model. The engines differ in
// spelling only, which sqlite.ts and postgres.ts add.

import { type SideTable, sideTables } from '../../src/model/side-tables.ts'
import { type Table, tables } from '../../src/model/tables.ts'

export type Engine = 'sqlite' | 'postgres'

export interface PlannedColumn {
  readonly name: string
  readonly type: 'text' | 'integer' | 'count' | 'real' | 'blob' | 'flag' | 'serial'
  readonly required: boolean
}

export interface PlannedIndex {
  readonly name: string
  readonly columns: readonly string[]
  readonly where?: string
  readonly unique?: boolean
  /** For the store itself, so it does not begin with the tenant. */
  readonly across?: boolean
}

export interface PlannedTable {
  readonly name: string
  readonly columns: readonly PlannedColumn[]
  readonly key: readonly string[]
  readonly covers?: readonly string[]
  readonly indexes: readonly PlannedIndex[]
  readonly rights: SideTable['rights']
  /** SQLite keeps the key in an index of its own. */
  readonly large?: boolean
}

export interface Declared {
  readonly rows: Readonly<Record<string, Table>>
  readonly sides: Readonly<Record<string, SideTable>>
}

export const DECLARED: Declared = { rows: tables, sides: sideTables }

export const planTables = (engine: Engine, { rows, sides }: Declared = DECLARED): readonly PlannedTable[] => [
  ...Object.entries(rows).map(([name, table]) => planRows(engine, name, table)),
  ...Object.entries(sides)
    .filter(([, table]) => isOn(engine, table))
    .map(([name, table]) => planSide(engine, name, table)),
]

const isOn = (engine: Engine, { engine: only }: { readonly engine?: Engine }): boolean => only === undefined || only === engine

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const required = (name: string, type: PlannedColumn['type']): PlannedColumn => ({ name, type, required: true })

function planRows(engine: Engine, name: string, table: Table): PlannedTable {
  const index = (key: string, columns: readonly string[]) => ({ name: `${name}_${snake(key)}`, columns: ['tenant', ...columns, 'id'] })
  return {
    name,
    columns: [
      required('tenant', 'text'),
      required('id', 'text'),
      required('born', 'integer'),
      required('revision', 'integer'),
      ...(table.fenced ? [{ name: 'fence', type: 'integer', required: false } as const] : []),
      ...Object.entries(table.columns).map(([column, type]) => ({ name: column, type, required: false })),
      required('body', 'text'),
      ...(table.flags ?? []).map((flag) => required(flag, 'flag')),
    ],
    key: ['tenant', 'id'],
    indexes: [
      ...Object.entries(table.indexes).map(([key, columns]) => ({ ...index(key, columns), ...sparse(table.sparse?.[key]) })),
      ...Object.entries(table.partialIndexes ?? {})
        .filter(([, partial]) => isOn(engine, partial))
        .map(([key, { columns, where }]) => ({ ...index(key, columns), where: spelled(engine, where, table.flags) })),
    ],
    rights: ['insert', 'update', 'delete'],
    ...(table.large && { large: true }),
  }
}

const sparse = (column: string | undefined): Pick<PlannedIndex, 'where'> => (column ? { where: `${column} is not null` } : {})

/** SQLite has no booleans. Said as an equality, a flag costs it no look at the row: the index covers the query. */
const spelled = (engine: Engine, where: string, flags: readonly string[] = []): string =>
  engine === 'postgres' ? where : flags.reduce((text, flag) => text.replaceAll(`not ${flag}`, `${flag} = 0`), where)

function planSide(engine: Engine, name: string, table: SideTable): PlannedTable {
  const column = (columnName: string, declared: string): PlannedColumn => {
    const optional = declared.endsWith('?')
    return { name: columnName, type: (optional ? declared.slice(0, -1) : declared) as PlannedColumn['type'], required: !optional }
  }
  const { numbered } = table
  return {
    name,
    columns: [
      // SQLite's own row number: the only key that keeps rows of some length compact.
      ...(numbered ? [{ name: 'id', type: 'serial', required: engine === 'postgres' } as const] : []),
      required('tenant', 'text'),
      ...Object.entries(table.columns).map(([columnName, declared]) => column(columnName, declared)),
    ],
    ...(table.covers && engine === 'postgres' && { covers: table.covers }),
    key: numbered ? (engine === 'sqlite' ? ['id'] : ['tenant', 'id']) : ['tenant', ...table.key],
    indexes: [
      ...(numbered ? [{ name: `${name}_by_key`, ...keyIndex(engine, table) }] : []),
      ...Object.entries(table.indexes).map(([key, columns]) => ({ name: `${name}_${snake(key)}`, columns: ['tenant', ...columns] })),
      ...Object.entries(table.across ?? {}).map(([key, columns]) => ({
        name: `${name}_${snake(key)}`,
        columns: [...columns, 'tenant'],
        across: true,
      })),
    ],
    rights: table.rights,
  }
}

/** A digest is found by its first bytes. SQLite has one writer at a time, which looks before it writes, so its index need not be unique. */
const keyIndex = (engine: Engine, { key, columns }: SideTable): Pick<PlannedIndex, 'columns' | 'unique'> =>
  engine === 'sqlite' && key.every((column) => columns[column] === 'blob')
    ? { columns: ['tenant', ...key.map((column) => `substr(${column}, 1, 8)`)] }
    : { columns: ['tenant', ...key], unique: true }

/** The lines between the brackets of `create table`, aligned. */
export function columnLines({ columns, key, covers }: PlannedTable, typeOf: (column: PlannedColumn) => string): string {
  const width = Math.max(...columns.map(({ name }) => name.length))
  const lines = columns.map(
    (column) => `${column.name.padEnd(width)} ${typeOf(column)}${column.required ? ' not null' : ''}${presetOf(column, typeOf)}`,
  )
  const covering = covers ? ` include (${covers.join(', ')})` : ''
  return [...lines, `primary key (${key.join(', ')})${covering}`].map((line) => `  ${line}`).join(',\n')
}

const presetOf = (column: PlannedColumn, typeOf: (column: PlannedColumn) => string): string =>
  column.type !== 'flag' ? '' : typeOf(column) === 'boolean' ? ' default false' : ' default 0'
