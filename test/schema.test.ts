// The hand-written migrations against model/tables.ts, against what was released, and against the text that people read.

import { posix } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { commitFunction } from '../src/backends/postgres/commit-function.ts'
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

const sessionsWith = (change: Partial<Table>): Readonly<Record<string, Table>> => ({
  ...tables,
  sessions: { ...tables.sessions, ...change },
})

const without = <T extends FoundTable>(found: readonly T[], name: string): readonly T[] => found.filter((table) => table.name !== name)

describe('the schema of a fresh file', () => {
  it('is what tables.ts says, and what schema.sql shows', async () => {
    using folder = emptyFolder()
    const db = await openDatabase(`${folder.path}/fresh.db`, () => 0)
    const found = tablesIn(db)
    const text = schemaText(db)
    db.close()
    expect(checkTables(found, tables)).toEqual([])
    expect(text).toBe(read('src/backends/sqlite/schema.sql'))
    expect(checkTables([...found, { name: 'extra', columns: [], indexes: {} }], tables)).toEqual(['nobody knows the table extra'])
    expect(checkTables(without(found, 'names'), tables)).toEqual(['the table names is not in the file'])
    expect(checkTables(without(found, 'heads'), tables)).toEqual(['the table heads is not in the file'])
    expect(checkTables(found, sessionsWith({ columns: { state: 'integer', owner: 'text' } }))).toHaveLength(2)
    expect(checkTables(found, sessionsWith({ indexes: { ...tables.sessions.indexes, byOwner: ['owner'] } }))).toHaveLength(2)
    expect(checkTables(found, sessionsWith({ fenced: true }))).toHaveLength(1)
  })
})

describe('the schema of a fresh database', () => {
  let lite: Awaited<ReturnType<typeof startPglite>>
  let found: readonly FoundDatabaseTable[]
  const ask: Ask = async (sql) => (await lite.query<Record<string, string | null>>(sql)).rows

  beforeAll(async () => {
    lite = await startPglite()
    const connection = await liteConnections(lite).acquire()
    await migrate(connection, { place: 'here', now: () => 0 })
    connection.release()
    found = await tablesInDatabase(ask)
  })
  afterAll(() => lite.close())

  it('is what tables.ts says: columns, keys, and every index with the tenant first, the id last and nulls first', () => {
    expect(checkDatabaseTables(found, tables)).toEqual([])
    expect(checkDatabaseTables(without(found, 'names'), tables)).toEqual(['the table names is not in the database'])
    expect(checkDatabaseTables(without(found, 'wall_keys'), tables)).toEqual(['the table wall_keys is not in the database'])
    expect(checkDatabaseTables(found, sessionsWith({ columns: { state: 'integer', owner: 'text' } }))).toHaveLength(2)
    expect(checkDatabaseTables(found, sessionsWith({ indexes: { ...tables.sessions.indexes, byOwner: ['owner'] } }))).toHaveLength(2)
    const plain = found.map((table) => ({
      ...table,
      indexes: Object.fromEntries(
        Object.entries(table.indexes).map(([name, columns]) => [name, columns.map((one) => one.replace(' nulls first', ''))]),
      ),
    }))
    expect(checkDatabaseTables(plain, tables).length).toBeGreaterThan(2)
  })

  it('is what schema.sql shows; node scripts/release.ts --schema writes it', async () => {
    expect(await databaseText(ask)).toBe(read('src/backends/postgres/schema.sql'))
  })

  it('walls every table off, and begins every key and index of tenants with the tenant', async () => {
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
    expect(checkDatabaseTables(await tablesInDatabase(ask), tables)).toHaveLength(2)
    expect(await databaseText(ask)).not.toBe(read('src/backends/postgres/schema.sql'))
    await lite.exec('rollback')
  })

  it('holds the function that is made from the tables; node scripts/functions.ts writes it', () => {
    const newest = databaseMigrations.findLast(({ sql }) => sql.includes('create function inkfast.commit_v1('))
    expect(newest?.sql.includes(commitFunction)).toBe(true)
    expect(newest?.sql.replaceAll('v_tenant', 'v_other').includes(commitFunction)).toBe(false)
  })
})

describe.each([
  ['sqlite', fileMigrations],
  ['postgres', databaseMigrations],
] as const)('a migration of %s', (backend, migrations) => {
  const folder = `src/backends/${backend}/migrations`
  const paths = filesUnder(folder, (path) => isMigration(posix.basename(path)))
  const files = Object.fromEntries(paths.map((path) => [posix.basename(path), read(path)]))

  it('never changes once it is released', () => {
    const released = readJson<Released>(`${folder}/released.json`)
    expect(checkReleased(released, files)).toEqual([])
    expect(checkReleased(released, { ...files, '0001_journal.sql': `${files['0001_journal.sql']} ` })).toEqual([
      expect.stringContaining('0001_journal.sql was released and has been edited since'),
    ])
    expect(checkReleased(released, {})).toEqual(Object.keys(files).map((file) => `${file} was released and is gone`))
    expect(checkReleased(released, { ...files, '0999_more.sql': '' })).toEqual(['0999_more.sql is not listed in released.json'])
  })

  it('is numbered without gaps, and opens with why', () => {
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
