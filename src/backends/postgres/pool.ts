// Connections over `pg`. A connection that does not answer in time is destroyed: nobody can know what it will still say.

import { Client, type ClientConfig, Pool, type PoolClient } from 'pg'
import { refuse } from '../../model/errors.ts'
import type { Cells, Connection, Connections, Ear, Step } from './connections.ts'
import { RoundTrip } from './round-trip.ts'

export interface PoolOptions {
  readonly url: string
  /** For LISTEN, where `url` leads to a pooler that shares connections between transactions. */
  readonly listenUrl?: string
  /** Connections at most, besides the one that listens. */
  readonly connections?: number
  readonly connectMs?: number
}

const CONNECTIONS = 10
const CONNECT_MS = 10_000
const IDLE_MS = 30_000
// A migration may rewrite a large table.
const SCRIPT_MS = 600_000
const APPLICATION = 'inkfast'
// What nodes call each other and their tenants: digits of a digest, or an id.
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
    // An idle store does not keep a program alive; a file would not either.
    allowExitOnIdle: true,
  })
  // An idle connection that breaks is replaced by the next one that is needed, and whoever uses a broken one hears it there. One that breaks
  // while it is in use says so by an event of its own as well, which would end the program if nobody listened.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
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
    release: (broken) => client.release(broken ?? false),
  }
}

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

/** A login that fails on our side leaves its socket open, and the program waiting for the server to close it. */
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

const streamOf = (client: Client | PoolClient): Socket => (client as unknown as { connection: { stream: Socket } }).connection.stream

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
    // Nothing is lost with a wake-up, so nobody waits for the disk. As commands and not as queries: a hundred times a second nothing is planned,
    // and nothing is prepared, because behind a pooler it might not be there.
    tell: (names) => {
      const notes = names.filter((name) => NAME.test(name)).map((name) => `notify ${channel}, '${name}';`)
      const text = `begin; set local synchronous_commit = off; ${notes.join(' ')} commit`
      return within(client, timeoutMs, 'the connection that listens', async () => void (await client.query(text)))
    },
    hold: (held) => (held ? streamOf(client).ref() : streamOf(client).unref()),
    close: async () => {
      closing = true
      // Somebody waits for the farewell now, and must not find the program at its end before it came.
      streamOf(client).ref()
      await client.end()
    },
  }
}

/** Host and database, never login or password; a text that is no URL is not repeated at all. */
export function placeOf(url: string): { readonly place: string; readonly local: boolean } {
  // With a login and without a host it leads to a socket that is named behind the question mark.
  const parsed = URL.parse(url) ?? URL.parse(url.replace('@/', '@localhost/'))
  if (parsed === null || isTorn(parsed)) throw notAnAddress()
  // Of several, the driver takes the last.
  const asked = (name: string) => parsed.searchParams.getAll(name).at(-1)
  const host = asked('host') || decoded(parsed.hostname) || (process.env.PGHOST ?? '')
  const database = decoded(parsed.pathname.slice(1))
  const socket = host === '' || host.startsWith('/')
  const local = socket || host === 'localhost' || host === '[::1]' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)
  const port = asked('port') || parsed.port
  return { place: `postgres://${socket ? 'socket' : host}${port === '' ? '' : `:${port}`}/${database}`, local }
}

/** A password with a character of its own meaning (# / ? @) cuts the URL in the wrong place: its pieces would be shown as host, port or name. */
const isTorn = ({ hash, pathname, search }: URL): boolean => hash !== '' || pathname.includes('@') || search.includes('@')

const notAnAddress = () => refuse('URL_UNKNOWN', { url: 'postgres://… (a password with special characters is percent-encoded)' })

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    // The error would repeat the text.
    throw notAnAddress()
  }
}
