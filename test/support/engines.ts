// Every engine a promise must hold on, each opened fresh in a folder that goes away with the test.

import { join } from 'node:path'
import { Client } from 'pg'
import { open, type Store, type StoreOptions } from '../../src/index.ts'
import type { Backend } from '../../src/ports/backend.ts'
import { later, tempFolder } from './cleanups.ts'
import { leave, preparedDatabase } from './databases.ts'
import { putFreshFile } from './fresh-file.ts'
import { borrowDatabase, giveBack, type Lent } from './reused-databases.ts'
import { LONG, QUICK } from './rounds.ts'

export interface Engine {
  readonly name: 'memory' | 'sqlite' | 'sqlite folder' | 'postgres'
  open(options?: Partial<StoreOptions>): Promise<Store>
  /**
   * A store whose time the test moves: the clock it is given, or that of the database, which also keeps running. Time begins far from the
   * next full hour, so that nothing hourly becomes due unless the test moves the time.
   */
  openInTime(options?: Partial<StoreOptions>): Promise<InTime>
}

export interface InTime {
  readonly store: Store
  /** Store time, exactly. */
  now(): Promise<number>
  pass(ms: number): Promise<void>
}

export { later, tempFolder }

export const tempFile = (name = 'agents.db'): string => join(tempFolder(), name)

const prepare = async (url: string): Promise<void> => (await open(url)).close()

/** A database of its own with our schema in it. */
export async function tempDatabase(): Promise<string> {
  const database = await preparedDatabase(prepare)
  later(() => leave(database))
  return database.url
}

const lentNow = new Map<string, Lent>()

async function borrowForTest(): Promise<Lent> {
  const lent = await borrowDatabase()
  lentNow.set(lent.url, lent)
  later(() => {
    lentNow.delete(lent.url)
    giveBack(lent)
  })
  return lent
}

/**
 * A database with our schema that other tests had before: several times cheaper than one of its own. For tests that leave the schema as it is and
 * start no processes. `openIn` and `lentBackend` use the connections that stay with it.
 */
export const lentDatabase = async (): Promise<string> => (await borrowForTest()).url

export function lentBackend(url: string): Backend {
  const lent = lentNow.get(url)
  if (!lent) throw new Error(`${url} is not lent to this test`)
  return lent.backend()
}

export async function openIn(url: string, options: Partial<StoreOptions> = {}): Promise<Store> {
  const lent = lentNow.get(url)
  if (lent && !needsOwnConnections(options)) return openLent(lent, options)
  const store = await open({ logger: false, ...options, url })
  later(() => store.close())
  return store
}

/** Options of the server's connections. With one of them, a store opens its own. */
const ON_ITS_OWN = [
  'adminUrl',
  'listenUrl',
  'tenantKey',
  'connections',
  'fallback',
  'required',
  'create',
  'migrate',
  'readOnly',
  'airGapped',
]

const needsOwnConnections = (options: Partial<StoreOptions>): boolean => Object.keys(options).some((name) => ON_ITS_OWN.includes(name))

async function openLent(lent: Lent, options: Partial<StoreOptions> = {}): Promise<Store> {
  const { durability, ...rest } = options
  const store = await open({ logger: false, ...rest, backend: lent.backend({ ...(durability && { durability }) }) })
  later(() => store.close())
  return store
}

const HOUR = 3_600_000
/** In the seventeenth minute of an hour. */
const BEGIN = 1_000_000

const openWithClock = async (url: string, options: Partial<StoreOptions> = {}): Promise<InTime> => {
  let now = BEGIN
  // Time that passes moves the steady clock too. A clock that moves alone leaps, and nothing is removed by it.
  const clock = { now: () => now, monotonic: () => performance.now() + now }
  const store = await openIn(url, { ...options, clock })
  return {
    store,
    now: async () => now,
    pass: async (ms: number) => {
      now += ms
    },
  }
}

const all: readonly Engine[] = [
  { name: 'memory', open: (options) => openIn(':memory:', options), openInTime: (options) => openWithClock(':memory:', options) },
  {
    name: 'sqlite',
    open: (options) => openIn(putFreshFile(tempFile()), options),
    openInTime: (options) => openWithClock(putFreshFile(tempFile()), options),
  },
  {
    name: 'sqlite folder',
    open: (options) => openIn(tempFolder(), { layout: 'tenant', ...options }),
    openInTime: (options) => openWithClock(tempFolder(), { layout: 'tenant', ...options }),
  },
  {
    name: 'postgres',
    open: async (options) => openIn(await lentDatabase(), options),
    openInTime: async (options) => {
      const lent = await borrowForTest()
      const { owner } = lent
      const now = async () => Number((await owner.query('select inkfast.now_v1() as now')).rows[0].now)
      const pass = async (ms: number) => void (await owner.query(MOVE_TIME, [ms]))
      await pass(HOUR + BEGIN - ((await now()) % HOUR))
      return { store: await openIn(lent.url, options), now, pass }
    },
  },
]

/** Every engine, and SQLite also with a file for each tenant: for tests with several tenants, blobs, or the store as a whole. */
export const layouts = all.filter(({ name }) => !QUICK || name !== 'postgres')

/**
 * For tests within one tenant. A short run leaves out the folder of SQLite files: there one tenant is one file, and the conformance suite shows
 * that both layouts keep the same promises.
 */
export const engines = layouts.filter(({ name }) => LONG || name !== 'sqlite folder')

/** For every node of the store at once. */
export async function moveTime(url: string, ms: number): Promise<void> {
  const owner = lentNow.get(url)?.owner ?? (await ownerOf(url))
  await owner.query(MOVE_TIME, [ms])
}

const MOVE_TIME = 'update inkfast.clock set offset_ms = offset_ms + $1'

const owners = new Map<string, Promise<Client>>()

/** One connection for the whole test, because connecting takes longer than what is asked here. */
function ownerOf(url: string): Promise<Client> {
  const known = owners.get(url)
  if (known) return known
  const owner = new Client(url)
  // A server that is stopped ends its connections; the next question gets one of its own.
  owner.on('error', () => owners.delete(url))
  const connected = owner.connect().then(() => owner)
  owners.set(url, connected)
  later(() => {
    owners.delete(url)
    return owner.end()
  })
  return connected
}

/** Ends a test as the larger ones should: the journal is intact and the rows are its fold. */
export async function expectSound(store: Store): Promise<void> {
  for (const tenant of await store.tenants()) {
    const report = await store.tenant(tenant).verify()
    if (!report.intact) throw new Error(`tenant ${tenant}: ${report.reason} at ${report.brokenAt}`)
    const rebuilt = await store.tenant(tenant).rebuild({ check: true })
    if (!rebuilt.equal) throw new Error(`tenant ${tenant}: rows differ: ${JSON.stringify(rebuilt.differences[0])}`)
  }
}

export const codeOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'no error',
    (error) => error.code ?? String(error),
  )
