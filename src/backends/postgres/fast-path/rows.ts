// Row changes of a batch as parts of the one statement: each row is removed, changed or inserted only if it is at the expected revision.
// If any row is not, the statement fails and writes nothing.

import { type ColumnValue, type TableName, tableOf } from '../../../model/tables.ts'
import type { Commit, Guard } from '../../../ports/commit.ts'
import { numbers, textItem, texts } from '../arrays.ts'
import type { Value } from '../connections.ts'
import { textAt, textPieces } from '../pieces.ts'
import { type Addition, type AdditionText, counted } from './addition.ts'

interface Put {
  readonly born: number
  readonly revision: number
  readonly fence: number | undefined
  readonly columns: readonly ColumnValue[]
  readonly body: string
}

/** The change of one row. `before` is the expected revision; 0 if the row must be absent. */
interface RowMove {
  readonly id: string
  readonly before: number
  readonly put: Put | undefined
}

/** Changes by table, ordered by table name. */
export type RowMoves = ReadonlyMap<TableName, readonly RowMove[]>

const NONE: ReadonlyMap<string, number> = new Map()

// Every combination of tables is a prepared statement that the server keeps, so batches that touch more tables take the commit function.
const TABLES_MOST = 3

/**
 * The row changes of a batch, if each row is guarded by its revision. Seqs follow `base`. Undefined if the batch does anything else, or
 * removes a row and puts it again: then it takes the commit function.
 */
export function movesOf(batch: readonly Commit[], base: number): RowMoves | undefined {
  const tables = new Map<TableName, Map<string, RowMove>>()
  let before = base
  for (const { changes, guards, events } of batch) {
    const revisions = changes.length > 0 ? revisionsOf(guards) : NONE
    if (!revisions) return undefined
    for (const change of changes) {
      if (change.kind !== 'put' && change.kind !== 'remove') return undefined
      const { table, id } = change
      const rows = tables.get(table) ?? new Map<string, RowMove>()
      tables.set(table, rows)
      const earlier = rows.get(id)
      const expected = earlier?.before ?? revisions.get(`${table} ${id}`)
      if (expected === undefined || (earlier && !earlier.put)) return undefined
      if (change.kind === 'remove') {
        // The batch puts the row and removes it again.
        if (expected === 0) return undefined
        rows.set(id, { id, before: expected, put: undefined })
        continue
      }
      if (change.event === undefined) return undefined
      const revision = before + change.event + 1
      const fence = change.grants ? revision : earlier?.put?.fence
      rows.set(id, {
        id,
        before: expected,
        put: { born: earlier?.put?.born ?? revision, revision, fence, columns: change.columns, body: change.body },
      })
    }
    before += events.length
  }
  if (tables.size > TABLES_MOST) return undefined
  return new Map([...tables].sort(([a], [b]) => (a < b ? -1 : 1)).map(([table, rows]) => [table, [...rows.values()]]))
}

// A map, because a commit may hold hundreds of guards. Two guards that want one row at different revisions are left to the commit function.
function revisionsOf(guards: readonly Guard[]): ReadonlyMap<string, number> | undefined {
  const revisions = new Map<string, number>()
  for (const guard of guards) {
    if (guard.kind !== 'row') continue
    const name = `${guard.table} ${guard.id}`
    if ((revisions.get(name) ?? guard.revision) !== guard.revision) return undefined
    revisions.set(name, guard.revision)
  }
  return revisions
}

/** The changes of a batch to one table. */
interface TableMoves {
  readonly table: TableName
  readonly removed: readonly RowMove[]
  readonly changed: readonly RowPut[]
  readonly inserted: readonly RowPut[]
}

type RowPut = RowMove & { readonly put: Put }

export function rowChanges(moves: RowMoves): Addition {
  const values: Value[] = []
  let [shape, count] = ['', 0]
  for (const [table, all] of moves) {
    const of = tableMoves(table, all)
    count += all.length
    shape += `${table}${counted('-', of.removed)}${counted('=', of.changed)}${counted('+', of.inserted)} `
    const [gone] = of.removed
    if (gone && of.removed.length === 1) values.push(gone.id, gone.before)
    else if (gone) values.push(texts(of.removed.map(({ id }) => id)), numbers(of.removed.map(({ before }) => before)))
    for (const some of [of.changed, of.inserted]) {
      const [first] = some
      if (first) values.push(...(some.length === 1 ? cellsOf(table, first) : listsOf(table, some)))
    }
  }
  return { shape, count, values, text: (place) => textOf(moves, place) }
}

function tableMoves(table: TableName, all: readonly RowMove[]): TableMoves {
  const put = all.filter((move): move is RowPut => move.put !== undefined)
  return {
    table,
    removed: all.filter(({ put }) => !put),
    changed: put.filter(({ before }) => before > 0),
    inserted: put.filter(({ before }) => before === 0),
  }
}

function listsOf(table: TableName, some: readonly RowPut[]): readonly Value[] {
  const { columns, fenced } = tableOf(table)
  const bodies = textPieces(some.map(({ put }) => put.body))
  return [
    texts(some.map(({ id }) => id)),
    numbers(some.map(({ before, put }) => before || put.born)),
    numbers(some.map(({ put }) => put.revision)),
    ...(fenced ? [cells(some.map(({ put }) => put.fence ?? null))] : []),
    ...Object.keys(columns).map((_, i) => cells(some.map(({ put }) => put.columns[i] ?? null))),
    bodies.from,
    bodies.size,
    bodies.bytes,
  ]
}

function cellsOf(table: TableName, { id, before, put }: RowPut): readonly Value[] {
  const { columns, fenced } = tableOf(table)
  return [
    id,
    before || put.born,
    put.revision,
    ...(fenced ? [put.fence ?? null] : []),
    ...Object.keys(columns).map((_, i) => put.columns[i] ?? null),
    put.body,
  ]
}

type Columns = readonly (readonly [name: string, type: string])[]

const BODY: Columns = [['body', 'text']]
/** Several bodies travel as one run of bytes, which follows the lists. */
const PLACES: Columns = [
  ['body_from', 'integer'],
  ['body_size', 'integer'],
]

function textOf(moves: RowMoves, place: () => string): AdditionText {
  const parts: string[] = []
  const counts: string[] = []
  /** The rows of the batch as a table expression. */
  const brought = (rows: readonly RowMove[], as: string, columns: Columns, body = false): string => {
    const names = columns.map(([name]) => name)
    if (rows.length === 1) {
      const cells = [...columns, ...(body ? BODY : [])].map(([name, type]) => `${place()}::${type} as ${name}`)
      return `(select ${cells.join(', ')}) as ${as}`
    }
    const lists = [...columns, ...(body ? PLACES : [])].map(([, type]) => `${place()}::${type}[]`)
    if (!body) return `unnest(${lists.join(', ')}) as ${as} (${names.join(', ')})`
    return `(
        select ${names.map((name) => `l.${name}`).join(', ')}, ${textAt(`${place()}::bytea`, 'l.body_from', 'l.body_size')} as body
        from unnest(${lists.join(', ')}) as l (${[...names, ...PLACES.map(([name]) => name)].join(', ')})) as ${as}`
  }
  for (const [table, all] of moves) {
    const { removed, changed, inserted } = tableMoves(table, all)
    const { columns, fenced } = tableOf(table)
    const names = Object.keys(columns)
    const fence = fenced ? ['fence'] : []
    const columnsOf = (second: string) => [
      ['id', 'text'] as const,
      ...[second, 'revision', ...fence].map((name) => [name, 'bigint'] as const),
      ...names.map((name) => [name, columns[name] === 'integer' ? 'bigint' : 'text'] as const),
    ]
    const add = (what: string, text: string): void => {
      parts.push(`${table}_${what} as (\n    ${text} returning 1)`)
      counts.push(`(select count(*) from ${table}_${what})`)
    }
    if (removed.length > 0)
      add(
        'removed',
        `delete from inkfast.${table} t using (
      select x.ctid as place
      from ${brought(removed, 'r', [
        ['id', 'text'],
        ['before', 'bigint'],
      ])}, moved m, ${placeOf(table, 'r')}
    ) r where t.ctid = r.place`,
      )
    if (changed.length > 0) {
      const set = ['revision', ...names, 'body'].map((name) => `${name} = u.${name}`)
      if (fenced) set.push('fence = coalesce(u.fence, t.fence)')
      add(
        'changed',
        `update inkfast.${table} t set ${set.join(', ')}
    from (
      select u.*, x.ctid as place
      from ${brought(changed, 'u', columnsOf('before'), true)}, moved m, ${placeOf(table, 'u')}
    ) u where t.ctid = u.place`,
      )
    }
    if (inserted.length > 0) {
      const into = [...columnsOf('born').map(([name]) => name), 'body'].join(', ')
      add(
        'inserted',
        `insert into inkfast.${table} (tenant, ${into})\n    select m.tenant, i.* from ${brought(inserted, 'i', columnsOf('born'), true)}, moved m`,
      )
    }
  }
  return { parts, counts }
}

// A range in the order of the primary key, which no other index has: a plan made while the table was small stays right when it is large.
const placeOf = (table: TableName, row: string): string =>
  `lateral (
        select s.ctid from inkfast.${table} s
        where s.tenant = m.tenant and s.id between ${row}.id and ${row}.id and s.revision = ${row}.before order by s.id limit 1) x`

const cells = (values: readonly ColumnValue[]): string | null =>
  values.every((value) => value === null)
    ? `{${values.map(() => 'null').join(',')}}`
    : `{${values.map((value) => (value === null ? 'null' : typeof value === 'number' ? String(value) : textItem(value))).join(',')}}`
