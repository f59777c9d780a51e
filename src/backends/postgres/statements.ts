// SQL for the rows, built from model/tables.ts.

import { type Table, type TableName, tableNames, tableOf } from '../../model/tables.ts'

export interface TableStatements {
  readonly get: string
  readonly scan: string
  readonly stored: string
}

const storedColumns = (table: Table): string => `id, born, revision, ${table.fenced ? 'fence' : 'null::bigint as fence'}, body`

// Matches live items whose `behind` mark is wrong: it must say whether a live item of the series comes before.
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
        // A range in key order, which only the primary key offers: for an empty table any index looks as good, and the plan is cached.
        get: `select ${stored} from inkfast.${name} where id between $1 and $1 order by id limit 1`,
        scan: `select ${columns} from inkfast.${name} where id > $1 order by id limit $2`,
      },
    ]
  }),
) as Readonly<Record<TableName, TableStatements>>
