// The isolation matrix: everything that can be tried on every relation of the schema, by everybody who is not acme, in both roles. What it
// tells is what went through: nothing, when the wall stands. The same is done as acme itself, to know that each try would have worked.

import { Client, type DatabaseError, escapeLiteral } from 'pg'
import { planTables } from '../../scripts/schema/plan.ts'
import { STORE } from '../../src/backends/postgres/wall.ts'
import { LONG } from '../support/rounds.ts'
import { ACME, acmeItself, type Identity, MARK, strangers, wallOf } from './tenants.ts'

export interface MatrixOptions {
  /** A superuser's, to the database. */
  readonly url: string
  /** Logins of inkfast_app and inkfast_reader alone. */
  readonly logins: readonly { readonly role: string; readonly url: string }[]
  /** Only these relations; all that the catalogue knows by default. */
  readonly only?: readonly string[]
}

export interface Verdict {
  /** What a stranger got through, and what acme itself could not do. */
  readonly told: readonly string[]
  readonly tries: number
}

interface Relation {
  readonly name: string
  readonly columns: readonly string[]
  readonly key: readonly string[]
  /** Its rows belong to tenants. */
  readonly walled: boolean
}

const relationsOf = `
  select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns, bool_or(a.attname = 'tenant') as walled,
    coalesce((select array_agg(k.attname::text) from pg_index i
              join pg_attribute k on k.attrelid = i.indrelid and k.attnum = any ((i.indkey::smallint[])[0:i.indnkeyatts - 1])
              where i.indrelid = c.oid and i.indisprimary), '{}') as key
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  where c.relnamespace = 'inkfast'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f') group by c.oid order by 1`

/** Read by all who serve: the time and the numbers of migrations. */
const PLAIN = ['clock', 'migrations']
export const DENIED = '42501'
const THERE_ALREADY = '23505'

type Kind =
  /** Shows rows, read or changed: none of acme's. */
  | 'see'
  /** Counts rows: as many as are one's own. */
  | 'count'
  /** Changes rows of acme's: none. */
  | 'touch'
  /** Adds a row of acme's: denied, whether it is there already or not. */
  | 'add'

interface Try {
  readonly name: string
  readonly kind: Kind
  /** The right that it needs. */
  readonly right: string
  readonly sql: string
  readonly values?: readonly unknown[]
}

export interface Answer {
  readonly rows: readonly Readonly<Record<string, unknown>>[]
  readonly count: number
  readonly code?: string
  readonly said?: string
}

export async function runMatrix({ url, logins, only }: MatrixOptions): Promise<Verdict> {
  const superuser = new Client(url)
  await superuser.connect()
  const told: string[] = []
  let tries = 0
  try {
    const wall = await wallOf(superuser)
    const acme = acmeItself(wall)
    const relations = (await superuser.query<Relation>(relationsOf)).rows.filter(({ name }) => only?.includes(name) ?? true)
    const before = await pictureOf(superuser, relations)
    // A foreign key looks past the wall: whoever may make one can ask for any key. In this schema everybody may try.
    await superuser.query('create schema if not exists inkfast_probe; grant usage, create on schema inkfast_probe to public')
    for (const { role, url: login } of logins) {
      const client = new Client(login)
      await client.connect()
      for (const relation of relations) {
        const attempts = await triesOn(superuser, relation, role)
        for (const [i, attempt] of attempts.entries()) {
          const name = `${role}: ${attempt.name} on ${relation.name}`
          const own = await tryAs(client, acme, attempt)
          const lame = relation.walled ? judgeAcme(attempt, own, await mayDo(superuser, relation, role, attempt)) : undefined
          if (lame) told.push(`${name} as acme itself ${lame}`)
          const said = new Set<string>()
          for (const who of LONG || only ? strangers(wall) : aFew(strangers(wall), i + relation.name.length)) {
            tries++
            const answer = await tryAs(client, who, attempt)
            const wrong = judge(relation, who, attempt, answer, attempt.kind === 'count' ? await ownRows(superuser, relation, who) : 0)
            if (wrong) told.push(`${name} as ${who.name} ${wrong}`)
            if (answer.said && !isOwn(relation.name, who, attempt.right)) said.add(answer.said)
          }
          // One who is told more than another has been told something.
          if (said.size > 1) told.push(`${name} is denied in several ways: ${[...said].join('; ')}`)
        }
      }
      await client.end()
    }
    if ((await pictureOf(superuser, relations)) !== before) told.push('something was changed for good')
    return { told, tries }
  } finally {
    await superuser.end()
  }
}

/** One of four, each time others: together the tries on one relation have all of them. */
const aFew = (all: readonly Identity[], turn: number): readonly Identity[] => all.filter((_, i) => i % 4 === turn % 4)

async function triesOn(superuser: Client, relation: Relation, role: string): Promise<readonly Try[]> {
  const { name, columns, key, walled } = relation
  const table = `inkfast.${name}`
  const where = walled ? `t.tenant = '${ACME}'` : 'true'
  const { row, free } = await rowsFor(superuser, relation)
  const { rows: updatable } = await superuser.query<{ name: string }>(
    `select c as name from unnest($1::text[]) c where has_column_privilege($2, '${table}', c, 'update')`,
    [columns, role],
  )
  const column = updatable[0]?.name ?? columns[0]
  // Of an event nothing can be changed but this.
  const set = name === 'events' ? 'payload = null, salt = null' : `${column} = t.${column}`
  const [change, remove, add] = ['update', 'delete', 'insert'] as const
  const insert = `insert into ${table} as t select * from jsonb_populate_record(null::${table}, $1::jsonb)`
  const upsert = `${insert} on conflict (${key.join(', ')}) do update set ${set}`
  const merge = `merge into ${table} as t using (select 1) s on ${where} when matched then`
  const reference = `create table inkfast_probe.t (${key.map((part) => `${part} ${typeOf(row[part])}`).join(', ')},
    foreign key (${key.join(', ')}) references ${table} (${key.join(', ')}))`
  const adding = (what: string, sql: string): Try[] => [
    { name: `${what} of a row that is free`, kind: 'add', right: add, sql, values: [free] },
    { name: `${what} of a row that is there`, kind: 'add', right: add, sql, values: [row] },
  ]
  return [
    { name: 'select', kind: 'see', right: 'select', sql: `select * from ${table}` },
    { name: 'select by name', kind: 'see', right: 'select', sql: `select * from ${table} t where ${where}` },
    { name: 'select for update', kind: 'see', right: change, sql: `select * from ${table} t where ${where} for update` },
    { name: 'count', kind: 'count', right: 'select', sql: `select count(*)::integer as n from ${table}` },
    { name: 'update', kind: 'see', right: change, sql: `update ${table} as t set ${set} returning t.*` },
    { name: 'update by name', kind: 'touch', right: change, sql: `update ${table} as t set ${set} where ${where}` },
    { name: 'merge', kind: 'touch', right: change, sql: `${merge} update set ${set}` },
    { name: 'delete', kind: 'see', right: remove, sql: `delete from ${table} returning *` },
    { name: 'delete by name', kind: 'touch', right: remove, sql: `delete from ${table} as t where ${where}` },
    { name: 'truncate', kind: 'add', right: 'truncate', sql: `truncate ${table}` },
    ...adding('insert', insert),
    ...adding('insert unless there', `${insert} on conflict do nothing`),
    ...adding('upsert', upsert),
    { name: 'a foreign key', kind: 'add', right: 'references', sql: reference },
    ...(walled
      ? [{ name: 'giving away', kind: 'see', right: change, sql: `update ${table} set tenant = '${ACME}' returning *` } as const]
      : []),
  ]
}

/** A row of acme's that is there, and one like it under a key that is free. */
async function rowsFor(superuser: Client, { name, key, walled }: Relation): Promise<{ readonly row: Row; readonly free: Row }> {
  const where = walled ? `where tenant = '${ACME}'` : ''
  const { rows } = await superuser.query<{ row: Row }>(`select to_jsonb(t) as row from inkfast.${name} t ${where} limit 1`)
  const row = rows[0]?.row
  if (!row) throw new Error(`there is nothing of ${ACME} in ${name}, so nothing would be proven`)
  const unique =
    planTables('postgres')
      .find((table) => table.name === name)
      ?.indexes.filter((index) => index.unique) ?? []
  const others = [...key, ...unique.flatMap(({ columns }) => columns)].filter((column) => column !== 'tenant' || key.length === 1)
  return { row, free: { ...row, ...Object.fromEntries(others.map((column) => [column, freeValue(row[column])])) } }
}

type Row = Readonly<Record<string, unknown>>

const typeOf = (value: unknown): string =>
  typeof value === 'number' ? 'bigint' : typeof value === 'boolean' ? 'boolean' : isBytes(value) ? 'bytea' : 'text'
const isBytes = (value: unknown): boolean => String(value).startsWith('\\x')

function freeValue(value: unknown): unknown {
  if (typeof value === 'number') return value + 1_000_000
  if (typeof value === 'boolean') return value
  return isBytes(value) ? `\\x${'ee'.repeat(16)}` : `${String(value)}-free`
}

/** In a transaction of its own that is never committed. */
export async function tryAs(
  client: Client,
  { settings, session }: Identity,
  { sql, values }: Pick<Try, 'sql' | 'values'>,
): Promise<Answer> {
  const names = settings.map((setting) => `select set_config('inkfast.tenant', ${escapeLiteral(setting)}, ${!session})`)
  await client.query((session ? [...names, 'begin'] : ['begin', ...names]).join(';'))
  try {
    // Several statements without values have several answers.
    const results = [await client.query<Row>(sql, values && [...values])].flat()
    return { rows: results.flatMap(({ rows }) => rows), count: results.reduce((sum, { rowCount }) => sum + (rowCount ?? 0), 0) }
  } catch (error) {
    const { code, message, detail, hint } = error as DatabaseError
    return { rows: [], count: 0, code: code ?? '?', said: [code, message, detail, hint].filter(Boolean).join(' | ') }
  } finally {
    await client.query(session ? 'rollback; reset inkfast.tenant' : 'rollback')
  }
}

/** What a stranger should not have got; undefined when all is as it should be. */
function judge({ name, walled }: Relation, who: Identity, { kind, right }: Try, answer: Answer, own: number): string | undefined {
  const { rows, count, code, said } = answer
  if (isOwn(name, who, right)) return undefined
  if (code !== undefined && code !== DENIED) return `failed in a way that tells: ${said}`
  if (said?.includes(MARK)) return `is shown by the error what is acme's: ${said}`
  if (code === DENIED || (PLAIN.includes(name) && right === 'select')) return undefined
  if (kind === 'add') return 'was not denied'
  if (kind === 'touch') return count === 0 ? undefined : `changed ${count} rows`
  if (kind === 'count') return rows[0]?.n === own ? undefined : `counted ${String(rows[0]?.n)}, and ${own} are its own`
  const shown = walled ? rows.filter((row) => row.tenant === ACME || JSON.stringify(row).includes(MARK)) : rows
  return shown.length === 0 ? undefined : `got ${JSON.stringify(shown[0]).slice(0, 200)}`
}

/** The one thing that is somebody's own without being a tenant's. */
const isOwn = (name: string, who: Identity, right: string): boolean =>
  name === 'secrets' && who.is === STORE && ['select', 'insert'].includes(right)

/** Whether acme itself can do it, where its role has the right: a try that never works proves nothing. */
function judgeAcme({ kind, name }: Try, { rows, count, code, said }: Answer, may: boolean): string | undefined {
  if (!may) return code === DENIED ? undefined : `was not denied: ${said ?? `${count} rows`}`
  const there = name.endsWith('that is there')
  if (name === 'insert of a row that is there') return code === THERE_ALREADY ? undefined : `added it twice`
  if (code !== undefined) return `failed: ${said}`
  if (there && name.startsWith('insert unless')) return count === 0 ? undefined : 'added it twice'
  const effect = kind === 'count' ? Number(rows[0]?.n) : count
  return effect > 0 ? undefined : 'had no effect'
}

async function mayDo(superuser: Client, { name, key }: Relation, role: string, { right, name: attempt }: Try): Promise<boolean> {
  // Where a tenant has one row, another one would be another tenant's.
  if (key.length === 1 && attempt.endsWith('that is free')) return false
  const table = `inkfast.${name}`
  const needed = [
    right === 'update' ? `has_any_column_privilege($1, '${table}', 'update')` : `has_table_privilege($1, '${table}', '${right}')`,
    ...(attempt === 'giving away' ? [`has_column_privilege($1, '${table}', 'tenant', 'update')`] : []),
    // An upsert changes what it finds.
    ...(attempt.startsWith('upsert') ? [`has_any_column_privilege($1, '${table}', 'update')`] : []),
  ]
  const { rows } = await superuser.query<{ may: boolean }>(`select ${needed.join(' and ')} as may`, [role])
  return rows[0]?.may ?? false
}

async function ownRows(superuser: Client, { name, walled }: Relation, { is }: Identity): Promise<number> {
  if (is === undefined || !walled) return 0
  const { rows } = await superuser.query<{ n: number }>(`select count(*)::integer as n from inkfast.${name} where tenant = $1`, [is])
  return rows[0]?.n ?? 0
}

async function pictureOf(superuser: Client, relations: readonly Relation[]): Promise<string> {
  const sums = relations.map(({ name }) => `(select md5(string_agg(t::text, '/' order by t::text)) from inkfast.${name} t)`)
  const { rows } = await superuser.query<{ picture: string }>(`select concat_ws(' ', ${sums.join(', ')}) as picture`)
  return rows[0]?.picture ?? ''
}
