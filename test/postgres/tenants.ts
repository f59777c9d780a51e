// Two tenants of one database with something in every table, and every way in which somebody who is not one of them may name it.

import type { Client } from 'pg'
import { type PlannedColumn, planTables } from '../../scripts/schema/plan.ts'
import { postgresBackend } from '../../src/backends/postgres/backend.ts'
import { STORE, Wall } from '../../src/backends/postgres/wall.ts'
import { keyOf, maker, put, sha256 } from '../../src/conformance/material.ts'
import { open } from '../../src/index.ts'
import { hex } from '../../src/model/bytes.ts'
import { keyOfPad } from '../../src/model/hmac.ts'
import { type TenantId, tenantId } from '../../src/model/ids.ts'
import { tableNames } from '../../src/model/tables.ts'
import { query } from '../support/postgres-database.ts'

export const ACME = tenantId('acme')
export const RIVAL = tenantId('rival')
const STRANGER = tenantId('nobody-yet')

/** Stands in everything that acme owns, beside its name: what must never be seen elsewhere. */
export const MARK = 'confidential-of-acme'

/** Fills every table for both tenants: through the API what it fills, through the port most of the rest, and side tables by hand. */
export async function plantTenants(url: string): Promise<void> {
  const store = await open(url)
  for (const [tenant, mark] of [
    [ACME, MARK],
    [RIVAL, 'of-rival'],
  ] as const) {
    const session = await store.tenant(tenant).session(`${mark}/1`, { title: mark })
    await session.append('note.made', { text: mark }, { key: `${mark}-key` })
  }
  await store.close()
  const backend = await postgresBackend({ url })
  for (const [n, tenant] of [ACME, RIVAL].entries()) {
    const make = maker(n + 1)
    const changes = tableNames.map((table) => put(table, `${table}-${MARK}`, { owner: MARK }, { grants: table === 'leases' }))
    const [outcome] = await backend.commit([make.commit(tenant, { key: keyOf(tenant, MARK), changes: tenant === ACME ? changes : [] })])
    if (!outcome?.ok) throw new Error(`tenant ${tenant} could not be planted`)
    await backend.leases.renew(tenant, [{ id: `leases-${MARK}`, fence: outcome.receipts[0]?.seq ?? 0 }], 60_000)
    const bytes = new TextEncoder().encode(`${MARK} ${tenant}`)
    await backend.blobs.put(tenant, hex(sha256(bytes)), bytes)
  }
  await backend.close()
  for (const { name, columns } of planTables('postgres')) {
    const some = columns.map((column) => (column.name === 'tenant' ? 'tenant' : VALUES[column.type]))
    await query(
      url,
      `insert into inkfast.${name} (${columns.map((column) => column.name).join(', ')})
       select ${some.join(', ')} from unnest(array['${ACME}', '${RIVAL}']) tenant
       where not exists (select from inkfast.${name} t where t.tenant = '${ACME}')`,
    )
  }
}

const VALUES: Readonly<Record<PlannedColumn['type'], string>> = {
  text: `case tenant when '${ACME}' then '${MARK}' else 'of-rival' end`,
  integer: '7',
  count: '7',
  real: '0.5',
  blob: `'\\x${'0c'.repeat(16)}'::bytea`,
  flag: 'false',
  serial: '7',
}

/** The wall as the store itself has it: only whoever reads its key can sign, which here is a superuser. */
export const wallOf = async (superuser: Client): Promise<Wall> => new Wall(await keyOfWall(superuser))

export async function keyOfWall(superuser: Client): Promise<Uint8Array> {
  const { rows } = await superuser.query<{ inner_pad: Buffer }>('select inner_pad from inkfast.wall_keys order by made_at desc limit 1')
  if (!rows[0]) throw new Error('there is no key of the wall')
  return keyOfPad(rows[0].inner_pad)
}

export interface Identity {
  readonly name: string
  /** What the setting is given, one after the other; nothing at all leaves it unset. */
  readonly settings: readonly string[]
  /** For the whole session, as a statement slipped in earlier could. */
  readonly session?: boolean
  /** Whose rows it may see: its own. */
  readonly is?: TenantId | typeof STORE
}

export const acmeItself = (wall: Wall): Identity => ({ name: 'acme itself', settings: [wall.tenant(ACME)], is: ACME })

/** Everybody who is not acme. */
export function strangers(wall: Wall): readonly Identity[] {
  const macOf = (token: string) => token.slice(-64)
  const acme = wall.tenant(ACME)
  const rival = wall.tenant(RIVAL)
  const forged = (name: string, ...settings: string[]): Identity => ({ name: `a forged name (${name})`, settings })
  return [
    { name: 'another tenant', settings: [rival], is: RIVAL },
    { name: 'another tenant, whatever its state', settings: [wall.whatever(RIVAL)], is: RIVAL },
    { name: 'a tenant that has nothing', settings: [wall.tenant(STRANGER)] },
    { name: 'the store itself', settings: [wall.tenant(STORE)], is: STORE },
    { name: 'nobody, never named', settings: [] },
    { name: 'nobody, named by nothing', settings: [''] },
    forged('no signature', ACME),
    forged('an invented signature', `${ACME}:${'0'.repeat(64)}`),
    forged("another's signature", `${ACME}:${macOf(rival)}`),
    forged("the store's signature", `${ACME}:${macOf(wall.tenant(STORE))}`),
    forged("whatever its state, under another's signature", `${ACME}!:${macOf(wall.whatever(RIVAL))}`),
    forged('whatever its state, under its own plain signature', `${ACME}!:${macOf(acme)}`),
    forged("the store's name, under another's signature", `${STORE}:${macOf(rival)}`),
    forged('a signature in upper case', `${ACME}:${macOf(acme).toUpperCase()}`),
    forged('spaces behind it', `${acme}  `),
    forged('a space before it', ` ${acme}`),
    forged('two names', `${RIVAL}:${ACME}:${macOf(rival)}`),
    forged('a quote', `${ACME}' or '1'='1:${macOf(rival)}`),
    forged('slipped in behind a right one', rival, `${ACME}:${macOf(rival)}`),
    { ...forged('slipped in for the session', `${ACME}:${macOf(rival)}`), session: true },
  ]
}
