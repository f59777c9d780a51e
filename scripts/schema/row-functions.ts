// The functions through which commit_v1 reaches the tables of rows on PostgreSQL: three for each table, and three that call the right one by the
// name of the table. A new table adds its three and rewrites the callers; commit_v1 stays as it is.

import { CONTENT } from '../../src/backends/postgres/content-functions.ts'
import { textAt } from '../../src/backends/postgres/pieces.ts'
import type { Table } from '../../src/model/tables.ts'
import { DECLARED } from './plan.ts'

// One argument each: PL/pgSQL sets up every expression anew in every transaction, and thirteen arguments would be thirteen of them.
const LISTS = `create type inkfast.guard_list as (tenant text, names text[], ids text[], wants bigint[], fences boolean[]);
create type inkfast.remove_list as (tenant text, outs boolean[], names text[], ids text[], commits integer[]);
create type inkfast.put_list as (
  tenant text, base bigint, partly boolean, seqs bigint[], outs boolean[], names text[], ids text[], commits integer[],
  borns integer[], revisions integer[], fences integer[], columns text[], starts integer[], sizes integer[], bodies bytea);`

const VERBS = [
  { verb: 'guard', answer: 'bigint[]', of: guardOf },
  { verb: 'remove', answer: 'boolean', of: removeOf },
  { verb: 'put', answer: 'boolean', of: putOf },
] as const

export function rowFunctions(rows: Readonly<Record<string, Table>> = DECLARED.rows): string {
  const names = Object.keys(rows)
  const made = Object.entries(rows).flatMap(([name, table]) =>
    VERBS.map(({ verb, answer, of }) => functionText(`${verb}_${name}`, `p inkfast.${verb}_list`, answer, of(name, table))),
  )
  const callers = VERBS.map(({ verb, answer }) =>
    functionText(
      `${verb}_rows`,
      `p_name text, p inkfast.${verb}_list`,
      answer,
      callerOf(verb, [...names, ...(verb === 'guard' ? [CONTENT] : [])].sort()),
    ),
  )
  const all = [...names, 'rows'].flatMap((name) => VERBS.map(({ verb }) => `inkfast.${verb}_${name}`)).join(', ')
  return [LISTS, ...made, ...callers, `revoke all on function ${all} from public;\ngrant execute on function ${all} to inkfast_app;`].join(
    '\n\n',
  )
}

const functionText = (name: string, parameters: string, answer: string, body: string): string =>
  `create function inkfast.${name}(${parameters}) returns ${answer} language plpgsql as $$\nbegin\n${body}\nend\n$$;`

/** Numbers of the guards that do not hold, each with the revision or fence that was found. Null where all hold. */
function guardOf(name: string, { fenced }: Table): string {
  const found = fenced
    ? 'coalesce(case when g.fence then r.fence else r.revision end, 0)'
    : 'case when g.fence then 0 else coalesce(r.revision, 0) end'
  return `  return (
    select array_agg(array[g.n, ${found}])
    from unnest(p.names, p.ids, p.wants, p.fences) with ordinality as g (name, id, wanted, fence, n)
    left join lateral (
      select t.revision${fenced ? ', t.fence' : ''} from inkfast.${name} t
      where t.tenant = p.tenant and t.id between g.id and g.id order by t.id limit 1
    ) r on true
    where g.name = '${name}' and ${found} <> g.wanted);`
}

function removeOf(name: string): string {
  return `  delete from inkfast.${name} t
  using (
    select x.ctid as place from unnest(p.names, p.ids, p.commits) as r (name, id, commit)
    cross join lateral (
      select s.ctid from inkfast.${name} s where s.tenant = p.tenant and s.id between r.id and r.id order by s.id limit 1
    ) x
    where r.name = '${name}' and not p.outs[r.commit]
  ) r
  where t.ctid = r.place;
  return true;`
}

/** The seq of an event of the batch; null if its commit was refused, or if the number is 0. */
const seqOf = (n: string): string => `case when p.partly then p.seqs[${n}] else p.base + nullif(${n}, 0) end`

function putOf(name: string, table: Table): string {
  const columns = Object.keys(table.columns)
  const fence = table.fenced ? ['fence'] : []
  const values = [
    'p.tenant',
    'r.id',
    `coalesce(${seqOf('r.born')}, 0)`,
    `coalesce(${seqOf('r.revision')}, 0)`,
    ...fence.map(() => seqOf('r.fence')),
    ...columns.map((column, i) => `(r.columns::json ->> ${i})${table.columns[column] === 'integer' ? '::bigint' : ''}`),
    textAt('p.bodies', 'r.body_from', 'r.body_size'),
  ]
  const updated = ['revision', ...columns, 'body'].map((column) => `${column} = excluded.${column}`)
  // A change that grants nothing leaves the fence as it is.
  if (table.fenced) updated.push('fence = coalesce(excluded.fence, t.fence)')
  return `  insert into inkfast.${name} as t (${['tenant', 'id', 'born', 'revision', ...fence, ...columns, 'body'].join(', ')})
  select ${values.join(', ')}
  from unnest(p.names, p.ids, p.commits, p.borns, p.revisions, p.fences, p.columns, p.starts, p.sizes)
    as r (name, id, commit, born, revision, fence, columns, body_from, body_size)
  where r.name = '${name}' and not p.outs[r.commit]
  on conflict (tenant, id) do update set ${updated.join(', ')};
  return true;`
}

// Found by halving: each comparison has its price, and a list of them would cost more with every table.
const AT_A_LEAF = 3

function callerOf(verb: string, names: readonly string[]): string {
  const branch = (some: readonly string[], indent: string): string => {
    if (some.length <= AT_A_LEAF)
      return `${some.map((name, i) => `${indent}${i === 0 ? 'if' : 'elsif'} p_name = '${name}' then return inkfast.${verb}_${name}(p);`).join('\n')}\n${indent}end if;`
    const middle = Math.ceil(some.length / 2)
    return `${indent}if p_name collate "C" < '${some[middle]}' then
${branch(some.slice(0, middle), `${indent}  `)}
${indent}else
${branch(some.slice(middle), `${indent}  `)}
${indent}end if;`
  }
  // Bytes decide, as they did where the names were sorted.
  return `${branch(names, '  ')}\n  raise exception 'inkfast: there is no table of rows named %', p_name using errcode = 'IF003';`
}
