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
  readonly roles: readonly string[]
}

const routinesOf = `
  select p.proname as name, array(select format_type(a.type, null) from unnest(p.proargtypes) with ordinality a (type, n) order by a.n) as types,
    array(select r.rolname::text from pg_roles r where has_function_privilege(r.oid, p.oid, 'execute')) as roles
  from pg_proc p where p.pronamespace = 'inkfast'::regnamespace and p.prorettype <> 'trigger'::regtype order by 1`

/** The wall's own word for a name that is not signed. */
const UNSIGNED = 'IF002'
/** What the store itself, and nobody else, is told. */
const FOR_THE_STORE = ['tenants_v1', 'heads_v1', 'due_v1']

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
      for (const routine of routines) {
        for (const who of [acmeItself(wall), ...strangers(wall)]) {
          for (const text of new Set([`${ACME}:${'0'.repeat(64)}`, who.settings.at(-1) ?? ''])) {
            tries++
            const call = `select f as answer from inkfast.${routine.name}(${routine.types.map((type) => argument(type, text)).join(', ')}) f`
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

function argument(type: string, text: string): string {
  if (type === 'text') return escapeLiteral(text)
  if (type === 'text[]') return `array['${ACME}']`
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
