// Every function of the schema, called by everybody who is not acme with what could lead to acme: it is refused, or tells nothing and opens
// nothing for the rest of the transaction.

import { Client, escapeLiteral } from 'pg'
import { STORE } from '../../src/backends/postgres/wall.ts'
import { type Answer, DENIED, type MatrixOptions, tryAs, type Verdict } from './matrix.ts'
import { walledTables } from './rights.ts'
import { ACME, acmeItself, type Identity, MARK, strangers, wallOf } from './tenants.ts'

interface Routine {
  readonly name: string
  readonly types: readonly string[]
  readonly named: readonly (string | null)[]
  readonly roles: readonly string[]
}

const routinesOf = `
  select p.proname as name, array(select format_type(a.type, null) from unnest(p.proargtypes) with ordinality a (type, n) order by a.n) as types, coalesce(p.proargnames, '{}') as named,
    array(select r.rolname::text from pg_roles r where has_function_privilege(r.oid, p.oid, 'execute')) as roles
  from pg_proc p where p.pronamespace = 'inkfast'::regnamespace and p.prorettype <> 'trigger'::regtype order by 1`

/** The wall's own word for a name that is not signed. */
const UNSIGNED = 'IF002'
/** What the store itself, and nobody else, is told. */
const FOR_THE_STORE = ['tenants_v1', 'heads_v1', 'due_v1', 'misplaced_v1']
/** The functions that reach rows are generated alike: those of two tables stand for all, with those that call them by name
 * and those for content. */
const ALIKE = /^(?:guard|remove|put)_(?!(?:names|work|rows|content)$)/
/** What each of them is given: one row or reference of acme's, to be looked at, taken away or written. */
const LISTS: Readonly<Record<string, string>> = {
  'inkfast.guard_list': `row('${ACME}', array['names'], array['names-${MARK}'], array[0], array[false])::inkfast.guard_list`,
  'inkfast.remove_list': `row('${ACME}', array[false], array['names'], array['names-${MARK}'], array[1])::inkfast.remove_list`,
  'inkfast.put_list': `row('${ACME}', 0, false, null, array[false], array['names'], array['names-${MARK}'], array[1], array[1], array[1], array[0], array['["x"]'],
    array[1], array[2], '{}'::bytea)::inkfast.put_list`,
  'inkfast.content_list': `row('${ACME}', 0, null, null, null, null, null, null, array[1], array['blob:${MARK}'], array['blob:${MARK}'])::inkfast.content_list`,
}

export async function callFunctions({ url, logins }: Omit<MatrixOptions, 'only'>): Promise<Verdict> {
  const superuser = new Client(url)
  await superuser.connect()
  const told: string[] = []
  let tries = 0
  try {
    const wall = await wallOf(superuser)
    const { rows: routines } = await superuser.query<Routine>(routinesOf)
    const look = walledTables.map((table) => `select tenant from inkfast.${table}`).join(';')
    for (const { role, url: login } of logins) {
      const client = new Client(login)
      await client.connect()
      for (const routine of routines.filter(({ name }) => !ALIKE.test(name))) {
        for (const who of [acmeItself(wall), ...strangers(wall)]) {
          for (const text of new Set([`${ACME}:${'0'.repeat(64)}`, who.settings.at(-1) ?? ''])) {
            tries++
            const call = `select f as answer from inkfast.${routine.name}(${argumentsOf(routine, text, wall.state(ACME, 'active')).join(', ')}) f`
            const answer = await tryAs(client, who, { sql: `${call};${look}` })
            const wrong = who.is === ACME ? judgeAcme(routine, role, text, answer) : judge(routine, who, answer)
            if (wrong) told.push(`${role} as ${who.name}: ${routine.name}(${text.slice(0, 12)}…) ${wrong}`)
          }
        }
      }
      await client.end()
    }
    return { told, tries }
  } finally {
    await superuser.end()
  }
}

const HEAD: readonly string[] = [escapeLiteral(ACME), '0', `''::bytea`, '1', `''::bytea`]

/** A function that reaches rows by the name of a table gets the name of one that exists. */
function argumentsOf({ name, types, named }: Routine, text: string, state: string): readonly string[] {
  if (name === 'move_head_v1') return HEAD
  // Signed for acme, so only the wall is in the way.
  if (name === 'change_state_v1') return [...HEAD, escapeLiteral(state)]
  if (name.endsWith('_rows')) return types.map((type) => argument(type, 'names', ACME))
  // Only a node can sign a new state, and a reference needs its event.
  return types.map((type, i) =>
    /^p_(?:state|ref_events)$/.test(named[i] ?? '') ? 'null' : argument(type, text, name === 'commit_v1' ? 'names' : ACME),
  )
}

function argument(type: string, text: string, item: string): string {
  const list = LISTS[type]
  if (list !== undefined) return list
  if (type === 'text') return escapeLiteral(text)
  if (type === 'text[]') return `array['${item}']`
  if (type === 'boolean') return 'false'
  if (type === 'bytea') return `''::bytea`
  if (/^(?:smallint|integer|bigint)$/.test(type)) return `0::${type}`
  return type.endsWith('[]') ? `'{}'::${type}` : `null::${type}`
}

function judge({ name }: Routine, who: Identity, { rows, code, said }: Answer): string | undefined {
  if (code !== undefined)
    return [DENIED, UNSIGNED].includes(code) && !said?.includes(MARK) ? undefined : `failed in a way that tells: ${said}`
  if (who.is === STORE && FOR_THE_STORE.includes(name)) return undefined
  const shown = rows.filter((row) => JSON.stringify(row).includes(ACME))
  return shown.length === 0 ? undefined : `showed ${JSON.stringify(shown[0])}`
}

/** With its own name acme gets through wherever its role may, and sees what is its own: or the calls would prove nothing. */
function judgeAcme({ name, roles }: Routine, role: string, text: string, { rows, code, said }: Answer): string | undefined {
  if (!roles.includes(role)) return code === DENIED ? undefined : `was not denied: ${said}`
  if (FOR_THE_STORE.includes(name)) return code === UNSIGNED ? undefined : `told acme what is the store's alone: ${said}`
  if (text.endsWith('0'.repeat(64))) return undefined
  return rows.some((row) => row.tenant === ACME) ? undefined : `did not work for acme itself: ${said}`
}
