// Databases on a PostgreSQL server: made fresh or as the copy of another, and dropped whoever is still connected.

import { randomBytes } from 'node:crypto'
import { Client, escapeIdentifier, Pool } from 'pg'

export interface Database {
  readonly name: string
  readonly url: string
  drop(): Promise<void>
}

export interface DatabaseOptions {
  /** The name of a database to copy; nobody may be connected to it. */
  readonly template?: string
  /** How its name begins. */
  readonly prefix?: string
}

/** `server` is the URL of a login that may create databases. */
export async function createDatabase(server: string, { template, prefix = 'inkfast' }: DatabaseOptions = {}): Promise<Database> {
  const name = `${prefix}_${process.pid}_${randomBytes(6).toString('hex')}`
  // The strategy wal_log is the default, and here for the record: file_copy forces checkpoints on everybody, when it is made and when
  // it is dropped. On a disk that made it slower (347 and 32 ms against 318 and 10), in memory 11 and 5 ms against 15 and 4.
  const copied = template === undefined ? '' : ` template ${escapeIdentifier(template)} strategy wal_log`
  await ask(server, `create database ${escapeIdentifier(name)}${copied}`)
  return {
    name,
    url: urlOf(server, name),
    drop: () => ask(server, `drop database if exists ${escapeIdentifier(name)} with (force)`, droppers),
  }
}

/** Nobody can connect to it any more, so it can always be copied. */
export const closeDatabase = (server: string, name: string): Promise<void> =>
  ask(server, `alter database ${escapeIdentifier(name)} with allow_connections false`)

/** Drops every database whose name begins with `prefix`. */
export async function dropDatabases(server: string, prefix: string): Promise<void> {
  const names = (await query(server, 'select datname as name from pg_database')) as { readonly name: string }[]
  for (const { name } of names.filter((one) => one.name.startsWith(prefix)))
    await query(server, `drop database if exists ${escapeIdentifier(name)} with (force)`)
}

/** Deletes everything that a store has written. Triggers keep events from being deleted, for everybody but a replica. */
export const EMPTY = `
  do $$
  declare
    v_table text;
  begin
    set local session_replication_role = replica;
    for v_table in
      select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = 'inkfast' and c.relkind = 'r' and c.relname not in ('migrations', 'clock', 'wall_keys')
    loop
      execute format('delete from inkfast.%I', v_table);
    end loop;
  end $$`

/** One question over a connection of its own. */
export async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new Client(url)
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

type Pools = Map<string, Pool>

const makers: Pools = new Map()
// Dropping may have to wait for somebody to leave, and keeps nobody from making another meanwhile.
const droppers: Pools = new Map()

// Connecting costs as much as making a database does, so connections are kept for a while; they do not keep the process alive.
async function ask(server: string, sql: string, pools: Pools = makers): Promise<void> {
  let pool = pools.get(server)
  if (!pool) {
    pool = new Pool({ connectionString: server, max: 2, idleTimeoutMillis: 5000, allowExitOnIdle: true })
    // A server that is stopped ends idle connections; the pool forgets them, and the next question hears what is wrong.
    pool.on('error', () => {})
    pools.set(server, pool)
  }
  await pool.query(sql)
}

function urlOf(server: string, name: string): string {
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}
