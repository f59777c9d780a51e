// Connections over `pg`. A connection that does not answer in time is destroyed, because a late answer may still arrive on it.

import { Client, type ClientConfig, Pool, type PoolClient } from 'pg'
import type { Cells, Connection, Connections, Ear, Step } from './connections.ts'
import { placeOf } from './place.ts'
import { RoundTrip } from './round-trip.ts'

export interface PoolOptions {
  readonly url: string
  /** Connection for LISTEN, needed if `url` leads to a pooler in transaction mode. */
  readonly listenUrl?: string
  /** Maximum number of connections besides the one that listens. */
  readonly connections?: number
  readonly connectMs?: number
}

const CONNECTIONS = 10
const CONNECT_MS = 10_000
const IDLE_MS = 30_000
// A migration may rewrite a large table.
const SCRIPT_MS = 600_000
const APPLICATION = 'inkfast'
// Names of nodes and tenants in notifications: digits of a digest, or an id.
const NAME = /^[\w-]+$/

export class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
}

export function pooled(options: PoolOptions): Connections {
  const { place, local } = placeOf(options.url)
  if (options.listenUrl !== undefined) placeOf(options.listenUrl)
  const connectMs = options.connectMs ?? CONNECT_MS
  const config = (url: string): ClientConfig => ({
    connectionString: url,
    application_name: APPLICATION,
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
  })
  const pool = new Pool({
    ...config(options.url),
    Client: TidyClient,
    max: options.connections ?? CONNECTIONS,
    idleTimeoutMillis: IDLE_MS,
    // An idle store does not keep the program alive, and neither does a file.
    allowExitOnIdle: true,
  })
  // A broken idle connection is replaced on demand, and a user of a broken one gets its error there. Both also emit an `error` event, which
  // would end the program without a listener.
  pool.on('error', () => {})
  pool.on('connect', (client) => {
    client.on('error', () => {})
    watchTransaction(client)
  })
  return {
    place,
    local,
    acquire: async () => connection(await pool.connect(), place),
    listen: (channel, heard, lost) => listen(config(options.listenUrl ?? options.url), channel, heard, lost, connectMs),
    close: () => pool.end(),
  }
}

function connection(client: PoolClient, place: string): Connection {
  return {
    run: (steps, timeoutMs) => run(client, steps, timeoutMs, place),
    script: (text) => within(client, SCRIPT_MS, place, async () => void (await client.query(text))),
    isOpen: () => open.has(client),
    release: (broken) => client.release(broken || open.has(client)),
  }
}

/** Connections whose last answer said that a transaction is open. */
const open = new WeakSet<object>()

/** The driver's own listener ends the round trip, so ours comes first. */
const watchTransaction = (client: PoolClient): void =>
  void wireOf(client).prependListener('readyForQuery', ({ status }) => void (status === 'I' ? open.delete(client) : open.add(client)))

function run(
  client: Client | PoolClient,
  steps: readonly Step[],
  timeoutMs: number,
  place: string,
): Promise<readonly (readonly Cells[])[]> {
  const asked = () =>
    new Promise<readonly (readonly Cells[])[]>((resolve, reject) => {
      client.query(new RoundTrip(steps, (error, results) => (error === undefined ? resolve(results) : reject(error))))
    })
  return within(client, timeoutMs, place, asked)
}

async function within<T>(client: Client | PoolClient, timeoutMs: number, place: string, work: () => Promise<T>): Promise<T> {
  let late: NoAnswer | undefined
  const timer = setTimeout(() => {
    late = new NoAnswer(`${place} gave no answer within ${timeoutMs} ms`)
    streamOf(client).destroy(late)
  }, timeoutMs)
  try {
    return await work()
  } catch (error) {
    throw late ?? error
  } finally {
    clearTimeout(timer)
  }
}

/** A login that fails on our side leaves its socket open, which would keep the program alive until the server closes it. */
class TidyClient extends Client {
  override connect(): Promise<this>
  override connect(callback: (error: Error) => void): void
  override connect(callback?: (error: Error) => void): Promise<this> | undefined {
    const failed = (error: Error) => {
      if (error) streamOf(this).destroy()
      return error
    }
    if (callback) {
      super.connect((error: Error) => callback(failed(error)))
      return undefined
    }
    return super.connect().then(
      () => this,
      (error: Error) => {
        throw failed(error)
      },
    )
  }
}

interface Socket {
  destroy(error?: Error): void
  ref(): void
  unref(): void
}

interface Wire {
  readonly stream: Socket
  prependListener(name: 'readyForQuery', listener: (message: { readonly status: string }) => void): unknown
}

const wireOf = (client: Client | PoolClient): Wire => (client as unknown as { connection: Wire }).connection
const streamOf = (client: Client | PoolClient): Socket => wireOf(client).stream

async function listen(
  config: ClientConfig,
  channel: string,
  heard: (name: string) => void,
  lost: (error: unknown) => void,
  timeoutMs: number,
): Promise<Ear> {
  const client = new Client(config)
  let closing = false
  client.on('error', (error) => {
    if (!closing) lost(error)
  })
  client.on('end', () => {
    if (!closing) lost(new Error('the connection that listens was closed'))
  })
  client.on('notification', (message) => {
    if (message.payload) heard(message.payload)
  })
  try {
    await client.connect()
    await client.query(`listen ${channel}`)
  } catch (error) {
    closing = true
    streamOf(client).destroy()
    throw error
  }
  streamOf(client).unref()
  return {
    // A wake-up need not be durable, so it does not wait for the disk. NOTIFY commands need no planning, and no preparing, which a pooler
    // could lose.
    tell: (names) => {
      const notes = names.filter((name) => NAME.test(name)).map((name) => `notify ${channel}, '${name}';`)
      const text = `begin; set local synchronous_commit = off; ${notes.join(' ')} commit`
      return within(client, timeoutMs, 'the connection that listens', async () => void (await client.query(text)))
    },
    hold: (held) => (held ? streamOf(client).ref() : streamOf(client).unref()),
    close: async () => {
      closing = true
      // Closing waits for the server's answer, so the program must stay alive until then.
      streamOf(client).ref()
      await client.end()
    },
  }
}
