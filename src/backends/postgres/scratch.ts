// One tenant's rows during a rebuild, in a temporary SQLite file: reading a row from the server before every event would cost a round trip
// each.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { assert } from '../../model/errors.ts'
import type { ScannedRow, StoredRow } from '../../model/rows.ts'
import { type ColumnValue, type TableName, tableOf } from '../../model/tables.ts'
import type { Scratch } from '../../ports/upkeep.ts'

const schema = `
  pragma journal_mode = off;
  pragma synchronous = off;
  create table rows (
    name text, id text, born integer, revision integer, fence integer, columns text, body text, primary key (name, id)
  ) strict, without rowid;
  begin`
const getRow = 'select id, born, revision, fence, body from rows where name = ? and id = ?'
const putRow = `
  insert into rows (name, id, born, revision, fence, columns, body) values (?, ?, ?, ?, ?, ?, ?)
  on conflict (name, id) do update set revision = excluded.revision, fence = coalesce(excluded.fence, fence), columns = excluded.columns,
    body = excluded.body`
const removeRow = 'delete from rows where name = ? and id = ?'
const scan = 'select id, born, revision, fence, columns, body from rows where name = ? and id > ? order by id limit ?'
const scanByAge =
  'select id, born, revision, fence, columns, body from rows where name = ? and (born, id) > (?, ?) order by born, id limit ?'

interface Kept {
  readonly id: string
  readonly born: number
  readonly revision: number
  readonly fence: number | null
  readonly columns: string
  readonly body: string
}

const toStored = ({ id, born, revision, fence, body }: Omit<Kept, 'columns'>): StoredRow => ({
  id,
  born,
  revision,
  ...(fence !== null && { fence }),
  body,
})

const toScanned = (row: Kept): ScannedRow => ({ ...toStored(row), columns: JSON.parse(row.columns) as readonly ColumnValue[] })

/** The rows of a table, oldest first, so that triggers find the earlier items of a series when a later one is inserted. */
type ByAge = (table: TableName, limit: number) => Iterable<readonly ScannedRow[]>
const byAge = new WeakMap<Scratch, ByAge>()

export function rowsByAge(folded: Scratch, table: TableName, limit: number): Iterable<readonly ScannedRow[]> {
  const rows = byAge.get(folded)
  assert(rows, 'a store adopts only what it has made')
  return rows(table, limit)
}

export function scratch(): Scratch {
  // Only this user may enter the folder, because the rows contain titles and metadata.
  const folder = mkdtempSync(join(tmpdir(), 'inkfast-rebuild-'))
  const side = new DatabaseSync(join(folder, 'rows.db'))
  side.exec(schema)
  const [get, put, remove, list] = [getRow, putRow, removeRow, scan].map((sql) => side.prepare(sql)) as [Sql, Sql, Sql, Sql]
  const made: Scratch = {
    get: async (table, id) => {
      const row = get.get(table, id) as unknown as Kept | undefined
      return row && toStored(row)
    },
    apply: async (seq, changes) => {
      for (const change of changes) {
        if (change.kind === 'remove') remove.run(change.table, change.id)
        if (change.kind !== 'put') continue
        const { table, id, columns, body, grants } = change
        put.run(table, id, seq, seq, tableOf(table).fenced && grants ? seq : null, JSON.stringify(columns), body)
      }
    },
    rows: async (table, after, limit) => (list.all(table, after ?? '', limit) as unknown as readonly Kept[]).map(toScanned),
    close: async () => {
      side.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  byAge.set(made, function* (table, limit) {
    side.exec('create index if not exists rows_by_age on rows (name, born, id)')
    const next = side.prepare(scanByAge)
    for (let after: readonly [born: number, id: string] = [-1, '']; ; ) {
      const rows = next.all(table, ...after, limit) as unknown as readonly Kept[]
      const last = rows.at(-1)
      if (!last) return
      yield rows.map(toScanned)
      after = [last.born, last.id]
    }
  })
  return made
}

type Sql = ReturnType<DatabaseSync['prepare']>
