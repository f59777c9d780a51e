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

// Matches rows with a term that the word index does not have as the text column says. Each posting is read by its whole key: joined, all
// words of the tenant would be read for each word.
const unindexed = (name: string): string => `
  ${name}.terms like '{%' and exists (
    select 1 from (
      select x.l as len, x.a as scope, e.value ->> 0 as term, (e.value ->> 1)::bigint as tf, (e.value ->> 2)::bigint as tags, (e.value ->> 3)::bigint as source
      from json_to_record(${name}.terms::json) x (l bigint, a text, t json) cross join lateral json_array_elements(x.t) e (value) offset 0) w
    where (
      select p.tf = w.tf and p.tf_tags = w.tags and p.tf_source = w.source and p.len = w.len
      from (
        select b.id from inkfast.terms b where b.source = '${name}' and b.term between w.term and w.term order by b.source, b.term limit 1) t
      cross join (
        select coalesce((
          select a.id from inkfast.terms a where a.source = '${name}' and a.term between w.scope and w.scope order by a.source, a.term limit 1
        ), 0) as id) a
      cross join lateral (
        select q.* from inkfast.postings q
        where q.term between t.id and t.id and q.about between a.id and a.id and q.doc between ${name}.born and ${name}.born
        order by q.term, q.about, q.doc limit 1) p) is not true) as astray`

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
