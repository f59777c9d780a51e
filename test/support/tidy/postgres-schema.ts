// The tables of a fresh PostgreSQL database: against their declarations in src/model, against the wall, and as one text to read.

import { DECLARED, type Declared, planTables } from '../../../scripts/schema/plan.ts'
import { indexColumns, postgresType } from '../../../scripts/schema/postgres.ts'
import { type Column, checkTables, type FoundTable, HAND_WRITTEN } from './schema.ts'

/** A question to a database that has our schema; everything comes back as text. */
export type Ask = (sql: string) => Promise<readonly Readonly<Record<string, string | null>>[]>

export interface FoundDatabaseTable extends FoundTable {
  readonly walled: boolean
  readonly policies: number
}

const tableRows = `
  select c.oid::text, c.relname as name, pg_get_userbyid(c.relowner) as owner, (c.relrowsecurity and c.relforcerowsecurity)::text as walled,
    array_to_string(c.reloptions, ', ') as options, (select count(*)::text from pg_policy p where p.polrelid = c.oid) as policies
  from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'inkfast' and c.relkind in ('r', 'p') order by 2`
const columnRows = (table: string) => `
  select a.attname as name, format_type(a.atttypid, a.atttypmod) || case when l.collname <> 'default' then ' collate "' || l.collname || '"' else '' end as type,
    a.attnotnull::text as required, pg_get_expr(d.adbin, d.adrelid) as preset,
    coalesce(array_position(k.conkey, a.attnum), 0)::text as place
  from pg_attribute a left join pg_collation l on l.oid = a.attcollation left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    left join pg_constraint k on k.conrelid = a.attrelid and k.contype = 'p'
  where a.attrelid = ${table} and a.attnum > 0 and not a.attisdropped order by a.attnum`
const indexRows = (table: string) => `
  select c.relname as name, pg_get_indexdef(i.indexrelid) as definition,
    (select string_agg(pg_get_indexdef(i.indexrelid, n, false) || case when i.indoption[n - 1] & 2 = 2 then ' nulls first' else '' end, ', ' order by n)
     from generate_series(1, i.indnkeyatts) n) as columns
  from pg_index i join pg_class c on c.oid = i.indexrelid where i.indrelid = ${table} and not i.indisprimary order by 1`

export async function tablesInDatabase(ask: Ask): Promise<readonly FoundDatabaseTable[]> {
  const found: FoundDatabaseTable[] = []
  for (const { oid, name, walled, policies } of await ask(tableRows)) {
    const columns = (await ask(columnRows(oid as string))).map(
      (row): Column => ({
        name: row.name as string,
        type: row.type as string,
        required: row.required === 'true',
        inKey: Number(row.place),
      }),
    )
    const indexes = (await ask(indexRows(oid as string))).map((row) => [row.name as string, (row.columns as string).split(', ')] as const)
    found.push({
      name: name as string,
      columns,
      indexes: Object.fromEntries(indexes),
      walled: walled === 'true',
      policies: Number(policies),
    })
  }
  return found
}

export const checkDatabaseTables = (found: readonly FoundTable[], declared: Declared = DECLARED): readonly string[] =>
  checkTables(found, declared, { engine: 'postgres', place: 'the database', typeOf: postgresType, indexColumns })

const withoutTenants: readonly string[] = HAND_WRITTEN.postgres.store

/** Indexes that are declared for the store itself, which looks across tenants. */
const across: readonly string[] = planTables('postgres').flatMap(({ indexes }) =>
  indexes.filter((index) => index.across).map(({ name }) => name),
)

/** Row-level security on every table; and where a table has tenants, no key and no index that does not begin with one, unless it is declared. */
export function checkWall(found: readonly FoundDatabaseTable[]): readonly string[] {
  return found.flatMap(({ name, columns, indexes, walled, policies }) => {
    const bare = [
      ...(walled ? [] : [`row-level security is not enabled and forced on ${name}`]),
      ...(policies > 0 ? [] : [`${name} has no policy, so nobody can use it`]),
    ]
    if (withoutTenants.includes(name)) return bare
    const key = columns
      .filter(({ inKey }) => inKey > 0)
      .sort((a, b) => a.inKey - b.inKey)
      .map((column) => column.name)
    const all = [['its primary key', key] as const, ...Object.entries(indexes)]
    return [
      ...bare,
      ...all
        .filter(([index, names]) => names[0] !== 'tenant' && !across.includes(index))
        .map(([index]) => `${name}: ${index} does not begin with the tenant`),
    ]
  })
}

const policyRows = (table: string) => `
  select p.polname as name, case p.polcmd when '*' then 'all' when 'r' then 'select' when 'a' then 'insert' when 'w' then 'update' else 'delete' end as verb,
    (select string_agg(case when r = 0 then 'public' else pg_get_userbyid(r) end, ', ' order by 1) from unnest(p.polroles) r) as roles,
    pg_get_expr(p.polqual, p.polrelid) as using, pg_get_expr(p.polwithcheck, p.polrelid) as checks
  from pg_policy p where p.polrelid = ${table} order by 1`
const grantRows = (acl: string) => `
  select string_agg(lower(privilege_type), ', ' order by lower(privilege_type)) as rights, who
  from (select privilege_type, case when grantee = 0 then 'public' else pg_get_userbyid(grantee) end as who, grantee, owner from ${acl}) a
  where grantee <> owner group by who order by who`
const onTable = (table: string) =>
  grantRows(`(select (aclexplode(c.relacl)).*, c.relowner as owner from pg_class c where c.oid = ${table}) x`)
const onColumns = (table: string) =>
  grantRows(
    `(select (aclexplode(a.attacl)).grantee, (aclexplode(a.attacl)).privilege_type || ' (' || a.attname || ')' as privilege_type, 0::oid as owner
    from pg_attribute a where a.attrelid = ${table}) x`,
  )
const onFunction = (routine: string) =>
  grantRows(
    `(select (aclexplode(coalesce(p.proacl, acldefault('f', p.proowner)))).*, p.proowner as owner from pg_proc p where p.oid = ${routine}) x`,
  )
const onSchema = grantRows(`(select (aclexplode(n.nspacl)).*, n.nspowner as owner from pg_namespace n where n.nspname = 'inkfast') x`)
const constraintRows = (table: string) => `
  select pg_get_constraintdef(k.oid) as text from pg_constraint k
  where k.conrelid = ${table} and k.contype in ('p', 'u', 'c', 'f') order by k.contype <> 'p', 1`
const triggerRows = (table: string) =>
  `select pg_get_triggerdef(t.oid) as text from pg_trigger t where t.tgrelid = ${table} and not t.tgisinternal order by t.tgname`
const typeRows = `
  select t.typname as name, pg_get_userbyid(t.typowner) as owner,
    (select string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod), ', ' order by a.attnum) from pg_attribute a where a.attrelid = t.typrelid) as members
  from pg_type t join pg_class c on c.oid = t.typrelid join pg_namespace n on n.oid = t.typnamespace
  where n.nspname = 'inkfast' and c.relkind = 'c' order by 1`
const functionRows = `
  select p.oid::text, p.oid::regprocedure::text as name, pg_get_userbyid(p.proowner) as owner, pg_get_functiondef(p.oid) as text
  from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname = 'inkfast' order by p.proname, 2`

/** The schema of a fresh database as one text a person can read; the same on every server of one major version. */
export async function databaseText(ask: Ask): Promise<string> {
  const parts = [
    '-- The schema of a fresh database, generated from the migrations by scripts/schema.ts. Not read by any program.',
    ['create schema inkfast authorization inkfast_owner;', ...granted('schema inkfast', await ask(onSchema))].join('\n'),
  ]
  for (const { oid, name, owner, options } of await ask(tableRows))
    parts.push(await tableText(ask, oid as string, name as string, owner, options))
  for (const { name, owner, members } of await ask(typeRows)) parts.push(`-- owner: ${owner}\ncreate type inkfast.${name} as (${members});`)
  for (const { oid, name, owner, text } of await ask(functionRows)) {
    const rights = granted(`function ${name}`, await ask(onFunction(oid as string)))
    parts.push([`-- owner: ${owner}`, `${text?.trimEnd()};`, ...rights].join('\n'))
  }
  return `${parts.join('\n\n')}\n`
}

async function tableText(
  ask: Ask,
  oid: string,
  name: string,
  owner: string | null | undefined,
  options: string | null | undefined,
): Promise<string> {
  const columns = (await ask(columnRows(oid))).map(
    (c) => `${c.name} ${c.type}${c.preset === null ? '' : ` default ${c.preset}`}${c.required === 'true' ? ' not null' : ''}`,
  )
  const constraints = (await ask(constraintRows(oid))).map(({ text }) => text as string)
  const policies = (await ask(policyRows(oid))).map((p) => {
    const clauses = [...(p.using === null ? [] : [`using (${p.using})`]), ...(p.checks === null ? [] : [`with check (${p.checks})`])]
    return `create policy ${p.name} on inkfast.${name} for ${p.verb} to ${p.roles} ${clauses.join(' ')};`
  })
  return [
    `-- owner: ${owner}`,
    `create table inkfast.${name} (\n${[...columns, ...constraints].map((line) => `  ${line}`).join(',\n')}\n)${options ? ` with (${options})` : ''};`,
    ...(await ask(indexRows(oid))).map((row) => `${row.definition};`),
    ...(await ask(triggerRows(oid))).map((row) => `${row.text};`),
    `alter table inkfast.${name} enable row level security, force row level security;`,
    ...policies,
    ...granted(`inkfast.${name}`, [...(await ask(onTable(oid))), ...(await ask(onColumns(oid)))]),
  ].join('\n')
}

const granted = (what: string, rows: Awaited<ReturnType<Ask>>): readonly string[] =>
  rows.map(({ rights, who }) => `grant ${rights} on ${what} to ${who};`)
