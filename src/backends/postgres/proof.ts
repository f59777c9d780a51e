// Tests the tenant isolation before anything is served: a canary tenant's rows must be visible to itself and to no other tenant.

import { refuse } from '../../model/errors.ts'
import { tableNames } from '../../model/tables.ts'
import { PLAIN_NAMES, type Step } from './connections.ts'
import type { Database } from './database.ts'
import { CANARY, STORE, STRANGER } from './wall.ts'

const walled = ['heads', 'events', 'receipts', 'renewals', 'audit', 'blobs', ...tableNames]

const whoAmI = `
  select current_user, r.rolsuper, r.rolbypassrls,
    exists (select 1 from pg_class c join pg_namespace n on n.oid = c.relnamespace
            where n.nspname = 'inkfast' and c.relkind in ('r', 'p') and pg_has_role(c.relowner, 'MEMBER')),
    (select m.rolname from pg_roles m where (m.rolsuper or m.rolbypassrls) and pg_has_role(m.oid, 'MEMBER') order by 1 limit 1)
  from pg_roles r where r.rolname = current_user`
/** Tables without row-level security, and their owners. */
export const openTables = `
  select c.relname, pg_get_userbyid(c.relowner) from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = 'inkfast' and c.relkind in ('r', 'p') and not (c.relrowsecurity and c.relforcerowsecurity) order by 1`
// Policies of the serving roles that do not check the tenant.
const looseRules = `
  select c.relname, p.polname from pg_policy p join pg_class c on c.oid = p.polrelid
  where c.relnamespace = 'inkfast'::regnamespace and p.polpermissive and c.relname = any ($1::text[])
    and p.polroles && array(select 0::oid union all select oid from pg_roles where rolname in ('inkfast_app', 'inkfast_reader'))
    and strpos(coalesce(pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid), ''), 'inkfast.tenant()') = 0
  order by 1, 2`
const plant = 'select inkfast.join_v1()'
const canary = `select count(*) from inkfast.heads where tenant = '${CANARY}'`
const anything = `select concat_ws(', ', ${walled.map((name) => `case when exists (select 1 from inkfast.${name}) then '${name}' end`).join(', ')})`
const name = (setting: string): Step => ({
  text: `${PLAIN_NAMES}, pg_catalog.set_config('inkfast.tenant', $1, true)`,
  values: [setting],
})

export async function proveWall(db: Database, { plant: mayPlant }: { readonly plant: boolean }): Promise<void> {
  const [who, unforced = [], loose = []] = await db.read(
    STORE,
    { text: whoAmI },
    { text: openTables },
    { text: looseRules, values: [`{${walled.join(',')}}`] },
  )
  const [role, superuser, bypasses, owns, mighty] = who?.[0] ?? []
  const why =
    superuser === 't'
      ? 'is a superuser'
      : bypasses === 't'
        ? 'bypasses row-level security'
        : owns === 't'
          ? 'can become the owner of its tables'
          : mighty
            ? `can become ${mighty}, which is a superuser or bypasses row-level security`
            : undefined
  if (why) throw refuse('ROLE_TOO_POWERFUL', { place: db.place, role, why })

  const open = (reason: string) => refuse('WALL_OPEN', { place: db.place, why: reason })
  if (unforced.length > 0) throw open(`row-level security is not forced on ${unforced.map(([table]) => table).join(', ')}`)

  if (loose.length > 0) throw open(`the policy ${loose.map(([table, rule]) => `${rule} on ${table}`).join(', ')} does not check the tenant`)

  if (mayPlant) {
    const named = db.enter(db.wall.whatever(CANARY))
    // The canary must see itself; otherwise the test would prove nothing.
    const [, , own] = await db.run([named, { text: plant }, { text: canary }], 'reading')
    if (own?.[0]?.[0] !== '1') throw open('a tenant could not read its own canary row')
  }
  const forged = `${CANARY}:${'0'.repeat(64)}`
  const borrowed = `${CANARY}:${db.wall.tenant(STRANGER).slice(-64)}`
  const lookers = [
    ['another tenant', db.wall.tenant(STRANGER)],
    ['the store itself', db.wall.tenant(STORE)],
    ['a session without a tenant', ''],
    ['a forged tenant name', forged],
    ["a tenant name with another tenant's signature", borrowed],
  ] as const
  // One plan serves all five looks: planning one that reads every table takes longer than running it.
  const looks = await db.run(
    lookers.flatMap(([, setting]) => [name(setting), { text: canary, prepared: true }, { text: anything, prepared: true }]),
    'reading',
  )
  for (const [i, [whom]] of lookers.entries()) {
    const [, seen, any] = looks.slice(3 * i)
    if (seen?.[0]?.[0] !== '0') throw open(`the canary row was visible to ${whom}`)
    if (any?.[0]?.[0] !== '') throw open(`rows of ${any?.[0]?.[0]} were visible to ${whom}`)
  }
}
