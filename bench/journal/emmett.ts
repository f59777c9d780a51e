// Emmett's SQLite event store, as its documentation uses it, and its own append over a connection that stays open.

import { join } from 'node:path'

interface Connection {
  close(): void
  command(sql: string): Promise<unknown>
  querySingle<T>(sql: string): Promise<T | null>
}

interface Emmett {
  getSQLiteEventStore(options: {
    fileName: string
    hooks: { onBeforeCommit: (messages: unknown, context: { connection: Connection }) => Promise<void> }
  }): { appendToStream(stream: string, events: readonly object[]): Promise<unknown> }
  createEventStoreSchema(connection: Connection): Promise<void>
  sqliteConnection(options: { fileName: string }): Connection
  appendToStream(connection: Connection, stream: string, streamType: string, events: readonly object[]): Promise<{ success: boolean }>
}

export interface EmmettStores {
  /** The event store: it opens and closes a connection for every append to a file. */
  readonly store: (type: string, data: unknown) => Promise<unknown>
  /** The same append over one open connection: faster, and not what its documentation shows. */
  readonly kept: (type: string, data: unknown) => Promise<unknown>
  readonly settings: string
  close(): void
}

const FULL = 2

export async function openEmmett(folder: string): Promise<EmmettStores> {
  // A name the compiler does not follow: types are checked without the peers too.
  const name: string = '@event-driven-io/emmett-sqlite'
  const { getSQLiteEventStore, sqliteConnection, createEventStoreSchema, appendToStream } = (await import(name)) as Emmett
  const seen = new Set<number>()
  let looking = true
  const store = getSQLiteEventStore({
    fileName: join(folder, 'emmett.db'),
    hooks: {
      onBeforeCommit: async (_, { connection }) => {
        if (looking) seen.add(await synchronous(connection))
      },
    },
  })
  const one = (type: string, data: unknown) => store.appendToStream('bench-1', [{ type, data }])
  // Its connections are made anew each time, so the setting is read back on several.
  for (let i = 0; i < 3; i++) await one('bench.began', {})
  looking = false
  if (seen.size !== 1 || !seen.has(FULL)) throw new Error(`Emmett's connections run with synchronous = ${[...seen]}, which is not FULL`)

  // A file of its own: a second connection to the store's file would spare it the checkpoint at every close.
  const connection = sqliteConnection({ fileName: join(folder, 'emmett-kept.db') })
  await createEventStoreSchema(connection)
  await connection.command('pragma synchronous = full')
  const found = await synchronous(connection)
  const version = await connection.querySingle<{ version: string }>('select sqlite_version() as version')
  return {
    store: one,
    kept: async (type, data) => {
      const { success } = await appendToStream(connection, 'bench-1', 'bench', [{ type, data }])
      if (!success) throw new Error('Emmett refused the append')
    },
    settings: `WAL (its own), synchronous = ${found} (FULL: its default, read back in onBeforeCommit), SQLite ${version?.version} through sqlite3`,
    close: () => connection.close(),
  }
}

async function synchronous(connection: Connection): Promise<number> {
  return (await connection.querySingle<{ synchronous: number }>('pragma synchronous'))?.synchronous ?? -1
}
