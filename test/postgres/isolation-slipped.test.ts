// SQL that is slipped into the transaction of one tenant leaves nothing on the connection that reaches the next tenant: neither prepared
// statements nor settings.

import { expect, test } from 'vitest'
import { backendOn } from '../../src/backends/postgres/backend.ts'
import type { Connections, Step } from '../../src/backends/postgres/connections.ts'
import { enter } from '../../src/backends/postgres/database.ts'
import { openOver } from '../../src/backends/postgres/open.ts'
import { pooled } from '../../src/backends/postgres/pool.ts'
import { maker, put } from '../../src/conformance/material.ts'
import { open } from '../../src/index.ts'
import { hex } from '../../src/model/bytes.ts'
import type { TenantId } from '../../src/model/ids.ts'
import type { Backend } from '../../src/ports/backend.ts'
import { leave, preparedDatabase } from '../support/databases.ts'
import { later } from '../support/engines.ts'
import { asSuperuser, makeLogin } from './logins.ts'
import { DENIED } from './matrix.ts'
import { ACME, keyOfWall, plantTenants, RIVAL, wallOf } from './tenants.ts'

test('slipped SQL that replaces prepared statements sees nothing of the next tenant on the connection', async () => {
  const { slip, reads, backend } = await openSlippery()
  await reads(RIVAL)
  await slip(replaceStatements)
  await reads(ACME)
  await backend.leases.read(ACME, ['l'])
  await commitTo(backend, ACME)
  expect(await slip(spied)).not.toContain('acme')
  // The control: the tenant that it was slipped into runs what was left there.
  await slip(replaceStatements)
  await reads(RIVAL)
  expect(await slip(spied)).toContain('rival:')
})

test('slipped SQL that changes settings of the session keeps no other tenant from reading and writing, and changes no text', async () => {
  const { slip, reads, backend } = await openSlippery()
  for (const left of [
    `set lock_timeout = 1`,
    `set default_transaction_read_only = on`,
    `set client_encoding = 'LATIN1'`,
    `set array_nulls = off`,
    `set search_path = pg_temp`,
    `set bytea_output = 'escape'`,
    `set enable_indexscan = off`,
    `set row_security = off`,
    `set standard_conforming_strings = off`,
    `deallocate all`,
    // Comes last, because it may cancel what is slipped in after it.
    `set statement_timeout = 1`,
  ]) {
    await slip(left)
    await commitTo(backend, ACME, 'grün')
    await slip(left).catch(() => undefined)
    expect(Buffer.from((await reads(ACME)).at(-1)?.payload ?? []).toString(), left).toBe('"grün"')
  }
  const store = await open({ backend })
  expect((await store.tenant(ACME).verify()).problems).toEqual([])
})

test('slipped SQL that opens a transaction makes no write of another tenant look saved that is not', async () => {
  const { url, slip, reads, backend } = await openSlippery()
  await reads(ACME)
  await slip('begin')
  await commitTo(backend, ACME, 'kept')
  expect(await payloads(url)).toContain('"kept"')
})

test('a write whose transaction was opened anew by slipped SQL is not said to be saved', async () => {
  const { url, slipIntoNext, backend } = await openSlippery()
  await commitTo(backend, ACME, 'first')
  slipIntoNext('begin')
  await expect(commitTo(backend, ACME, 'second')).rejects.toThrow('left a transaction open')
  await commitTo(backend, ACME, 'third')
  expect((await payloads(url)).filter((payload) => /first|second|third/.test(payload))).toEqual(['"first"', '"third"'])
})

test('slipped SQL cannot move the head of its own tenant by hand, move it back, or change the state of the tenant', async () => {
  const { slip, backend, wall } = await openSlippery()
  const { seq, hash } = await backend.journal.head(RIVAL)
  const at = `'${RIVAL}', ${seq}, '\\x${hex(hash)}'`
  const move = (to: number) => `select inkfast.move_head_v1(${at}, ${to}, '\\x${'00'.repeat(32)}')`
  const change = (to: number, state: string) => `select inkfast.change_state_v1(${at}, ${to}, '\\x${'00'.repeat(32)}', ${state})`
  for (const [sql, answer] of [
    ['update inkfast.heads set seq = 0', DENIED],
    [`update inkfast.heads set state = 'suspended'`, DENIED],
    [`insert into inkfast.heads (tenant, seq, hash) values ('${RIVAL}', 9, '')`, DENIED],
    [`update inkfast.heads set tenant = 'acme'`, DENIED],
    [move(seq - 1), 'null'],
    [change(seq - 1, `'${wall.state(RIVAL, 'suspended')}'`), 'null'],
    [change(seq, `'suspended:${'0'.repeat(64)}'`), 'IF002'],
    // Signed for another tenant.
    [change(seq, `'${wall.state(ACME, 'suspended')}'`), 'IF002'],
  ] as const)
    expect(await slip(sql).catch((error: { code?: string }) => error.code), sql).toBe(answer)
  expect(await backend.journal.head(RIVAL)).toMatchObject({ seq, hash, state: 'active' })
  // The control: what a node signs is done.
  expect(await slip(change(seq, `'${wall.state(RIVAL, 'suspended')}'`))).toBe(RIVAL)
  expect(await backend.journal.head(RIVAL)).toMatchObject({ state: 'suspended' })
})

/** A backend with one connection, on which SQL can be slipped into a transaction of the rival. */
async function openSlippery() {
  const database = await preparedDatabase(plantTenants)
  later(() => leave(database))
  const { url } = database
  const { url: login } = await makeLogin(url, { roles: ['inkfast_app'] })
  const wall = await asSuperuser(url, wallOf)
  const { listen: _, ...real } = pooled({ url: login, connections: 1 })
  const tenantKey = await asSuperuser(url, keyOfWall)
  const next: Step[] = []
  const slippery: Connections = {
    ...real,
    acquire: async () => {
      const connection = await real.acquire()
      return {
        ...connection,
        run: async (steps, timeoutMs) => (await connection.run([...next.splice(0), ...steps], timeoutMs)).slice(-steps.length),
      }
    },
  }
  const backend = backendOn(await openOver({ url: login, tenantKey }, slippery), { url: login })
  later(() => backend.close())
  const slip = async (sql: string): Promise<string> => {
    const connection = await real.acquire()
    try {
      const [, rows] = await connection.run([enter(wall.tenant(RIVAL)), { text: sql }], 5000)
      return String(rows?.[0]?.[0])
    } finally {
      connection.release()
    }
  }
  const reads = async (tenant: TenantId) => {
    await backend.rows.get(tenant, 'sessions', 's')
    return (await backend.journal.page(tenant, { from: 0, limit: 100 })).events
  }
  const slipIntoNext = (text: string) => void next.push({ text })
  return { url, slip, slipIntoNext, reads, backend, wall }
}

/** What another connection sees. */
const payloads = (url: string): Promise<readonly string[]> =>
  asSuperuser(url, async (superuser) => {
    const { rows } = await superuser.query<{ payload: string }>(`select payload from inkfast.events where tenant = '${ACME}' order by seq`)
    return rows.map(({ payload }) => payload)
  })

async function commitTo(backend: Backend, tenant: TenantId, text = 'x'): Promise<void> {
  const make = maker(Number(Math.random().toString().slice(2, 10)))
  const [outcome] = await backend.commit([
    make.commit(tenant, {
      events: [make.draft(tenant, { payload: JSON.stringify(text) })],
      changes: [put('names', text, { owner: text })],
    }),
  ])
  expect(outcome).toMatchObject({ ok: true })
}

// Each statement does what enters a tenant, and keeps what it was given and what it can see in a setting of the session.
const replaceStatements = `do $$
  declare
    v_row record;
  begin
    for v_row in select name, parameter_types from pg_prepared_statements loop
      execute format('deallocate %I', v_row.name);
      execute format(
        'prepare %I %s as select pg_catalog.set_config(''spy.seen'', concat(pg_catalog.current_setting(''spy.seen'', true), %s (
          select pg_catalog.string_agg(tenant || payload, '' '') from inkfast.events)), false)%s',
        v_row.name, coalesce('(' || nullif(array_to_string(v_row.parameter_types, ', '), '') || ')', ''),
        (select string_agg(format('$%s::text, ', n), '') from generate_series(1, cardinality(v_row.parameter_types)) n),
        case when v_row.parameter_types = array['text']::regtype[] then ', case when $1 like ''%:%'' then inkfast.enter_v1($1)::text end' else '' end);
    end loop;
  end $$`
const spied = `select pg_catalog.current_setting('spy.seen', true)`
