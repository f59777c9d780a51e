// SQL for the rows, built from model/tables.ts.

import { type Table, type TableName, tableNames, tableOf } from '../../model/tables.ts'

export interface TableStatements {
  readonly get: string
  readonly put: string
  readonly remove: string
  readonly revision: string
  readonly scan: string
  readonly stored: string
}

// Matches live items whose `behind` mark is wrong: it must say whether a live item of the series comes before.
const astray = `
  state is not 'dead' and behind <> coalesce((
    select 1 from work as e indexed by work_by_series
    where e.tenant = work.tenant and e.series = work.series and e.state is not 'dead' and (e.born, e.id) < (work.born, work.id) limit 1), 0) as astray`

// Matches rows with a term that the word index does not have as the text column says.
const unindexed = (name: string): string => `
  substr(${name}.terms, 1, 1) = '{' and exists (
    select 1 from (
      select ${name}.terms ->> '$.l' as len, coalesce((
        select a.id from terms as a where a.tenant = ${name}.tenant and a.source = '${name}' and a.term = ${name}.terms ->> '$.a'), 0) as about
      limit 1
    ) as one cross join json_each(${name}.terms, '$.t') as e where not exists (
      select 1 from terms as t cross join postings as p on p.tenant = t.tenant and p.term = t.id and p.about = one.about and p.doc = ${name}.born
      where t.tenant = ${name}.tenant and t.source = '${name}' and t.term = e.value ->> 0
        and p.tf = e.value ->> 1 and p.tf_tags = e.value ->> 2 and p.tf_source = e.value ->> 3 and p.len = one.len)) as astray`

const statementsOf = (name: TableName): TableStatements => {
  const table: Table = tableOf(name)
  const columns = Object.keys(table.columns)
  const fence = table.fenced ? ['fence'] : []
  const all = ['tenant', 'id', 'born', 'revision', ...fence, ...columns, 'body']
  const updated = ['revision', ...columns, 'body'].map((c) => `${c} = excluded.${c}`)
  // A change that grants nothing keeps the fence.
  if (table.fenced) updated.push('fence = coalesce(excluded.fence, fence)')
  const stored = `id, born, revision, ${table.fenced ? 'fence' : 'null as fence'}, body`
  return {
    stored,
    get: `select ${stored} from ${name} where tenant = ? and id = ?`,
    put: `insert into ${name} (${all.join(', ')}) values (${all.map(() => '?').join(', ')}) on conflict (tenant, id) do update set ${updated.join(', ')}`,
    remove: `delete from ${name} where tenant = ? and id = ?`,
    revision: `select revision, ${table.fenced ? 'fence' : 'null as fence'} from ${name} where tenant = ? and id = ?`,
    scan: `select ${[stored, ...columns, ...(name === 'work' ? [astray] : []), ...(table.text ? [unindexed(name)] : [])].join(', ')} from ${name} where tenant = ? and id > ? order by id limit ?`,
  }
}

export const statements = Object.fromEntries(tableNames.map((name) => [name, statementsOf(name)])) as Readonly<
  Record<TableName, TableStatements>
>
