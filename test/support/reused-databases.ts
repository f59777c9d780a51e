// Databases that are emptied and lent again: copying and dropping one costs the server several times as much. For tests that know a store or a
// backend and not its URL: one that knows it may change the schema or stay connected, and gets a database of its own.

import { Pool } from 'pg'
import { inject } from 'vitest'
import { postgresBackend } from '../../src/backends/postgres/backend.ts'
import { keyOfPad } from '../../src/model/hmac.ts'
import type { Backend } from '../../src/ports/backend.ts'
import { afterThisFile } from './cleanups.ts'
import { serverUrl, templateOf } from './databases.ts'
import { KeptConnections } from './kept-connections.ts'
import { createDatabase, EMPTY } from './postgres-database.ts'

export interface Lent {
  readonly url: string
  /** A connection of the superuser, which stays with the database. */
  readonly owner: Pool
  /** A backend over connections that stay with the database too. */
  backend(options?: { readonly durability?: 'full' | 'normal' }): Backend
}

interface Reused extends Lent {
  lent: number
  kept: KeptConnections
  /** Replaces the kept connections. */
  forget(): void
  drop(): Promise<void>
}

// Deleted rows stay in the tables until the server cleans up, and slow down what reads them.
const LENT_MOST = 30

const free: Reused[] = []
const returning: Promise<void>[] = []

const prepare = async (url: string): Promise<void> => (await postgresBackend({ url })).close()

/** A database with our schema and no data. */
export async function borrowDatabase(): Promise<Lent> {
  const database = free.pop() ?? (await make())
  database.lent++
  return database
}

/** Empties the database while the next test is at work. */
export function giveBack(lent: Lent): void {
  const back = empty(lent as Reused)
  // The end of the file waits for them all and hears of a failure.
  back.catch(() => {})
  if (returning.length === 0) afterThisFile(() => Promise.all(returning.splice(0)))
  returning.push(back)
}

async function make(): Promise<Reused> {
  // The names begin like those of templates, so that they go with them at the end of the run.
  const database = await createDatabase(await serverUrl(), { template: await templateOf(prepare), prefix: inject('postgres').templates })
  const owner = new Pool({ connectionString: database.url, max: 1, idleTimeoutMillis: 0, allowExitOnIdle: true })
  // A server that is stopped ends its connections.
  owner.on('error', () => {})
  const { rows } = await owner.query('select inner_pad from inkfast.wall_keys order by made_at desc, id desc limit 1')
  const key = keyOfPad(rows[0].inner_pad as Uint8Array)
  const reused: Reused = {
    url: database.url,
    drop: database.drop,
    owner,
    lent: 0,
    kept: new KeptConnections(database.url, key),
    backend: (options) => reused.kept.backend(options),
    forget: () => {
      reused.kept = new KeptConnections(database.url, key)
    },
  }
  return reused
}

// A store that was never closed must not write into the database of the next test.
const disconnect = `
  select pg_terminate_backend(pid, 5000) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`

async function empty(database: Reused): Promise<void> {
  if (!database.kept.idle) {
    await database.owner.query(disconnect)
    database.forget()
  }
  if (database.lent >= LENT_MOST) {
    await database.kept.close()
    await database.owner.end()
    return database.drop()
  }
  await database.owner.query(`${EMPTY}; update inkfast.clock set offset_ms = 0`)
  free.push(database)
}
