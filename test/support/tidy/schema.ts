// The tables of a fresh file against their declarations in src/model, and the texts that are generated from the migrations.

import { createHash } from 'node:crypto'
import { DECLARED, type Declared, type Engine, type PlannedColumn, type PlannedTable, planTables } from '../../../scripts/schema/plan.ts'
import type { Database } from '../../../src/backends/sqlite/database.ts'

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

/** Tables that a migration creates by hand, by engine: those that hold data of tenants, and those that hold none. */
export const HAND_WRITTEN = {
  sqlite: { tenants: ['events', 'heads'], store: ['clocks', 'migrations', 'secrets'] },
  postgres: { tenants: ['events', 'heads'], store: ['clock', 'migrations', 'secrets', 'wall_keys'] },
} as const satisfies Record<Engine, Readonly<Record<'tenants' | 'store', readonly string[]>>>

export function tablesIn(db: Database): readonly FoundTable[] {
  return db.all("select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' order by name").map((row) => {
    const name = row.name as string
    const indexes = db.all('select name from pragma_index_list(?) where origin = ? order by name', name, 'c').map((index) => {
      const columns = db.all('select name from pragma_index_info(?) order by seqno', index.name as string)
      // A column that is computed has no name; the text of the index has it.
      const text = String(db.get('select sql from sqlite_schema where name = ?', index.name as string)?.sql)
      const computed = text.match(/\w+\([^()]*\)/g) ?? []
      return [index.name as string, columns.map((column) => (column.name as string | null) ?? String(computed.shift()))] as const
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

/** How an engine spells what is planned. */
export interface Dialect {
  readonly engine: Engine
  /** The place of the tables, for the complaint. */
  readonly place: string
  readonly typeOf: (column: PlannedColumn) => string
  readonly indexColumns: (table: PlannedTable, columns: readonly string[]) => readonly string[]
}

const SQLITE: Dialect = {
  engine: 'sqlite',
  place: 'the file',
  typeOf: ({ type }) => (type === 'flag' || type === 'serial' || type === 'count' ? 'integer' : type),
  indexColumns: (_, columns) => columns,
}

function wantedTable(table: PlannedTable, { typeOf, indexColumns }: Dialect): FoundTable {
  return {
    name: table.name,
    columns: table.columns.map((column) => ({
      name: column.name,
      type: typeOf(column),
      required: column.required,
      inKey: table.key.indexOf(column.name) + 1,
    })),
    indexes: Object.fromEntries(table.indexes.map(({ name, columns }) => [name, indexColumns(table, columns)])),
  }
}

/** The differences from the declarations, in words. */
export function checkTables(found: readonly FoundTable[], declared: Declared = DECLARED, dialect: Dialect = SQLITE): readonly string[] {
  const { engine, place } = dialect
  const planned = planTables(engine, declared)
  const byHand: readonly string[] = [...HAND_WRITTEN[engine].tenants, ...HAND_WRITTEN[engine].store]
  const known = new Set([...planned.map(({ name }) => name), ...byHand])
  const there = new Map(found.map((table) => [table.name, table]))
  return [
    ...found.filter(({ name }) => !known.has(name)).map(({ name }) => `the table ${name} is not declared`),
    ...[...known].filter((name) => !there.has(name)).map((name) => `the table ${name} is not in ${place}`),
    ...planned.flatMap((table) => {
      const one = there.get(table.name)
      return one ? differences(one, wantedTable(table, dialect), place) : []
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
  ...wanted.filter((one) => !there.includes(one)).map((one) => `${what} declared and not in ${place}: ${one}`),
  ...there.filter((one) => !wanted.includes(one)).map((one) => `${what} in ${place} and not declared: ${one}`),
]

/** The schema of a fresh file as one text a person can read. */
export function schemaText(db: Database): string {
  const parts = db
    .all(
      "select sql from sqlite_schema where sql is not null and name not like 'sqlite_%' order by tbl_name, type = 'table' desc, type, name",
    )
    .map((row) => `${row.sql as string};\n`)
  return `-- The schema of a fresh file, generated from the migrations by scripts/schema.ts. Not read by any program.\n\n${parts.join('\n')}`
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
      return [`${file} was released and has been edited since (while it is not tagged yet: node scripts/schema.ts)`]
    }),
    ...Object.keys(files)
      .filter((file) => !frozen.some(([name]) => name === file))
      .map((file) => `${file} is not listed in released.json`),
  ]
}
