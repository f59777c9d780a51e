// The migrations against the declarations in src/model, against what was released, and against the texts that people read.

import { posix } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DECLARED, type Declared } from '../scripts/schema/plan.ts'
import { postgresTables } from '../scripts/schema/postgres.ts'
import { withSections } from '../scripts/schema/sections.ts'
import { sqliteTables } from '../scripts/schema/sqlite.ts'
import { migrations as databaseMigrations, migrate } from '../src/backends/postgres/migrate.ts'
import { migrations as fileMigrations } from '../src/backends/sqlite/migrate.ts'
import { openDatabase } from '../src/backends/sqlite/open.ts'
import { type Table, tables } from '../src/model/tables.ts'
import { liteConnections, startPglite } from './support/pglite.ts'
import { emptyFolder, filesUnder, read, readJson } from './support/project.ts'
import {
  type Ask,
  checkDatabaseTables,
  checkWall,
  databaseText,
  type FoundDatabaseTable,
  tablesInDatabase,
} from './support/tidy/postgres-schema.ts'
import {
  checkReleased,
  checkTables,
  type FoundTable,
  isMigration,
  type Released,
  schemaText,
  sha256,
  tablesIn,
} from './support/tidy/schema.ts'

const sessionsWith = (change: Partial<Table>): Declared => ({
  ...DECLARED,
  rows: { ...tables, sessions: { ...tables.sessions, ...change } },
})

// Of tables that have a tenant.
const statisticsKept = `
  select c.relname || '.' || a.attname as name from pg_attribute a join pg_class c on c.oid = a.attrelid
  where c.relnamespace = 'inkfast'::regnamespace and c.relkind = 'r' and a.attnum > 0 and coalesce(a.attstattarget, -1) <> 0
    and exists (select from pg_attribute t where t.attrelid = c.oid and t.attname = 'tenant') order by 1`

const without = <T extends FoundTable>(found: readonly T[], name: string): readonly T[] => found.filter((table) => table.name !== name)

describe('the schema of a fresh file', () => {
  it('the schema of a fresh file is what tables.ts says, and what schema.sql shows', async () => {
    using folder = emptyFolder()
    const db = await openDatabase(`${folder.path}/fresh.db`, () => 0)
    const found = tablesIn(db)
    const text = schemaText(db)
    db.close()
    expect(checkTables(found)).toEqual([])
    expect(text).toBe(read('src/backends/sqlite/schema.sql'))
    expect(checkTables([...found, { name: 'extra', columns: [], indexes: {} }])).toEqual(['the table extra is not declared'])
    expect(checkTables(without(found, 'names'))).toEqual(['the table names is not in the file'])
    expect(checkTables(without(found, 'heads'))).toEqual(['the table heads is not in the file'])
    expect(checkTables(found, sessionsWith({ columns: { ...tables.sessions.columns, state: 'integer' } }))).toHaveLength(2)
    expect(checkTables(found, sessionsWith({ indexes: { ...tables.sessions.indexes, byOwner: ['owner'] } }))).toHaveLength(2)
    expect(checkTables(found, sessionsWith({ fenced: true }))).toHaveLength(1)
  })
})

// One database for the file: tests that change its schema roll back.
let lite: Awaited<ReturnType<typeof startPglite>>
const ask: Ask = async (sql) => (await lite.query<Record<string, string | null>>(sql)).rows

beforeAll(async () => {
  lite = await startPglite()
  const connection = await liteConnections(lite).acquire()
  await migrate(connection, { place: 'here', now: () => 0 })
  connection.release()
})
afterAll(() => lite.close())

describe('the schema of a fresh database', () => {
  let found: readonly FoundDatabaseTable[]

  beforeAll(async () => {
    found = await tablesInDatabase(ask)
  })

  it('the schema of a fresh database is what tables.ts says: columns, keys, and every index with the tenant first, the id last and nulls first', () => {
    expect(checkDatabaseTables(found)).toEqual([])
    expect(checkDatabaseTables(without(found, 'names'))).toEqual(['the table names is not in the database'])
    expect(checkDatabaseTables(without(found, 'wall_keys'))).toEqual(['the table wall_keys is not in the database'])
    expect(checkDatabaseTables(found, sessionsWith({ columns: { ...tables.sessions.columns, state: 'integer' } }))).toHaveLength(2)
    expect(checkDatabaseTables(found, sessionsWith({ indexes: { ...tables.sessions.indexes, byOwner: ['owner'] } }))).toHaveLength(2)
    const plain = found.map((table) => ({
      ...table,
      indexes: Object.fromEntries(
        Object.entries(table.indexes).map(([name, columns]) => [name, columns.map((one) => one.replace(' nulls first', ''))]),
      ),
    }))
    expect(checkDatabaseTables(plain).length).toBeGreaterThan(2)
  })

  it('the schema of a fresh database is what schema.sql shows; node scripts/schema.ts writes it', async () => {
    expect(await databaseText(ask)).toBe(read('src/backends/postgres/schema.sql'))
  })

  it('the schema of a fresh database walls every table off, and begins every key and index of tenants with the tenant', async () => {
    expect(checkWall(found)).toEqual([])
    await lite.exec(`begin; set local role inkfast_owner;
      alter table inkfast.names no force row level security; drop policy tenant on inkfast.leases;
      create index sessions_by_id on inkfast.sessions (id, tenant); create table inkfast.stray (id text primary key)`)
    expect(checkWall(await tablesInDatabase(ask))).toEqual([
      'leases has no policy, so nobody can use it',
      'row-level security is not enabled and forced on names',
      'sessions: sessions_by_id does not begin with the tenant',
      'row-level security is not enabled and forced on stray',
      'stray has no policy, so nobody can use it',
      'stray: its primary key does not begin with the tenant',
    ])
    expect(checkDatabaseTables(await tablesInDatabase(ask))).toHaveLength(2)
    expect(await databaseText(ask)).not.toBe(read('src/backends/postgres/schema.sql'))
    await lite.exec('rollback')
  })
})

// Every kind of column, one that may be null, a key of two columns, and an app role that may only add.
const throwaway: Declared = {
  rows: {},
  sides: {
    scribbles: {
      columns: { term: 'text', place: 'integer', weight: 'real', bytes: 'blob?' },
      key: ['term', 'place'],
      indexes: { byPlace: ['place'], byBytes: ['bytes'] },
      rights: ['insert'],
    },
  },
}

describe('a side table that is declared', () => {
  it('a declared side table is made on SQLite with its columns, its key and its indexes', async () => {
    using folder = emptyFolder()
    const db = await openDatabase(`${folder.path}/side.db`, () => 0)
    db.exec(sqliteTables(throwaway))
    const found = tablesIn(db)
    db.run('insert into scribbles (tenant, term, place, weight, bytes) values (?, ?, ?, ?, ?)', 'acme', 'ink', 1, 0.5, new Uint8Array([7]))
    expect(db.all('select * from scribbles')).toEqual([{ tenant: 'acme', term: 'ink', place: 1, weight: 0.5, bytes: new Uint8Array([7]) }])
    db.close()
    expect(checkTables(found, { ...DECLARED, sides: { ...DECLARED.sides, ...throwaway.sides } })).toEqual([])
    expect(checkTables(found)).toEqual(['the table scribbles is not declared'])
  })

  it('a declared side table is made on PostgreSQL with the wall between tenants, its rights and no statistics', async () => {
    await lite.exec(`begin; set local role inkfast_owner; ${postgresTables(throwaway)}; reset role`)
    const found = await tablesInDatabase(ask)
    expect(checkDatabaseTables(found, { ...DECLARED, sides: { ...DECLARED.sides, ...throwaway.sides } })).toEqual([])
    expect(checkWall(found)).toEqual([])
    expect(
      await ask(`select rolname, has_table_privilege(rolname, 'inkfast.scribbles', 'insert')::text as adds,
      has_table_privilege(rolname, 'inkfast.scribbles', 'update, delete')::text as changes from pg_roles
      where rolname in ('inkfast_app', 'inkfast_reader') order by 1`),
    ).toEqual([
      { rolname: 'inkfast_app', adds: 'true', changes: 'false' },
      { rolname: 'inkfast_reader', adds: 'false', changes: 'false' },
    ])
    expect(await ask(statisticsKept)).toEqual([])
    await lite.exec('alter table inkfast.scribbles alter weight set statistics 10')
    expect(await ask(statisticsKept)).toEqual([{ name: 'scribbles.weight' }])
    await lite.exec('rollback')
  })
})

describe.each([
  ['sqlite', fileMigrations],
  ['postgres', databaseMigrations],
] as const)('a migration of %s', (backend, migrations) => {
  const folder = `src/backends/${backend}/migrations`
  const paths = filesUnder(folder, (path) => isMigration(posix.basename(path)))
  const files = Object.fromEntries(paths.map((path) => [posix.basename(path), read(path)]))

  it('a migration never changes once it is released', () => {
    const released = readJson<Released>(`${folder}/released.json`)
    expect(checkReleased(released, files)).toEqual([])
    expect(checkReleased(released, { ...files, '0001_journal.sql': `${files['0001_journal.sql']} ` })).toEqual([
      expect.stringContaining('0001_journal.sql was released and has been edited since'),
    ])
    expect(checkReleased(released, {})).toEqual(Object.keys(files).map((file) => `${file} was released and is gone`))
    expect(checkReleased(released, { ...files, '0999_more.sql': '' })).toEqual(['0999_more.sql is not listed in released.json'])
  })

  it('a migration holds the tables and functions that the declarations make; node scripts/schema.ts writes them', () => {
    const migration = files['0001_journal.sql'] as string
    expect(withSections(backend, migration)).toBe(migration)
    const stale = migration.replace('revision', 'version')
    expect(withSections(backend, stale)).not.toBe(stale)
    expect(() => withSections(backend, migration.replaceAll('-- end of generated', '--'))).toThrow('has no marks')
  })

  it('a migration is numbered without gaps, and opens with why', () => {
    expect(migrations.map(({ number }) => number)).toEqual(migrations.map((_, i) => i + 1))
    for (const { sql, checksum } of migrations) {
      expect(sql).toMatch(/^(?:-- serves: \d+\n)?-- \S/)
      expect(checksum).toBe(sha256(sql))
    }
  })
})

it('a migration of postgres says who may go on serving, and never nobody', () => {
  for (const { number, serves, sql } of databaseMigrations) {
    expect(sql).toMatch(/^-- serves: \d+\n/)
    expect(serves).toBeGreaterThanOrEqual(1)
    expect(serves).toBeLessThanOrEqual(number)
  }
})
