// Who may open a store on a server, as whom it then serves, and with which key: one URL is enough to begin, two are for production. Roles belong
// to the whole server, so it is one of our own.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { migrateDatabase } from '../../src/backends/postgres/schema.ts'
import { open, type Store } from '../../src/index.ts'
import { codeOf, openIn } from '../support/engines.ts'
import { createDatabase } from '../support/postgres-database.ts'
import { type Server, startServer } from '../support/postgres-server.ts'
import { asSuperuser, makeLogin } from './logins.ts'

let server: Server
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())

const fresh = async (): Promise<string> => (await createDatabase(server.url)).url

async function prepared(): Promise<string> {
  const url = await fresh()
  await (await open(url)).close()
  return url
}

const run = (url: string, sql: string) => asSuperuser(url, (superuser) => superuser.query(sql))
const nameOf = (url: string): string => new URL(url).pathname.slice(1)

/** Who was at work when an event was written, as the server saw it. */
async function whoWrites(url: string, store: Store): Promise<unknown> {
  await run(
    url,
    `create table public.seen (login text, role text); grant insert on public.seen to public;
     create function public.look() returns trigger language plpgsql as
       $$ begin insert into public.seen values (session_user, current_user); return null; end $$;
     create trigger look after insert on inkfast.events for each statement execute function public.look()`,
  )
  await (await store.session('s')).append('task.done', {})
  const { rows } = await run(url, 'drop trigger look on inkfast.events; select distinct login, role from public.seen').then(
    (results) => [results].flat().at(-1) ?? { rows: [] },
  )
  return rows
}

describe('with one URL', () => {
  // The first of this server, so that it finds no roles and has to make them.
  test('a login that may create roles and a schema migrates, and serves in the role of the app', async () => {
    const url = await fresh()
    const login = await makeLogin(url, { with: 'createrole' })
    await run(url, `grant create on database ${nameOf(url)} to ${login.name}`)
    const store = await openIn(login.url)
    expect(await whoWrites(url, store)).toEqual([{ login: login.name, role: 'inkfast_app' }])
    await (await openIn(login.url)).session('again')
  })

  test('a superuser migrates, and serves in the role of the app', async () => {
    const url = await fresh()
    expect(await whoWrites(url, await openIn(url))).toEqual([{ login: 'postgres', role: 'inkfast_app' }])
  })

  test('a superuser who may not make anything finds that nothing is there', async () => {
    expect(await codeOf(open({ url: await fresh(), create: false }))).toBe('FILE_MISSING')
    expect(await codeOf(open({ url: await fresh(), readOnly: true }))).toBe('FILE_MISSING')
    expect(await codeOf(open({ url: await fresh(), migrate: false }))).toBe('SCHEMA_OLDER')
  })
})

describe('with two URLs', () => {
  test('two URLs: one login migrates, and the other one serves', async () => {
    const adminUrl = await fresh()
    await prepared()
    const login = await makeLogin(adminUrl, { roles: ['inkfast_app'] })
    const store = await openIn(login.url, { adminUrl })
    expect(await whoWrites(adminUrl, store)).toEqual([{ login: login.name, role: login.name }])
    const { rows } = await run(
      adminUrl,
      `select distinct usename from pg_stat_activity where application_name = 'inkfast' and datname = current_database()`,
    )
    expect(rows).toEqual([{ usename: login.name }])
  })

  test('two URLs: the login that serves must have no more rights than needed', async () => {
    const adminUrl = await prepared()
    const mighty = [
      adminUrl,
      (await makeLogin(adminUrl, { roles: ['inkfast_app'], with: 'bypassrls' })).url,
      (await makeLogin(adminUrl, { roles: ['inkfast_app'], with: 'createrole' })).url,
      (await makeLogin(adminUrl, { roles: ['inkfast_app', 'inkfast_owner'] })).url,
      (await makeLogin(adminUrl, { roles: ['inkfast_app', 'inkfast_wall'] })).url,
    ]
    for (const url of mighty) expect(await codeOf(open({ url, adminUrl }))).toBe('ROLE_TOO_POWERFUL')
    const { url } = await makeLogin(adminUrl, { roles: ['inkfast_app'] })
    await (await open({ url, adminUrl })).close()
  })
})

describe('the role of the app', () => {
  test.each([
    { what: 'bypasses row-level security', give: 'alter role inkfast_app bypassrls', take: 'alter role inkfast_app nobypassrls' },
    { what: 'is a superuser', give: 'alter role inkfast_app superuser', take: 'alter role inkfast_app nosuperuser' },
    { what: 'can become the owner', give: 'grant inkfast_owner to inkfast_app', take: 'revoke inkfast_owner from inkfast_app' },
    { what: 'can become postgres', give: 'grant postgres to inkfast_app', take: 'revoke postgres from inkfast_app' },
  ])('the role of the app is not served with when it $what, and is again when it does not', async ({ what, give, take }) => {
    const url = await prepared()
    const login = await makeLogin(url, { roles: ['inkfast_app'] })
    await run(url, give)
    try {
      const refusal = open(url)
      expect(await codeOf(refusal)).toBe('ROLE_TOO_POWERFUL')
      await expect(refusal).rejects.toThrow(new RegExp(`inkfast_app, which ${what}.*as url`))
      // Whoever has it as a member may become it.
      expect(await codeOf(open({ url: login.url, adminUrl: url }))).toBe('ROLE_TOO_POWERFUL')
    } finally {
      await run(url, take)
    }
    await (await open(url)).close()
  })
})

describe('the key of the wall', () => {
  const key = (n: number): string => `the ${n}th key of this store, long enough`

  test('the key of the wall is made by whoever may, and asked for from whoever may not read it', async () => {
    const adminUrl = await prepared()
    const { url } = await makeLogin(adminUrl, { roles: ['inkfast_app'] })
    const refusal = open(url)
    expect(await codeOf(refusal)).toBe('TENANT_KEY_MISSING')
    await expect(refusal).rejects.toThrow(/option tenantKey/)
    expect(await codeOf(open({ url, tenantKey: key(1) }))).toBe('TENANT_KEY_WRONG')
    expect(await codeOf(open({ url, tenantKey: 'too short' }))).toBe('OPTION_INVALID')
    await (await open({ url, adminUrl, tenantKey: key(1) })).close()
    const bytes = new TextEncoder().encode(key(1))
    await (await (await openIn(url, { tenantKey: bytes })).session('s')).append('task.done', {})
  })

  test('the key of the wall can be changed while nodes sign with the one before: the newest two are good', async () => {
    const adminUrl = await prepared()
    const { url } = await makeLogin(adminUrl, { roles: ['inkfast_app'] })
    const rotate = async (n: number) => (await open({ url, adminUrl, tenantKey: key(n) })).close()
    await rotate(1)
    const store = await openIn(url, { tenantKey: key(1) })
    const session = await store.session('s')
    await rotate(2)
    await session.append('task.done', { under: 1 })
    await (await (await openIn(url, { tenantKey: key(2) })).session('s')).append('task.done', { under: 2 })
    await rotate(3)
    expect(await codeOf(session.append('task.done', { under: 1 }))).toBe('TENANT_KEY_WRONG')
    expect(await codeOf(open({ url, tenantKey: key(1) }))).toBe('TENANT_KEY_WRONG')
    for (const n of [2, 3]) await (await open({ url, tenantKey: key(n) })).close()
    // One that is known already stays where it is.
    await rotate(2)
    for (const n of [2, 3]) await (await open({ url, tenantKey: key(n) })).close()
  })

  test('the key of the wall of a node whose clock is behind is the newest all the same', async () => {
    const adminUrl = await prepared()
    for (const n of [1, 2, 3]) {
      await migrateDatabase(adminUrl, { tenantKey: key(n) })
      await run(adminUrl, 'update inkfast.wall_keys set made_at = made_at + 3600000')
    }
    const { rows } = await run(adminUrl, 'select count(*)::integer as n from inkfast.wall_keys')
    expect(rows).toEqual([{ n: 2 }])
  })
})

describe('to be read only', () => {
  test('a store is opened in the role of the reader, which can write nothing', async () => {
    const adminUrl = await prepared()
    const tenantKey = 'a key that both of them know'
    // Another key than the one it has is not taken in passing, however powerful the login: it is changed on purpose.
    expect(await codeOf(open({ url: adminUrl, tenantKey }))).toBe('TENANT_KEY_WRONG')
    await migrateDatabase(adminUrl, { tenantKey })
    const writer = await openIn(adminUrl, { tenantKey })
    await (await writer.session('s')).append('task.done', {})
    const login = await makeLogin(adminUrl, { roles: ['inkfast_reader'] })
    for (const url of [adminUrl, login.url]) {
      const store = await openIn(url, { tenantKey, readOnly: true })
      expect((await store.page()).items).toHaveLength(2)
      expect(await store.verify()).toMatchObject({ intact: true })
      const session = await store.sessions.find('s')
      expect(await codeOf(session?.append('task.done', {}) ?? Promise.resolve())).toBe('DATABASE_READ_ONLY')
    }
    expect(await codeOf(open({ url: login.url, tenantKey }))).toBe('DATABASE_RIGHT_MISSING')
  })

  test('a server that takes no writes is good enough, and only then', async () => {
    const url = await prepared()
    await (await openIn(url)).session('s')
    await run(url, `alter database ${nameOf(url)} set default_transaction_read_only = on`)
    const refusal = open(url)
    expect(await codeOf(refusal)).toBe('DATABASE_READ_ONLY')
    await expect(refusal).rejects.toThrow(/default_transaction_read_only/)
    expect((await (await openIn(url, { readOnly: true })).sessions.list()).items).toHaveLength(1)
  })
})
