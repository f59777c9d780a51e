// PostgreSQL from every released schema to this one: by one node or by several at once, with older nodes serving meanwhile, and refused where
// serving would do harm.

import { createHash } from 'node:crypto'
import { posix } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { describe, expect, it } from 'vitest'
import type { Connection } from '../../src/backends/postgres/connections.ts'
import { checkSchema, type Migration, migrate, migrations, readApplied, schemaRange } from '../../src/backends/postgres/migrate.ts'
import { pooled } from '../../src/backends/postgres/pool.ts'
import { migrateDatabase, readDatabaseSchema } from '../../src/backends/postgres/schema.ts'
import { open } from '../../src/index.ts'
import { freshDatabase } from '../support/databases.ts'
import { codeOf, expectSound, later, openIn, tempDatabase } from '../support/engines.ts'
import { query } from '../support/postgres-database.ts'
import { startServer } from '../support/postgres-server.ts'
import { filesUnder, read, readJson } from '../support/project.ts'
import type { Released } from '../support/tidy/schema.ts'
import { restoreDatabase } from './database.ts'
import { expectGoesOn, tampered } from './goes-on.ts'
import { KEY, readText, storedAt } from './stored.ts'

const ENDING = '.postgres.jsonl'
const versions = filesUnder('test/migrations', (path) => path.endsWith(ENDING)).map((path) => posix.basename(path, ENDING))
const storedBy = (version: string) => readText(read(`test/migrations/${version}${ENDING}`))

const NEXT = schemaRange.knows + 1

function step(sql: string, { number = NEXT, serves = 1 }: { readonly number?: number; readonly serves?: number } = {}): Migration {
  return { number, name: 'later', sql, serves, checksum: createHash('sha256').update(sql).digest('hex') }
}

const EXPAND = 'set local role inkfast_owner; alter table inkfast.sessions add column mood text'
const CONTRACT = 'set local role inkfast_owner; alter table inkfast.sessions drop column mood'

async function connect(url: string): Promise<Connection> {
  const connections = pooled({ url, connections: 1 })
  const connection = await connections.acquire()
  later(async () => {
    connection.release()
    await connections.close()
  })
  return connection
}

/** As a node of a version that knows these further steps would. */
const migrateWith = async (url: string, ...further: readonly Migration[]) =>
  migrate(await connect(url), { place: 'here', now: () => 1, steps: [...migrations, ...further], waitsMs: 100 })

/** A picture that someone looks at for long, as a backup does. */
async function longRead(url: string): Promise<Client> {
  const reader = new Client(url)
  await reader.connect()
  await reader.query('begin; select 1 from inkfast.sessions')
  return reader
}

const isStill = (promise: Promise<unknown>): Promise<boolean> => Promise.race([promise.then(() => false), sleep(200, true)])

/** Until someone waits for a lock. */
async function locked(url: string): Promise<void> {
  while ((await query(url, 'select 1 from pg_locks where not granted')).length === 0) await sleep(10)
}

const historyOf = async (url: string) =>
  ((await query(url, 'select number from inkfast.migrations order by number')) as { number: number }[]).map(({ number }) => number)

const known = migrations.map(({ number }) => number)

describe('a database of an earlier version', () => {
  it('a database of an earlier version is kept for every version that brought migrations', () => {
    expect(versions).toEqual(expect.arrayContaining(Object.keys(readJson<Released>('src/backends/postgres/migrations/released.json'))))
  })

  it.each(versions)('a database of an earlier version %s is brought up to date, verifies, folds, and goes on', async (version) => {
    const { url } = await freshDatabase()
    await restoreDatabase(url, storedBy(version))
    const store = await openIn(url, { redactKey: KEY })
    await expectGoesOn(store, storedBy(version))
    expect(await historyOf(url)).toEqual(known)
  })

  it.each(known)('a database of an earlier version that stopped at migration %i is brought up to date and goes on', async (number) => {
    const { url } = await freshDatabase()
    const stored = storedBy(versions.at(-1) as string)
    await restoreDatabase(url, storedAt(stored, number))
    await expectGoesOn(await openIn(url, { redactKey: KEY }), stored)
    expect(await historyOf(url)).toEqual(known)
  })

  it.each(versions)('a database of an earlier version %s is reported when something in it was changed', async (version) => {
    const { url } = await freshDatabase()
    await restoreDatabase(url, tampered(storedBy(version)))
    const store = await openIn(url, { redactKey: KEY })
    expect(await store.verify()).toMatchObject({ intact: false, brokenAt: storedBy(version).receipts[1]?.seq })
  })
})

describe('migrating', () => {
  it('migrating begins from nothing, and says where the schema stands before and after', async () => {
    const { url } = await freshDatabase()
    const before = await readDatabaseSchema(url)
    expect(before).toMatchObject({ found: 0, needed: schemaRange.knows })
    expect(before.migrations[0]?.sql).toContain('create role')
    expect(before.migrations[0]?.sql).toContain('create table inkfast.events')
    expect(await query(url, "select 1 from pg_namespace where nspname = 'inkfast'")).toEqual([])

    const seen: number[] = []
    const after = await migrateDatabase(url, { progress: ({ number }) => seen.push(number) })
    expect(seen).toEqual(known)
    expect(after).toMatchObject({ found: schemaRange.knows, walledAgain: [] })
    expect(after.migrations.every((one) => one.appliedAt !== undefined && one.sql === undefined)).toBe(true)
    expect(await readDatabaseSchema(url)).toEqual({ found: after.found, needed: after.needed, migrations: after.migrations })
  })

  it('migrating by several at once ends with one history, each step applied by one of them', async () => {
    const { url } = await freshDatabase()
    const nodes = await Promise.all(Array.from({ length: 4 }, () => connect(url)))
    const done = await Promise.all(nodes.map((node) => migrate(node, { place: 'here', now: () => 1 })))
    expect(done.flat().map(({ number }) => number)).toEqual(known)
    expect(await historyOf(url)).toEqual(known)
    await expectSound(await openIn(url))
  })

  it('migrating by programs that open the same empty database at once serves all of them', async () => {
    const { url } = await freshDatabase()
    const stores = await Promise.all([openIn(url), openIn(url), openIn(url)])
    await Promise.all(stores.map(async (store, i) => (await store.session(`s${i}`)).append('note.made', { i })))
    expect(await stores[0]?.head()).toMatchObject({ seq: 6 })
    expect(await historyOf(url)).toEqual(known)
  })

  it('migrating leaves nothing of a step that fails, and goes on from there', async () => {
    const url = await tempDatabase()
    const broken = step('set local role inkfast_owner; create table inkfast.half (a integer); select 1 / 0')
    await expect(migrateWith(url, broken)).rejects.toMatchObject({ code: 'BACKEND_FAILED', details: { reason: 'division by zero' } })
    expect(await query(url, "select to_regclass('inkfast.half')::text as there")).toEqual([{ there: null }])
    expect(await historyOf(url)).toEqual(known)
    const mended = step('set local role inkfast_owner; create table inkfast.half (a integer)')
    expect(await migrateWith(url, mended)).toEqual([mended])
    expect(await query(url, "select to_regclass('inkfast.half')::text as there")).toEqual([{ there: 'inkfast.half' }])
  })

  it('migrating waits for a table without holding up those behind it', async () => {
    const url = await tempDatabase()
    const store = await openIn(url)
    const session = await store.session('busy')
    const reader = await longRead(url)
    const migrated = migrateWith(url, step(EXPAND))
    for (let i = 0; i < 20; i++) await session.append('note.made', { i })
    await session.rename('while a step waits')
    expect(await isStill(migrated)).toBe(true)
    await reader.end()
    expect(await migrated).toHaveLength(1)
    await expectSound(store)
  })

  it('migrating would hold up those behind it if it waited without a rest', async () => {
    const url = await tempDatabase()
    const store = await openIn(url)
    const session = await store.session('busy')
    const reader = await longRead(url)
    const stubborn = { place: 'here', now: () => 1, steps: [...migrations, step(EXPAND)], waitsMs: 60_000 }
    const migrated = migrate(await connect(url), stubborn)
    await locked(url)
    const renamed = session.rename('behind a step that waits')
    expect(await isStill(renamed)).toBe(true)
    await reader.end()
    await Promise.all([migrated, renamed])
    await expectSound(store)
  })

  it('migrating needs no superuser: a login that may create roles and owns the database is enough, and one that may not is refused', async () => {
    // The roles belong to the server, so only on one of its own can be seen what happens where there are none.
    await using server = await startServer()
    const as = (login: string) => {
      const url = new URL(server.url)
      url.username = login
      url.password = 'a-pass-word'
      url.pathname = '/agents'
      return url.href
    }
    await query(server.url, "create role admin login createrole password 'a-pass-word'")
    await query(server.url, "create role node login password 'a-pass-word'")
    await query(server.url, 'create database agents owner admin')
    expect(await codeOf(migrateDatabase(as('node')))).toBe('DATABASE_RIGHT_MISSING')
    expect(await query(as('admin'), "select 1 from pg_roles where rolname like 'inkfast%'")).toEqual([])
    await migrateDatabase(as('admin'), { tenantKey: 'a key that both of them know' })
    await query(as('admin'), 'grant inkfast_app to node')
    const store = await open({ url: as('node'), tenantKey: 'a key that both of them know' })
    await (await store.session('a')).append('note.made', {})
    await expectSound(store)
    await store.close()
  })

  it('migrating puts back row-level security that someone switched off, and says where', async () => {
    const url = await tempDatabase()
    await query(url, 'alter table inkfast.names no force row level security; alter table inkfast.wall_keys disable row level security')
    expect(await codeOf(open(url))).toBe('WALL_OPEN')
    expect((await migrateDatabase(url)).walledAgain).toEqual(['names', 'wall_keys'])
    await expectSound(await openIn(url))
  })
})

describe('a node of an older version', () => {
  it('a node of an older version goes on serving, and may be started anew, after a step that only adds', async () => {
    const url = await tempDatabase()
    const running = await openIn(url)
    const session = await running.session('before')
    await migrateWith(url, step(EXPAND, { serves: schemaRange.knows }))
    await session.append('note.made', { said: 'by a node that was there before' })
    const started = await openIn(url)
    await (await started.session('after')).append('note.made', { said: 'by one that came later' })
    await expectSound(running)
    expect(await readDatabaseSchema(url)).toMatchObject({
      found: NEXT,
      needed: schemaRange.knows,
      migrations: [...migrations.map(({ number }) => ({ number })), { number: NEXT, name: 'later', appliedAt: 1 }],
    })
  })

  it('a node of an older version is refused after a step that takes away what it needs', async () => {
    const url = await tempDatabase()
    const contract = step(CONTRACT, { number: NEXT + 1, serves: NEXT })
    await migrateWith(url, step(EXPAND, { serves: schemaRange.knows }), contract)
    const refusal = { code: 'SCHEMA_NEWER', details: { found: NEXT + 1, known: schemaRange.knows } }
    await expect(open(url)).rejects.toMatchObject(refusal)
    await expect(open({ url, migrate: false })).rejects.toMatchObject(refusal)
    await expect(readDatabaseSchema(url)).rejects.toMatchObject(refusal)
    const applied = await readApplied(await connect(url), 'here')
    expect(() => checkSchema('here', applied, { needs: 1, knows: NEXT })).not.toThrow()
  })
})

describe('a node of a newer version', () => {
  it('a node of a newer version is refused by a schema it cannot work with while it may not migrate', async () => {
    const url = await tempDatabase()
    const applied = await readApplied(await connect(url), 'here')
    const newer = { needs: NEXT, knows: NEXT }
    expect(() => checkSchema('here', applied, newer)).toThrow(
      expect.objectContaining({ code: 'SCHEMA_OLDER', details: { path: 'here', found: schemaRange.knows, needed: NEXT } }),
    )
    const { url: empty } = await freshDatabase()
    await expect(open({ url: empty, migrate: false })).rejects.toMatchObject({ code: 'SCHEMA_OLDER', details: { found: 0, needed: 1 } })
  })
})

it('a migration that is not the one we ship is refused by whoever opens, looks or migrates', async () => {
  const url = await tempDatabase()
  await query(url, "update inkfast.migrations set checksum = 'another' where number = 1")
  const refusal = { code: 'SCHEMA_CHANGED', details: { migration: 1 } }
  await expect(open(url)).rejects.toMatchObject(refusal)
  await expect(open({ url, migrate: false })).rejects.toMatchObject(refusal)
  await expect(readDatabaseSchema(url)).rejects.toMatchObject(refusal)
  await expect(migrateDatabase(url)).rejects.toMatchObject(refusal)
})

it('a database in another encoding is refused before anything is made in it', async () => {
  const { url, name } = await freshDatabase()
  const server = new URL(url)
  server.pathname = '/postgres'
  await query(server.href, `create database ${name}_latin encoding 'LATIN1' locale 'C' template template0`)
  const latin = new URL(url)
  latin.pathname = `/${name}_latin`
  await expect(migrateDatabase(latin.href)).rejects.toMatchObject({ code: 'DATABASE_UNSUITABLE' })
  expect(await query(latin.href, "select 1 from pg_namespace where nspname = 'inkfast'")).toEqual([])
  await query(server.href, `drop database ${name}_latin`)
})
