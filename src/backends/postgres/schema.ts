// Reads the schema version of a database without changing anything, so that a person can decide first; and migrates it.

import { refuse } from '../../model/errors.ts'
import { type Connection, type Connections, carefully } from './connections.ts'
import { translate } from './failures.ts'
import { guardAgain } from './guards.ts'
import { checkSchema, type Migration, migrate, migrations, readApplied, schemaRange, wallKey } from './migrate.ts'
import { roles } from './migration-files.ts'
import { keyBytes, openDatabase } from './open.ts'
import { pooled } from './pool.ts'
import { openTables } from './proof.ts'

export interface DatabaseMigration {
  readonly number: number
  readonly name: string
  readonly checksum: string
  /** Unix milliseconds; absent until it is applied. */
  readonly appliedAt?: number
  /** The oldest schema whose nodes may keep running once it is applied. */
  readonly serves: number
  /** The SQL to run, until it is applied. */
  readonly sql?: string
}

export interface DatabaseSchema {
  /** The schema version of the database; 0 before the first migration. */
  readonly found: number
  /** The newest version that this release knows. */
  readonly needed: number
  readonly migrations: readonly DatabaseMigration[]
}

export interface MigrateDatabaseOptions {
  /**
   * The key to register in the database; nodes sign the tenant of every transaction with it. By default one is generated and kept there.
   */
  readonly tenantKey?: Uint8Array | string
  readonly progress?: (migration: Pick<Migration, 'number' | 'name'>) => void
}

export interface MigratedDatabase extends DatabaseSchema {
  /** Tables whose row-level security was off and has been switched on again. */
  readonly walledAgain: readonly string[]
  /** Triggers that were missing or turned off and have been restored, in words. */
  readonly guardedAgain: readonly string[]
  /** A new tenant key was registered. Of the two keys before it, the older one is no longer valid. */
  readonly keyAdded: boolean
}

const TIMEOUT_MS = 20_000
const OLDEST = 150000

const server = `select current_setting('server_version_num')::integer, current_setting('server_encoding')`

/** Throws if this release cannot work with the database. An empty database has version 0. */
export async function readDatabaseSchema(url: string): Promise<DatabaseSchema> {
  return connected(url, ({ place }, connection) => stateOf(place, connection))
}

/**
 * Applies the missing migrations, each of them atomically, registers the key, and tests the tenant isolation. Several processes may run it
 * at once.
 */
export async function migrateDatabase(url: string, { tenantKey, progress }: MigrateDatabaseOptions = {}): Promise<MigratedDatabase> {
  const given = tenantKey === undefined ? undefined : keyBytes(tenantKey)
  const migrated = await connected(url, async ({ place }, connection) => {
    await checkServer(place, connection)
    await migrate(connection, { place, now: Date.now, ...(progress && { progress }) })
    const walledAgain = await wallAgain(connection)
    const guardedAgain = await guardAgain(connection)
    const known = await wallKey(connection, given, Date.now(), true)
    return { ...(await stateOf(place, connection)), walledAgain, guardedAgain, keyAdded: known?.added ?? false }
  })
  // Opening tests the tenant isolation. Durability matters only to writers.
  const { db } = await openDatabase({ url, create: false, migrate: false, durability: 'normal', ...(given && { tenantKey: given }) })
  await db.close()
  return migrated
}

async function stateOf(place: string, connection: Connection): Promise<DatabaseSchema> {
  const applied = await readApplied(connection, place)
  if (applied.length > 0) checkSchema(place, applied, { ...schemaRange, needs: 0 })
  const known = migrations.map(({ number, name, checksum, serves, sql }): DatabaseMigration => {
    const appliedAt = applied.find((one) => one.number === number)?.appliedAt
    // The roles are created before the first step, so they are part of the plan that a person reads.
    const whole = number === 1 ? `${roles}\n${sql}` : sql
    return { number, name, checksum, serves, ...(appliedAt === undefined ? { sql: whole } : { appliedAt }) }
  })
  const newer = applied.filter(({ number }) => number > schemaRange.knows)
  return { found: applied.at(-1)?.number ?? 0, needed: schemaRange.knows, migrations: [...known, ...newer] }
}

async function checkServer(place: string, connection: Connection): Promise<void> {
  const [rows] = await connection.run([{ text: server }], TIMEOUT_MS)
  const [version, encoding] = rows?.[0] ?? []
  const unsuitable = (why: string) => refuse('DATABASE_UNSUITABLE', { place, why })
  if (Number(version) < OLDEST) throw unsuitable(`it runs PostgreSQL ${Math.floor(Number(version) / 10000)}; 15 or newer is needed`)
  if (encoding !== 'UTF8') throw unsuitable(`its encoding is ${encoding}; create the database with encoding UTF8`)
}

/**
 * Switches row-level security on where someone switched it off. Changed policies and rights are not repaired: schema.sql says what they
 * were.
 */
async function wallAgain(connection: Connection): Promise<readonly string[]> {
  const [rows = []] = await connection.run([{ text: openTables }], TIMEOUT_MS)
  for (const [table, owner] of rows) {
    const forced = `alter table inkfast.${table} enable row level security, force row level security`
    await connection.run([{ text: `set local role ${owner}` }, { text: forced }], TIMEOUT_MS)
  }
  return rows.map(([table]) => table as string)
}

async function connected<T>(url: string, work: (connections: Connections, connection: Connection) => Promise<T>): Promise<T> {
  const connections = pooled({ url, connections: 1 })
  try {
    const connection = await connections.acquire().catch((error: unknown) => {
      throw translate(connections.place, error, 'connecting')
    })
    try {
      return await work(connections, carefully(connection))
    } catch (error) {
      throw translate(connections.place, error, 'reading')
    } finally {
      connection.release()
    }
  } finally {
    await connections.close()
  }
}
