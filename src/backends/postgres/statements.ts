// SQL for the rows, built from model/tables.ts so that a new table needs a migration and nothing else.

import { type Table, type TableName, tableNames, tableOf } from '../../model/tables.ts'

export interface TableStatements {
  readonly get: string
  readonly scan: string
  readonly stored: string
}

const storedColumns = (table: Table): string => `id, born, revision, ${table.fenced ? 'fence' : 'null::bigint as fence'}, body`

// Alive, and not marked by whether anything alive of its series comes before it.
const astray = `
  state is distinct from 'dead' and behind is distinct from ((
    select e.id from inkfast.work e
    where e.series = work.series and e.state is distinct from 'dead' and (e.born, e.id) < (work.born, work.id)
    order by e.series nulls first, e.born, e.id limit 1) is not null) as astray`

export const statements = Object.fromEntries(
  tableNames.map((name) => {
    const table = tableOf(name)
    const stored = storedColumns(table)
    const columns = [stored, ...Object.keys(table.columns), ...(name === 'work' ? [astray] : [])].join(', ')
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
