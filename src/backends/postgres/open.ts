// Opens a store on a server: checks the server, the schema, the login and the tenant isolation. Nothing is served before all checks have
// passed.

import { createHash } from 'node:crypto'
import { refuse } from '../../model/errors.ts'
import { invalidOption } from '../../model/options.ts'
import { type Connection, type Connections, carefully, type Step } from './connections.ts'
import { Database, type LoginTimeouts } from './database.ts'
import { translate } from './failures.ts'
import { missingGuards, standingGuards } from './guards.ts'
import { checkSchema, isCurrent, migrate, readApplied, wallKey } from './migrate.ts'
import { pooled } from './pool.ts'
import { proveWall } from './proof.ts'
import { STORE, Wall } from './wall.ts'

export interface OpenOptions {
  /** postgres://login@host/database */
  readonly url: string
  /** A login that may migrate if `url` may not. It is used only while opening. */
  readonly adminUrl?: string
  /** Connection for LISTEN, needed if `url` leads to a pooler in transaction mode. */
  readonly listenUrl?: string
  /** Signs the tenant of every transaction; 16 bytes or more. By default one is generated and kept in the database. */
  readonly tenantKey?: Uint8Array | string
  readonly durability?: 'full' | 'normal'
  readonly create?: boolean
  readonly migrate?: boolean
  readonly readOnly?: boolean
  /** Maximum number of connections besides the one that listens. */
  readonly connections?: number
  /** The timeout of an answer, after which the connection is given up. */
  readonly timeoutMs?: number
  readonly connectMs?: number
  /** Opens even if a trigger is missing that keeps events unchanged, for a caller that reports it. */
  readonly unguarded?: boolean
}

export interface Opened {
  readonly db: Database
  /** Why the login has more rights than needed: acceptable at first, not in production. */
  readonly powerful: string | undefined
}

const OLDEST = 150000
const TIMEOUT_MS = 20_000
const KEY_BYTES_LEAST = 16
const KEY_BYTES_MOST = 64

const facts: Step = {
  text: `
    select current_setting('server_version_num')::integer, current_setting('server_encoding'), pg_is_in_recovery(),
      current_setting('default_transaction_isolation'), current_setting('fsync'), current_setting('default_transaction_read_only'),
      current_setting('standard_conforming_strings'), current_setting('statement_timeout'), current_setting('lock_timeout'),
      r.rolname, r.rolsuper, r.rolbypassrls, r.rolcreaterole, has_database_privilege(current_database(), 'create'),
      to_regclass('inkfast.migrations') is not null,
      coalesce((select pg_has_role(o.oid, 'MEMBER') from pg_roles o where o.rolname = 'inkfast_owner'), false),
      coalesce((select pg_has_role(o.oid, 'MEMBER') from pg_roles o where o.rolname = 'inkfast_wall'), false),
      coalesce((select pg_has_role(o.oid, 'MEMBER') from pg_roles o where o.rolname = $1), false)
    from pg_roles r where r.rolname = current_user`,
}

interface Facts {
  /** Identifies the database, even through two addresses. */
  readonly identity: string | undefined
  readonly version: number
  readonly encoding: string
  readonly replica: boolean
  readonly isolation: string
  readonly fsync: boolean
  readonly readOnly: boolean
  readonly plainStrings: boolean
  readonly timeouts: LoginTimeouts
  readonly login: string
  readonly superuser: boolean
  readonly bypasses: boolean
  readonly createsRoles: boolean
  readonly creates: boolean
  readonly prepared: boolean
  readonly owns: boolean
  readonly walls: boolean
  readonly serves: boolean
}

export async function openDatabase(options: OpenOptions): Promise<Opened> {
  return openOver(options, pooled(options), options.adminUrl === undefined ? undefined : pooled({ url: options.adminUrl, connections: 1 }))
}

/** The same with any driver. */
export async function openOver(options: OpenOptions, connections: Connections, admin?: Connections): Promise<Opened> {
  const role = options.readOnly ? 'inkfast_reader' : 'inkfast_app'
  try {
    const found = await using(connections, (connection) => readFacts(connection, role))
    checkServer(connections.place, found, options)
    const given = options.tenantKey === undefined ? undefined : keyBytes(options.tenantKey)
    const { key, changed } = await prepare(options, connections, admin, found, given)
    // A migration creates roles, so it may change what the login is.
    const after = changed ? await using(connections, (connection) => readFacts(connection, role)) : found
    const powerful = powerOf(after)
    if (powerful && admin) throw refuse('ROLE_TOO_POWERFUL', { place: connections.place, role: after.login, why: powerful })
    if (!after.serves)
      throw refuse('DATABASE_RIGHT_MISSING', { place: connections.place, reason: `${after.login} is not a member of ${role}` })
    if (!key) throw refuse('TENANT_KEY_MISSING', { place: connections.place })
    const db = new Database({
      connections,
      wall: new Wall(key),
      ...(powerful && { role }),
      ...(options.timeoutMs !== undefined && { timeoutMs: options.timeoutMs }),
      ...(options.readOnly && { readOnly: true }),
      loginTimeouts: after.timeouts,
    })
    await proveWall(db, { plant: !options.readOnly })
    if (!options.readOnly && !options.unguarded) await checkGuards(db)
    return { db, powerful }
  } catch (error) {
    await connections.close()
    throw error
  } finally {
    await admin?.close()
  }
}

async function checkGuards(db: Database): Promise<void> {
  const [rows] = await db.read(STORE, standingGuards)
  const gone = missingGuards(rows)
  if (gone.length === 0) return
  throw refuse('GUARDS_MISSING', { place: db.place, why: `missing or turned off: ${gone.join(', ')}` })
}

interface Prepared {
  readonly key: Uint8Array | undefined
  /** The schema was migrated, or somebody else was asked about it. */
  readonly changed: boolean
}

/** Migrates the schema if allowed and wanted, checks it, and finds the key. */
async function prepare(
  options: OpenOptions,
  connections: Connections,
  admin: Connections | undefined,
  found: Facts,
  given: Uint8Array | undefined,
): Promise<Prepared> {
  const { place } = connections
  if (!found.prepared && (options.create === false || options.readOnly)) throw refuse('FILE_MISSING', { path: place })
  const mayMigrate = admin !== undefined || found.superuser || found.owns || (found.createsRoles && found.creates)
  const wanted = options.migrate !== false && !options.readOnly
  if (!found.prepared && !(mayMigrate && wanted)) {
    if (wanted) throw refuse('DATABASE_RIGHT_MISSING', { place, reason: `${found.login} may not create roles and a schema` })
    throw refuse('SCHEMA_OLDER', { path: place, found: 0, needed: 1 })
  }
  const through = async (connection: Connection) => {
    if (admin) await checkSame(connection, found)
    const before = await readApplied(connection, place)
    const migrates = mayMigrate && wanted && !isCurrent(before)
    if (migrates) await migrate(connection, { place, now: Date.now })
    checkSchema(place, migrates ? await readApplied(connection, place) : before)
    const changed = migrates || admin !== undefined
    const mayKey = admin !== undefined || found.superuser || found.walls || (mayMigrate && !found.prepared)
    if (!mayKey || (options.readOnly && given)) return { key: given, changed }
    // A key is changed only with an admin login: a mistake in an option must not replace the key in use.
    const known = await wallKey(connection, given, Date.now(), admin !== undefined)
    if (!known) throw refuse('TENANT_KEY_WRONG', { place })
    return { key: known.key, changed }
  }
  return using(admin ?? connections, through, admin ? 'adminUrl' : 'url')
}

const identity = `
  select concat_ws(' ', extract(epoch from pg_postmaster_start_time()), d.oid) from pg_database d where d.datname = current_database()`

/** Both addresses must lead to the same database. */
async function checkSame(connection: Connection, found: Facts): Promise<void> {
  const [rows] = await connection.run([{ text: identity }], TIMEOUT_MS)
  if (rows?.[0]?.[0] !== found.identity)
    throw refuse('OPTION_INVALID', { option: 'adminUrl', why: 'it leads to a different database than url' })
}

async function readFacts(connection: Connection, role: string): Promise<Facts> {
  const [rows, same] = await connection.run([{ ...facts, values: [role] }, { text: identity }], TIMEOUT_MS)
  const [version, encoding, replica, isolation, fsync, readOnly, strings, statement, lock, login, ...flags] = rows?.[0] ?? []
  const [superuser, bypasses, createsRoles, creates, prepared, owns, walls, serves] = flags.map((flag) => flag === 't')
  return {
    identity: same?.[0]?.[0] ?? undefined,
    version: Number(version),
    encoding: String(encoding),
    replica: replica === 't',
    isolation: String(isolation),
    fsync: fsync === 'on',
    readOnly: readOnly === 'on',
    plainStrings: strings === 'on',
    timeouts: { statement: String(statement), lock: String(lock) },
    login: String(login),
    superuser: superuser ?? false,
    bypasses: bypasses ?? false,
    createsRoles: createsRoles ?? false,
    creates: creates ?? false,
    prepared: prepared ?? false,
    owns: owns ?? false,
    walls: walls ?? false,
    serves: serves ?? false,
  }
}

function checkServer(place: string, found: Facts, { readOnly, durability = 'full' }: OpenOptions): void {
  const unsuitable = (why: string) => refuse('DATABASE_UNSUITABLE', { place, why })
  if (found.version < OLDEST) throw unsuitable(`it runs PostgreSQL ${Math.floor(found.version / 10000)}; 15 or newer is needed`)
  if (found.encoding !== 'UTF8') throw unsuitable(`its encoding is ${found.encoding}; create the database with encoding UTF8`)
  if (found.isolation !== 'read committed')
    throw unsuitable(`default_transaction_isolation is '${found.isolation}'; set it to 'read committed' for this login`)
  if (!found.plainStrings) throw unsuitable(`standard_conforming_strings is off; set it to on for this login`)
  if (readOnly) return
  if (found.replica) throw refuse('DATABASE_READ_ONLY', { place, reason: 'it is a replica in recovery' })
  if (found.readOnly) throw refuse('DATABASE_READ_ONLY', { place, reason: 'default_transaction_read_only is on' })
  if (durability === 'full' && !found.fsync)
    throw unsuitable(
      `fsync is off on the server, so acknowledged commits would not survive a power cut; turn it on, or open with durability 'normal'`,
    )
}

/** Why a login has more rights than the app role needs; undefined if it does not. */
function powerOf(found: Facts): string | undefined {
  if (found.superuser) return 'is a superuser'
  if (found.bypasses) return 'bypasses row-level security'
  if (found.owns) return 'can become the owner of the tables'
  if (found.walls) return 'may read the tenant key'
  if (found.createsRoles) return 'may create roles'
  return undefined
}

async function using<T>(connections: Connections, work: (connection: Connection) => Promise<T>, setting = 'url'): Promise<T> {
  let connection: Connection
  try {
    connection = await connections.acquire()
  } catch (error) {
    throw translate(connections.place, error, 'connecting', setting)
  }
  let broken = true
  try {
    const result = await work(carefully(connection))
    broken = false
    return result
  } catch (error) {
    throw translate(connections.place, error, 'reading')
  } finally {
    connection.release(broken)
  }
}

/** Returns the key as HMAC takes it: longer keys are hashed first. */
export function keyBytes(key: Uint8Array | string): Uint8Array {
  const bytes = typeof key === 'string' ? new TextEncoder().encode(key) : key
  if (!(bytes instanceof Uint8Array) || bytes.length < KEY_BYTES_LEAST)
    throw invalidOption('tenantKey', `a key of at least ${KEY_BYTES_LEAST} bytes`)
  return bytes.length > KEY_BYTES_MOST ? createHash('sha256').update(bytes).digest() : bytes
}
