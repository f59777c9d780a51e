// The PostgreSQL that is measured on: started for one workload, with flushes on, and databases of their own for ours and for the peer.

import { createDatabase, query } from '../../test/support/postgres-database.ts'
import { startServer } from '../../test/support/postgres-server.ts'

export interface BenchServer extends AsyncDisposable {
  /** What was read back from the server. */
  readonly settings: string
  /** The URL of an empty database. */
  database(): Promise<string>
}

// What decides whether an answer means that the event is on the disk, and how much the server may keep in memory.
const DURABLE: Readonly<Record<string, string>> = { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on' }
const SHOWN = [...Object.keys(DURABLE), 'wal_sync_method', 'shared_buffers', 'max_wal_size', 'max_connections']

export async function startBenchServer(): Promise<BenchServer> {
  const server = await startServer()
  try {
    const found = await readSettings(server.url)
    for (const [name, value] of Object.entries(DURABLE)) {
      if (found[name] !== value)
        throw new Error(`PostgreSQL runs with ${name} = ${found[name]}, so its answers do not mean what they should`)
    }
    const { server_version, ...rest } = found
    const list = Object.entries(rest).map(([name, value]) => `${name} = ${value}`)
    return {
      settings: `PostgreSQL ${server_version} over the loopback, ${list.join(', ')} (read back); the rest is as PostgreSQL has it`,
      database: async () => (await createDatabase(server.url, { prefix: 'bench' })).url,
      [Symbol.asyncDispose]: async () => {
        await untilAlone(server.url)
        await server.stop()
      },
    }
  } catch (error) {
    await server.stop()
    throw error
  }
}

async function readSettings(url: string): Promise<Readonly<Record<string, string>>> {
  const wanted = ['server_version', ...SHOWN].map((name) => `current_setting('${name}') as ${name}`)
  const [found] = await query(url, `select ${wanted.join(', ')}`)
  return found as Record<string, string>
}

// A peer whose pool is still saying goodbye would take a server that stops for an error, and end the whole run.
const GOODBYE_MS = 3000

async function untilAlone(url: string): Promise<void> {
  const others = `select count(*)::integer as n from pg_stat_activity where backend_type = 'client backend' and datname like 'bench%'`
  for (const end = performance.now() + GOODBYE_MS; performance.now() < end; await new Promise((resolve) => setTimeout(resolve, 20))) {
    const [found] = await query(url, others)
    if ((found as { readonly n?: number } | undefined)?.n === 0) return
  }
}
