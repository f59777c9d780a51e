// SQL for the rows, built from model/tables.ts so that a new table needs a migration and nothing else.

import { type Table, type TableName, tableNames, tableOf } from '../../model/tables.ts'

export interface TableStatements {
  readonly get: string
  readonly scan: string
  readonly stored: string
}

const storedColumns = (table: Table): string => `id, born, revision, ${table.fenced ? 'fence' : 'null::bigint as fence'}, body`

export const statements = Object.fromEntries(
  tableNames.map((name) => {
    const table = tableOf(name)
    const stored = storedColumns(table)
    const columns = [stored, ...Object.keys(table.columns)].join(', ')
    return [
      name,
      {
        stored,
        // As a range in its order, which only the primary key has: while a table is empty any index looks as good, and the plan is kept.
        get: `select ${stored} from inkfast.${name} where id between $1 and $1 order by id limit 1`,
        scan: `select ${columns} from inkfast.${name} where id > $1 order by id limit $2`,
      },
    ]
  }),
) as Readonly<Record<TableName, TableStatements>>
