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

// Matches rows with a term that the word index does not have as the text column says.
const unindexed = (name: string): string => `
  ${name}.terms like '{%' and exists (
    select 1 from json_array_elements((${name}.terms::json) -> 't') e (value) where not exists (
      select 1 from inkfast.terms t join inkfast.postings p on p.term = t.id and p.doc = ${name}.born
      where t.source = '${name}' and t.term = e.value ->> 0 and p.tf = (e.value ->> 1)::bigint and p.tf_tags = (e.value ->> 2)::bigint
        and p.tf_source = (e.value ->> 3)::bigint and p.len = ((${name}.terms::json) ->> 'l')::bigint)) as astray`

export const statements = Object.fromEntries(
  tableNames.map((name) => {
    const table = tableOf(name)
    const stored = storedColumns(table)
    const columns = [
      stored,
      ...Object.keys(table.columns),
      ...(name === 'work' ? [astray] : []),
      ...(table.text ? [unindexed(name)] : []),
    ].join(', ')
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
