// The hand-written migrations against model/tables.ts, as a fresh file shows them.

import { createHash } from 'node:crypto'
import type { Database } from '../../../src/backends/sqlite/database.ts'
import type { Table } from '../../../src/model/tables.ts'

export interface Column {
  readonly name: string
  readonly type: string
  readonly required: boolean
  /** Its place in the primary key, from 1; 0 when it is not part of it. */
  readonly inKey: number
}

export interface FoundTable {
  readonly name: string
  readonly columns: readonly Column[]
  readonly indexes: Readonly<Record<string, readonly string[]>>
}

/** Tables of the backend's own, which are not rows. */
export const OWN_TABLES: readonly string[] = ['events', 'heads', 'receipts', 'renewals', 'secrets', 'migrations']

/** What the backends add to a table of rows for themselves, made from its rows and no part of them. */
const OWN_PARTS: Readonly<Record<string, { readonly flags: readonly string[]; readonly indexes: Table['indexes'] }>> = {
  work: { flags: ['behind'], indexes: { bySeries: ['series', 'born'], byTurn: ['queue', 'priority', 'at', 'born'] } },
}
/** A yes or no: an integer in a file. */
export const FLAG = 'flag'

export function tablesIn(db: Database): readonly FoundTable[] {
  return db.all("select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' order by name").map((row) => {
    const name = row.name as string
    const indexes = db.all('select name from pragma_index_list(?) where origin = ? order by name', name, 'c').map((index) => {
      const columns = db.all('select name from pragma_index_info(?) order by seqno', index.name as string)
      return [index.name as string, columns.map((column) => column.name as string)] as const
    })
    const columns = db.all('select * from pragma_table_info(?) order by cid', name).map((column) => ({
      name: column.name as string,
      type: String(column.type).toLowerCase(),
      required: column.notnull === 1,
      inKey: column.pk as number,
    }))
    return { name, columns, indexes: Object.fromEntries(indexes) }
  })
}

export const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** What tables.ts asks of a backend. */
export function wantedTable(name: string, table: Table): FoundTable {
  const column = (columnName: string, type: string, required: boolean, inKey = 0): Column => ({ name: columnName, type, required, inKey })
  const own = OWN_PARTS[name]
  return {
    name,
    columns: [
      column('tenant', 'text', true, 1),
      column('id', 'text', true, 2),
      column('born', 'integer', true),
      column('revision', 'integer', true),
      ...(table.fenced ? [column('fence', 'integer', false)] : []),
      ...Object.entries(table.columns).map(([columnName, type]) => column(columnName, type, false)),
      column('body', 'text', true),
      ...(own?.flags ?? []).map((flag) => column(flag, FLAG, true)),
    ],
    indexes: Object.fromEntries(
      Object.entries({ ...table.indexes, ...own?.indexes }).map(([index, columns]) => [
        `${name}_${snake(index)}`,
        ['tenant', ...columns.map(snake), 'id'],
      ]),
    ),
  }
}

export interface Dialect {
  readonly own: readonly string[]
  /** Where the tables were found, for the complaint. */
  readonly place: string
  readonly wantedTable: (name: string, table: Table) => FoundTable
}

const wantedFileTable = (name: string, table: Table): FoundTable => {
  const wanted = wantedTable(name, table)
  return { ...wanted, columns: wanted.columns.map((column) => (column.type === FLAG ? { ...column, type: 'integer' } : column)) }
}

const SQLITE: Dialect = { own: OWN_TABLES, place: 'the file', wantedTable: wantedFileTable }

export function checkTables(
  found: readonly FoundTable[],
  wanted: Readonly<Record<string, Table>>,
  dialect: Dialect = SQLITE,
): readonly string[] {
  const { own, place } = dialect
  const stray = found.filter(({ name }) => !(name in wanted) && !own.includes(name))
  return [
    ...stray.map(({ name }) => `nobody knows the table ${name}`),
    ...own.filter((name) => !found.some((table) => table.name === name)).map((name) => `the table ${name} is not in ${place}`),
    ...Object.entries(wanted).flatMap(([name, table]) => {
      const there = found.find((candidate) => candidate.name === name)
      return there ? differences(there, dialect.wantedTable(name, table), place) : [`the table ${name} is not in ${place}`]
    }),
  ]
}

function differences(there: FoundTable, wanted: FoundTable, place: string): readonly string[] {
  const columns = (table: FoundTable) =>
    table.columns.map((c) => `${c.name} ${c.type}${c.required ? ' not null' : ''}${c.inKey ? ` key ${c.inKey}` : ''}`)
  const indexes = (table: FoundTable) => Object.entries(table.indexes).map(([name, names]) => `${name} (${names.join(', ')})`)
  return [
    ...apart(`column of ${there.name}`, columns(there), columns(wanted), place),
    ...apart(`index of ${there.name}`, indexes(there), indexes(wanted), place),
  ]
}

const apart = (what: string, there: readonly string[], wanted: readonly string[], place: string): readonly string[] => [
  ...wanted.filter((one) => !there.includes(one)).map((one) => `${what} wanted by tables.ts and not in ${place}: ${one}`),
  ...there.filter((one) => !wanted.includes(one)).map((one) => `${what} in ${place} and not wanted by tables.ts: ${one}`),
]

/** The schema of a fresh file as one text a person can read. */
export function schemaText(db: Database): string {
  const parts = db
    .all(
      "select sql from sqlite_schema where sql is not null and name not like 'sqlite_%' order by tbl_name, type = 'table' desc, type, name",
    )
    .map((row) => `${row.sql as string};\n`)
  return `-- The schema of a fresh file, generated from the migrations by scripts/release.ts --schema. Not read by any program.\n\n${parts.join('\n')}`
}

/** `0001_journal.sql`; what else lies beside the migrations may change. */
export const isMigration = (file: string): boolean => /^\d{4}_.+\.sql$/.test(file)

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Which migrations a release froze, by version: { "0.1.0": { "0001_journal.sql": "<sha256>" } }. */
export type Released = Readonly<Record<string, Readonly<Record<string, string>>>>

export function checkReleased(released: Released, files: Readonly<Record<string, string>>): readonly string[] {
  const frozen = Object.values(released).flatMap((release) => Object.entries(release))
  return [
    ...frozen.flatMap(([file, sum]) => {
      const text = files[file]
      if (text === undefined) return [`${file} was released and is gone`]
      if (sha256(text) === sum) return []
      return [`${file} was released and has been edited since (while it is not tagged yet: node scripts/release.ts --schema)`]
    }),
    ...Object.keys(files)
      .filter((file) => !frozen.some(([name]) => name === file))
      .map((file) => `${file} is not listed in released.json`),
  ]
}
