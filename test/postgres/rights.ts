// What the catalogue of a database must say about our schema: every relation, function, policy, grant and role is one that is known here
// or in model/tables.ts, and has the rights it was meant to have. Anything else is told.

import type { Client } from 'pg'
import { planTables } from '../../scripts/schema/plan.ts'
import { tableNames } from '../../src/model/tables.ts'
import { HAND_WRITTEN } from '../support/tidy/schema.ts'

const planned = planTables('postgres')

/** Tables that hold rows of tenants. */
export const walledTables: readonly string[] = [...HAND_WRITTEN.postgres.tenants, ...planned.map(({ name }) => name)]
/** Those of the backend that hold none: what everybody may read of them tells nothing about a tenant. */
export const ownTables: readonly string[] = HAND_WRITTEN.postgres.store
/** Arguments of the functions that reach rows and content. */
const types: readonly string[] = ['guard_list', 'remove_list', 'put_list', 'content_list']

/** Functions by name. A definer sees more than its caller, so each says why it may. */
const functions: Readonly<Record<string, { readonly definer?: string }>> = {
  tenant: { definer: 'checks the signature of the setting, for which it reads the key' },
  tenants_v1: { definer: 'lists tenants for the store itself, which signs as nobody else can' },
  heads_v1: { definer: 'tells the store itself how far its tenants are, names and numbers only' },
  due_v1: { definer: 'tells the store itself which tenants have work waiting and since when; of that table it may read no other column' },
  raise_due_v1: { definer: 'sets when a queue of the tenant that is named is due to what its items say, and nothing else' },
  make_due_v1: { definer: 'does so for all queues of the tenant that is named' },
  work_offers: { definer: 'lowers when a queue is due for items that were just written past the wall of their table' },
  work_hastens: { definer: 'does so for an item that was changed' },
  heads_resume: { definer: 'makes again when the queues of a tenant are due that has just come back' },
  lower_due: {},
  make_due: {},
  misplaced_v1: { definer: 'tells the store itself which tenants have events outside the places up to their head, names and numbers only' },
  join_v1: { definer: 'makes the head of the tenant that is named, and no other' },
  move_head_v1: { definer: 'moves the head of the tenant that is named forwards, and nothing else' },
  change_state_v1: {
    definer: 'takes a new state of the tenant that is named only from a node, which signs it, and moves the head forwards with it',
  },
  is_signed: {},
  now_v1: {},
  enter_v1: {},
  commit_v1: {},
  guard_content: {},
  put_content: {},
  events_stay: {},
  events_by_commit: {},
  work_behind: {},
  work_turns: {},
  words_come: {},
  words_go: {},
  words_change: {},
  ...Object.fromEntries([...tableNames, 'rows'].flatMap((name) => ['guard', 'remove', 'put'].map((verb) => [`${verb}_${name}`, {}]))),
}

const relations = `
  select c.relname as name, c.relkind as kind, c.relrowsecurity and c.relforcerowsecurity as walled
  from pg_class c where c.relnamespace = 'inkfast'::regnamespace and c.relkind not in ('i', 'I', 't') order by 1`
const routines = `
  select p.proname as name, p.prokind as kind, p.prosecdef as definer, r.rolname as owner,
    coalesce(array_to_string(p.proconfig, '; '), '') as settings, r.rolsuper or r.rolbypassrls or r.rolcanlogin as powerful,
    p.proacl is null or exists (select from aclexplode(p.proacl) a where a.grantee = 0) as public
  from pg_proc p join pg_roles r on r.oid = p.proowner where p.pronamespace = 'inkfast'::regnamespace order by 1`
const policies = `
  select format('%s: %s for %s to %s using %s check %s', tablename, policyname, lower(cmd), array_to_string(roles, ' '),
    coalesce(qual, '-'), coalesce(with_check, '-')) as line, permissive
  from pg_policies where schemaname = 'inkfast' order by 1`
const grants = `
  select format('%s %s on %s', coalesce(r.rolname, 'public'), lower(g.privilege_type), g.what) as line
  from (
    select c.relowner as owner, a.grantee, a.privilege_type, c.relname::text as what
    from pg_class c, aclexplode(c.relacl) a where c.relnamespace = 'inkfast'::regnamespace
    union all
    select c.relowner, a.grantee, a.privilege_type, format('%s.%s', c.relname, t.attname)
    from pg_class c join pg_attribute t on t.attrelid = c.oid, aclexplode(t.attacl) a where c.relnamespace = 'inkfast'::regnamespace
    union all
    select n.nspowner, a.grantee, a.privilege_type, 'the schema' from pg_namespace n, aclexplode(n.nspacl) a where n.nspname = 'inkfast'
  ) g left join pg_roles r on r.oid = g.grantee
  where g.grantee <> g.owner order by 1`
const roles = `
  select r.rolname as name, r.rolsuper or r.rolbypassrls or r.rolcanlogin or r.rolcreaterole or r.rolcreatedb or r.rolreplication as powerful,
    (select coalesce(string_agg(g.rolname, ', '), '') from pg_auth_members m join pg_roles g on g.oid = m.roleid where m.member = r.oid) as has,
    has_database_privilege(r.oid, current_database(), 'create') as creates
  from pg_roles r where r.rolname in ('inkfast_owner', 'inkfast_wall', 'inkfast_app', 'inkfast_reader') order by 1`
const foreignKeys = `
  select format('%s refers to %s', c.conrelid::regclass, c.confrelid::regclass) as line from pg_constraint c
  join pg_class t on t.oid = c.confrelid where c.contype = 'f' and t.relnamespace = 'inkfast'::regnamespace`

const own = '(tenant = ( SELECT inkfast.tenant() AS tenant))'
const store = `(( SELECT inkfast.tenant() AS tenant) = '*'::text)`
const knownPolicies: readonly string[] = [
  ...walledTables
    .filter((table) => table !== 'heads')
    .map((table) => `${table}: tenant for all to inkfast_app inkfast_reader using ${own} check ${own}`),
  `heads: tenant for select to inkfast_app inkfast_reader using ${own} check -`,
  `heads: joins for insert to inkfast_wall using - check ${own}`,
  // Its tenant cannot be changed, as the grants below say, so what it is afterwards is what it was.
  `heads: moves for update to inkfast_wall using ${own} check true`,
  // For the lock: a tenant can only be changed into itself.
  `heads: locks for update to inkfast_app using ${own} check ${own}`,
  'heads: wall for select to inkfast_wall using true check -',
  // For misplaced_v1; what they may see of an event is in the grants below.
  'events: wall for select to inkfast_wall using true check -',
  // For due_v1 and raise_due_v1; what they may see of a row is in the grants below.
  'work: wall for select to inkfast_wall using true check -',
  // Only the functions of the wall write it: the other roles have no right to.
  'due: wall for all to inkfast_wall using true check true',
  ...['migrations', 'clock'].flatMap((table) => [
    `${table}: owner for all to inkfast_owner using true check true`,
    `${table}: anyone for select to inkfast_app inkfast_reader using true check -`,
  ]),
  `secrets: store for all to inkfast_app using ${store} check ${store}`,
  'wall_keys: wall for all to inkfast_wall using true check true',
]

const appRights: Readonly<Record<string, readonly string[]>> = {
  heads: ['select'],
  'heads.tenant': ['update'],
  // No delete and no update but the erasure: a journal is appended to.
  events: ['select', 'insert'],
  'events.payload': ['update'],
  'events.salt': ['update'],
  ...Object.fromEntries(planned.map(({ name, rights }) => [name, ['select', ...rights]])),
  migrations: ['select'],
  clock: ['select'],
  secrets: ['select', 'insert'],
}
const knownGrants: readonly string[] = [
  ...['inkfast_app', 'inkfast_reader', 'inkfast_wall'].map((role) => `${role} usage on the schema`),
  'inkfast_wall select on heads',
  'inkfast_wall insert on heads',
  ...['seq', 'hash', 'state'].map((column) => `inkfast_wall update on heads.${column}`),
  ...['tenant', 'seq'].map((column) => `inkfast_wall select on events.${column}`),
  ...['tenant', 'queue', 'at'].map((column) => `inkfast_wall select on work.${column}`),
  ...['select', 'insert', 'update', 'delete'].map((right) => `inkfast_wall ${right} on due`),
  ...Object.entries(appRights).flatMap(([what, rights]) => rights.map((right) => `inkfast_app ${right} on ${what}`)),
  ...[...walledTables, 'migrations', 'clock'].map((table) => `inkfast_reader select on ${table}`),
]

/** What is not as it should be; empty when all is. */
export async function checkRights(superuser: Client): Promise<readonly string[]> {
  const ask = async <Row extends object>(sql: string) => (await superuser.query<Row>(sql)).rows
  const told: string[] = []
  const known = [...walledTables, ...ownTables]
  const found = await ask<{ name: string; kind: string; walled: boolean }>(relations)
  for (const { name, kind, walled } of found) {
    if (kind === 'c' && types.includes(name)) continue
    if (kind !== 'r' || !known.includes(name)) told.push(`relation ${name} (${kind}) is not known`)
    else if (!walled) told.push(`row-level security is not forced on ${name}`)
  }
  for (const name of known) if (!found.some((relation) => relation.name === name)) told.push(`table ${name} is not there`)
  told.push(...difference('policy', await linesOf(superuser, policies), knownPolicies))
  told.push(...difference('grant', await linesOf(superuser, grants), knownGrants))
  told.push(...(await linesOf(superuser, foreignKeys)))

  for (const f of await ask<Routine>(routines)) {
    const meant = functions[f.name]
    if (!meant || f.kind !== 'f') told.push(`function ${f.name} is not known`)
    if (f.public) told.push(`function ${f.name} may be executed by everybody`)
    if (f.powerful) told.push(`function ${f.name} belongs to ${f.owner}, which is too powerful`)
    if (!f.definer) continue
    if (!meant?.definer) told.push(`function ${f.name} is a definer and gives no reason`)
    if (f.owner !== 'inkfast_wall') told.push(`function ${f.name} is a definer and belongs to ${f.owner}`)
    if (f.settings !== 'search_path=pg_catalog, pg_temp') told.push(`function ${f.name} is a definer without a fixed search_path`)
  }
  for (const { name, powerful, has, creates } of await ask<{ name: string; powerful: boolean; has: string; creates: boolean }>(roles)) {
    if (powerful) told.push(`role ${name} can do more than it should`)
    if (has !== '') told.push(`role ${name} is a member of ${has}`)
    if (creates) told.push(`role ${name} may create schemas`)
  }
  return told
}

interface Routine {
  readonly name: string
  readonly kind: string
  readonly definer: boolean
  readonly owner: string
  readonly settings: string
  readonly powerful: boolean
  readonly public: boolean
}

const linesOf = async (superuser: Client, sql: string): Promise<readonly string[]> =>
  (await superuser.query<{ line: string }>(sql)).rows.map(({ line }) => line)

const difference = (what: string, found: readonly string[], known: readonly string[]): readonly string[] => [
  ...found.filter((line) => !known.includes(line)).map((line) => `${what} not known: ${line}`),
  ...known.filter((line) => !found.includes(line)).map((line) => `${what} not there: ${line}`),
]
