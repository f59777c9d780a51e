// Whoever waits, waits for a bounded time: for a connection, for a statement, for a lock, for two transactions to get out of each other's way.
// Then the caller hears that nothing was saved, and nothing was.

import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { describe, expect, test } from 'vitest'
import { type PostgresOptions, postgresBackend } from '../../src/backends/postgres/backend.ts'
import { type Backend, open, type Store } from '../../src/index.ts'
import { MAIN } from '../../src/model/ids.ts'
import { codeOf, expectSound, later, openIn, tempDatabase } from '../support/engines.ts'
import { startServer } from '../support/postgres-server.ts'
import { asSuperuser, makeLogin } from './logins.ts'
import { until } from './until.ts'

async function openWith(options: PostgresOptions): Promise<{ readonly store: Store; readonly backend: Backend }> {
  const backend = await postgresBackend(options)
  const store = await open({ backend })
  later(() => store.close())
  return { store, backend }
}

/** Somebody else's transaction. */
async function transaction(url: string): Promise<Client> {
  const client = new Client(url)
  await client.connect()
  later(() => client.end())
  await client.query('begin')
  return client
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const begun = performance.now()
  const result = await work
  expect(performance.now() - begun).toBeLessThan(ms)
  return result
}

describe('a commit that gets no connection', () => {
  test('a commit that gets no connection because all of the pool are taken is refused in time, and works when one is free again', async () => {
    const url = await tempDatabase()
    const { store, backend } = await openWith({ url, connections: 2, connectMs: 250 })
    const session = await store.session('s')
    const { seq } = await store.head()
    const held = [await backend.upkeep.snapshot(MAIN), await backend.upkeep.snapshot(MAIN)]
    const refusal = session.append('task.done', { n: 1 })
    expect(await within(3000, codeOf(refusal))).toBe('DATABASE_BUSY')
    await expect(refusal).rejects.toThrow(/the option connections/)
    for (const picture of held) await picture.close()
    expect((await store.head()).seq).toBe(seq)
    expect((await session.append('task.done', { n: 2 })).seq).toBe(seq + 1)
  })

  test('a commit that gets no connection would wait for as long as they are taken, were there no bound', async () => {
    const url = await tempDatabase()
    const { store, backend } = await openWith({ url, connections: 1, connectMs: 60_000 })
    const session = await store.session('s')
    const picture = await backend.upkeep.snapshot(MAIN)
    let answered = false
    const appended = session.append('task.done', { n: 1 }).finally(() => {
      answered = true
    })
    await sleep(750)
    expect(answered).toBe(false)
    await picture.close()
    await appended
  })

  test('a commit that gets no connection because the server has no more is refused in time, and works when it has', async () => {
    const server = await startServer({ fsync: false, settings: { max_connections: 12, superuser_reserved_connections: 1 } })
    later(() => server.stop())
    const admin = server.url
    const opening = { url: admin, durability: 'normal' as const }
    const key = { tenantKey: 'a key of thirty-two characters …' }
    await (await postgresBackend({ ...opening, ...key })).close()
    // Some connections are kept for superusers; a login like everybody's gets none of those.
    const { url } = await makeLogin(admin, { roles: ['inkfast_app'] })
    // It neither listens nor looks by itself, so it connects only when it is asked something.
    const quiet = { listenUrl: 'postgres://127.0.0.1:1/nowhere', lookEveryMs: 600_000 }
    const { store } = await openWith({ ...opening, url, ...key, ...quiet, connectMs: 250, connections: 1 })
    const session = await store.session('s')
    await asSuperuser(admin, async (superuser) => {
      // A look at what it wrote itself may still be on its way.
      let quiet = 0
      await until('its connections are gone', async () => {
        const ended = `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'inkfast'`
        quiet = (await superuser.query(ended)).rowCount === 0 ? quiet + 1 : 0
        return quiet === 20
      })
    })
    const others: Client[] = []
    later(() => Promise.all(others.map((other) => other.end())))
    // Connections that ended a moment ago give their place back a moment later.
    let refused = 0
    await until('the server is full', async () => {
      const other = new Client(url)
      const code = await codeOf(other.connect())
      if (code === 'no error') others.push(other)
      refused = code === '53300' ? refused + 1 : 0
      return refused === 20
    })
    expect(await within(3000, codeOf(session.append('task.done', { n: 1 })))).toBe('DATABASE_BUSY')
    await Promise.all(others.splice(0).map((other) => other.end()))
    await until('there is room again', async () => (await session.append('task.done', { n: 2 })).seq > 0)
    expect((await store.types()).find(({ type }) => type === 'task.done')?.events).toBe(1)
  })
})

describe('a commit that has to wait', () => {
  test("a commit that has to wait for a tenant's head is refused in time, definitely, and other tenants are not kept waiting", async () => {
    const url = await tempDatabase()
    const { store } = await openWith({ url, lockMs: 300 })
    const [mine, theirs] = [await store.session('s'), await store.tenant('acme').session('s')]
    const { seq } = await store.head()
    const holder = await transaction(url)
    await holder.query(`select 1 from inkfast.heads where tenant = 'main' for update`)
    expect(await within(3000, codeOf(mine.append('task.done', { n: 1 })))).toBe('DATABASE_BUSY')
    await theirs.append('task.done', { n: 1 })
    // In one batch with a tenant that waits, the others are saved all the same.
    const [waiting, passing] = await Promise.allSettled([mine.append('task.done', { n: 2 }), theirs.append('task.done', { n: 2 })])
    expect([waiting.status, passing.status]).toEqual(['rejected', 'fulfilled'])
    expect((await store.head()).seq).toBe(seq)
    await holder.query('rollback')
    expect((await mine.append('task.done', { n: 3 })).seq).toBe(seq + 1)
    expect(store.stats().resent).toBe(0)
    await expectSound(store)
  })

  test('a commit that has to wait for ever, were there no bound, ends in an outcome that is open, and is there once when the lock goes', async () => {
    const url = await tempDatabase()
    const { store } = await openWith({ url, lockMs: 0, timeoutMs: 250 })
    const session = await store.session('s')
    const { seq } = await store.head()
    const holder = await transaction(url)
    await holder.query(`select 1 from inkfast.heads where tenant = 'main' for update`)
    expect(await within(5000, codeOf(session.append('task.done', { n: 1 })))).toBe('OUTCOME_UNKNOWN')
    await holder.query('rollback')
    // All its sendings wait at the server still, and one after the other they get the lock.
    const waiting = `select 1 from pg_stat_activity where datname = current_database() and application_name = 'inkfast' and state = 'active'`
    await until('all sendings are through', async () => (await holder.query(waiting)).rowCount === 0)
    expect((await store.head()).seq).toBe(seq + 1)
    await expectSound(store)
  })

  test('a commit that has to wait longer than the database lets a statement run is refused, definitely', async () => {
    const url = await tempDatabase()
    await asSuperuser(url, (superuser) =>
      superuser.query(`do $$ begin execute format('alter database %I set statement_timeout = 200', current_database()); end $$`),
    )
    const { store } = await openWith({ url })
    const session = await store.session('s')
    const { seq } = await store.head()
    const holder = await transaction(url)
    await holder.query(`select 1 from inkfast.heads where tenant = 'main' for update`)
    const refusal = session.append('task.done', { n: 1 })
    expect(await within(3000, codeOf(refusal))).toBe('DATABASE_BUSY')
    await expect(refusal).rejects.toThrow(/statement timeout/)
    await holder.query('rollback')
    expect((await session.append('task.done', { n: 2 })).seq).toBe(seq + 1)
    expect(store.stats().resent).toBe(0)
  })
})

/** The next so many commits fail with this state, and each try is counted. */
async function trip(url: string, state: string, times: number): Promise<() => Promise<number>> {
  await asSuperuser(url, (superuser) =>
    superuser.query(`
      create schema trip;
      create sequence trip.tries;
      create function trip.over() returns trigger language plpgsql security definer as $$
      begin
        if nextval('trip.tries') <= ${times} then raise exception 'tripped' using errcode = '${state}'; end if;
        return null;
      end $$;
      create trigger trip before insert on inkfast.events for each statement execute function trip.over()`),
  )
  return () =>
    asSuperuser(url, async (superuser) => {
      const { rows } = await superuser.query<{ n: number }>('select last_value::integer as n from trip.tries')
      return rows[0]?.n ?? 0
    })
}

describe("two transactions that get in each other's way", () => {
  test.each(['40001', '40P01'])('two transactions that collide with %s are tried again, and the commit is there once', async (state) => {
    const url = await tempDatabase()
    const store = await openIn(url)
    const session = await store.session('s')
    const tries = await trip(url, state, 3)
    const { seq } = await session.append('task.done', { n: 1 })
    expect(await tries()).toBe(4)
    expect((await store.head()).seq).toBe(seq)
    await expectSound(store)
  })

  test.each(['40001', '40P01'])(
    'two transactions that collide with %s again and again are tried five times, and nothing is saved',
    async (state) => {
      const url = await tempDatabase()
      const store = await openIn(url)
      const session = await store.session('s')
      const { seq } = await store.head()
      const tries = await trip(url, state, 1000)
      expect(await within(3000, codeOf(session.append('task.done', { n: 1 })))).toBe('DATABASE_BUSY')
      expect(await tries()).toBe(5)
      expect((await store.head()).seq).toBe(seq)
    },
  )

  test('two transactions that collide are told from a failure that would come again: that is tried once', async () => {
    const url = await tempDatabase()
    const store = await openIn(url)
    const session = await store.session('s')
    const tries = await trip(url, '22000', 1000)
    expect(await codeOf(session.append('task.done', { n: 1 }))).toBe('BACKEND_FAILED')
    expect(await tries()).toBe(1)
  })

  test('two transactions that collide in a real deadlock are sorted out by the server, and the commit is there once', async () => {
    const url = await tempDatabase()
    const store = await openIn(url)
    const session = await store.session('s')
    // The server counts per database, and this one may have served other tests.
    const deadlocks = async (): Promise<number> => {
      const { rows } = await asSuperuser(url, (superuser) =>
        superuser.query('select deadlocks::int as n from pg_stat_database where datname = current_database()'),
      )
      return rows[0].n
    }
    const before = await deadlocks()
    const other = await transaction(url)
    await other.query('select 1 from inkfast.sessions for update')
    // It has the head and waits for the row; the other has the row and waits for the head.
    const renamed = session.rename('title')
    const waits = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    await until('the commit waits for the row', async () => (await asSuperuser(url, (superuser) => superuser.query(waits))).rowCount === 1)
    await other.query(`select 1 from inkfast.heads where tenant = 'main' for update`)
    await other.query('commit')
    await renamed
    expect((await store.sessions.get(session.id))?.title).toBe('title')
    expect((await store.head()).seq).toBe(2)
    await until('the server has counted it', async () => (await deadlocks()) > before)
  })
})
