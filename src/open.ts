// Turns the user's options into a running store: chooses the backend and the environment, and refuses options that are not available yet.

import { fileURLToPath, pathToFileURL } from 'node:url'
import { memoryBackend } from './backends/memory/backend.ts'
import { placeOf } from './backends/postgres/place.ts'
import { sqliteBackend } from './backends/sqlite/backend.ts'
import { folderBackend } from './backends/sqlite/folder.ts'
import { isFolderStore } from './backends/sqlite/tenant-files.ts'
import { consoleLogger } from './console-logger.ts'
import { checkAirGap, chooseEmbedder, type EmbedderOption } from './embedders/choose-embedder.ts'
import { nodeEnvironment, silent } from './environment.ts'
import type { KernelOptions } from './kernel/options.ts'
import { createStore, type Store } from './kernel/store.ts'
import { InkError, refuse } from './model/errors.ts'
import { invalidOption, looking, ownMembers } from './model/options.ts'
import type { Backend } from './ports/backend.ts'
import type { Clock, Entropy, Environment, Logger } from './ports/environment.ts'
import { vectorThreads } from './vectors/threads/vector-threads.ts'

export interface StoreOptions extends Omit<KernelOptions, 'redactKey' | 'embedder'> {
  /** A file path, a file: URL, a postgres: URL or ':memory:'. */
  readonly url?: string | URL
  /** PostgreSQL: a login that may migrate if `url` may not. It is used only while opening. */
  readonly adminUrl?: string
  /** PostgreSQL: connection for LISTEN, needed if `url` leads to a pooler in transaction mode. */
  readonly listenUrl?: string
  /** PostgreSQL: key that signs the tenant of every transaction; 16 bytes or more. By default one is generated and kept in the database. */
  readonly tenantKey?: Uint8Array | string
  /** PostgreSQL: maximum number of connections besides the one that listens; 10 by default. */
  readonly connections?: number
  /** Refuse to start on anything but the database in `url`, even if `fallback` is set. */
  readonly required?: boolean
  /**
   * Path of a SQLite file to use while the database in `url` cannot be reached; health is then degraded. Without it there is no fallback.
   */
  readonly fallback?: string
  /** Instead of a url: your own backend that passes inkfast/conformance. */
  readonly backend?: Backend
  /** 'full' survives a power cut. 'normal' survives a crash of the process, but a power cut may lose the last commits. */
  readonly durability?: 'full' | 'normal'
  /**
   * SQLite: one file for everything, or a folder with one file per tenant. The default is the layout found at the url, and one file for a
   * new store.
   */
  readonly layout?: 'single' | 'session' | 'tenant'
  /** Refuse anything that needs a network. */
  readonly airGapped?: boolean
  /** Create the file if it does not exist; true by default. */
  readonly create?: boolean
  /** Migrate an older schema; true by default. */
  readonly migrate?: boolean
  /** Replaces the clock, for tests and simulations. */
  readonly clock?: Partial<Clock> & Pick<Clock, 'now'>
  readonly entropy?: Entropy
  /**
   * Receives warnings. By default one line for each failed run, dead item and failed background task goes to `console.warn`; `false` is silent.
   */
  readonly logger?: Partial<Logger> | false
  /** Turns text into vectors, for memory. */
  readonly embedder?: EmbedderOption
  /** Keys the tags of masked secrets; 16 bytes or more. By default a key is generated once and kept in the store. */
  readonly redactKey?: Uint8Array | string
}

/** Opens a store, and creates it if it does not exist. A missing folder is an error and is never created silently. */
export async function open(options: string | URL | StoreOptions): Promise<Store>
export async function open(options: string | URL | StoreOptions, lost?: unknown): Promise<Store> {
  // In JavaScript nothing else says that options beside a path are lost, and with them the secrets to mask.
  if (typeof lost === 'object') throw invalidOption('open', 'one argument: a path, or an object such as { url, redact }', 'a second one')
  const isUrl = looking('open', () => typeof options === 'string' || options instanceof URL)
  const asked: StoreOptions = isUrl ? { url: options as string | URL } : (options as StoreOptions)
  if (typeof asked !== 'object' || asked === null) throw invalidOption('url', 'a path, or an object with a url', options)
  const given = ownMembers(asked)
  checkOptions(given)
  const environment = environmentOf(given)
  const embedder = given.embedder === undefined ? undefined : chooseEmbedder(given.embedder, environment)
  if (given.airGapped) checkAirGap(embedder)
  const backend = await openBackend(given, environment)
  try {
    if (given.airGapped && backend.traits.network)
      throw refuse('OPTION_INVALID', { option: 'airGapped', why: `the backend ${backend.name} needs the network` })
    const { redactKey, embedder: _, ...rest } = given
    const options = { ...rest, ...(redactKey !== undefined && { redactKey: keyBytes(redactKey) }), ...(embedder && { embedder }) }
    return await createStore(backend, environment, options)
  } catch (error) {
    await backend.close()
    throw error
  }
}

async function openBackend(given: StoreOptions, environment: Environment): Promise<Backend> {
  if (given.redact !== undefined && given.redact !== false) checkRedact(given.redact)
  if (given.durability !== undefined && given.durability !== 'full' && given.durability !== 'normal') {
    throw invalidOption('durability', "'full' or 'normal'", given.durability)
  }
  const { layout } = given
  if (layout !== undefined && !['single', 'session', 'tenant'].includes(layout))
    throw invalidOption('layout', "'single' or 'tenant'", layout)
  if (layout === 'session')
    throw refuse('NOT_YET', { feature: "The layout 'session'", instead: "Use layout: 'single', the default, or layout: 'tenant'." })
  if (layout === 'tenant' && (given.backend !== undefined || isDatabase(given.url) || given.url === ':memory:'))
    throw refuse('OPTION_INVALID', { option: 'layout', why: "'tenant' needs a folder of SQLite files as url" })

  if (given.backend !== undefined) {
    if (given.url !== undefined) throw refuse('OPTION_INVALID', { option: 'backend', why: 'pass url or backend, not both' })
    return given.backend
  }
  if (isDatabase(given.url)) return openPostgres(given, environment)
  for (const name of ['adminUrl', 'listenUrl', 'tenantKey', 'connections', 'fallback'] as const)
    if (given[name] !== undefined) throw refuse('OPTION_INVALID', { option: name, why: 'it can only be used with a postgres: url' })
  const path = pathOf(given.url)
  if (given.required) throw refuse('OPTION_INVALID', { option: 'required', why: 'it needs a postgres: url' })
  if (path === ':memory:') {
    if (given.readOnly)
      throw refuse('OPTION_INVALID', { option: 'readOnly', why: 'a store in memory starts empty, so there is nothing to read' })
    return memoryBackend(environment)
  }
  const inFolder = layout === 'tenant' || (layout === undefined && isFolderStore(path))
  if (!inFolder && path.endsWith('/'))
    throw refuse('NOT_YET', { feature: "A folder as a store without layout: 'tenant'", instead: 'Pass a file in that folder.' })
  return (inFolder ? folderBackend : sqliteBackend)(
    ownMembers({
      path,
      now: () => environment.clock.now(),
      steady: () => environment.clock.monotonic(),
      ...(given.durability && { durability: given.durability }),
      ...(given.create !== undefined && { create: given.create }),
      ...(given.readOnly !== undefined && { readOnly: given.readOnly }),
      ...(given.migrate !== undefined && { migrate: given.migrate }),
    }),
  )
}

/** Whether a store is on a server and not in a file. */
export const isDatabase = (url: string | URL | undefined): boolean => /^postgres(ql)?:/i.test(String(url ?? ''))

async function openPostgres(given: StoreOptions, environment: Environment): Promise<Backend> {
  const { durability, create, readOnly, migrate, adminUrl, listenUrl, tenantKey, connections, airGapped, required, fallback } = given
  const url = String(given.url)
  if (airGapped) {
    for (const [option, address] of Object.entries({ url, adminUrl, listenUrl })) {
      if (address !== undefined && !placeOf(address).local)
        throw refuse('OPTION_INVALID', { option: 'airGapped', why: `the server in ${option} is on another machine` })
    }
  }
  // The driver is loaded for programs that use it: it takes longer than all of the rest.
  const { postgresBackend } = await import('./backends/postgres/backend.ts')
  try {
    return await postgresBackend(
      ownMembers({
        url,
        ...(durability && { durability }),
        ...(create !== undefined && { create }),
        ...(readOnly !== undefined && { readOnly }),
        ...(migrate !== undefined && { migrate }),
        ...(adminUrl !== undefined && { adminUrl }),
        ...(listenUrl !== undefined && { listenUrl }),
        ...(tenantKey !== undefined && { tenantKey }),
        ...(connections !== undefined && { connections }),
      }),
    )
  } catch (error) {
    // Fall back only if the server is unreachable. Any other fault must be fixed, not worked around.
    const away = error instanceof InkError && error.code === 'DATABASE_UNREACHABLE' && error.details.away === true
    if (fallback === undefined || required || !away) throw error
    environment.logger.warn('the database cannot be reached; a file is used instead', { reason: error.message })
    const { url: _, adminUrl: _a, listenUrl: _l, tenantKey: _t, connections: _c, fallback: _f, ...rest } = given
    return degraded(await openBackend(ownMembers({ ...rest, url: fallback }), environment), error.message)
  }
}

/** The same backend, with a health that says it is the fallback. */
const degraded = (backend: Backend, why: string): Backend => ({
  ...backend,
  upkeep: {
    ...backend.upkeep,
    health: async () => {
      const own = await backend.upkeep.health()
      return { ...own, ok: false, why: [`this is the fallback: ${why}`, ...own.why] }
    },
  },
})

// Matches text that was meant as a database address: quoted, with a typing error in its scheme, or as key=value pairs. Taken as a path, it
// would appear in messages with its password, and a file of that name would be created.
const MEANT_AS_ADDRESS =
  /:\/\/|^\W*postgres(ql)?\b.*@|\/\/[^/]*:[^/]*@|^[^/\\]*:[^/\\]*@|^\W*(host|hostaddr|port|user|dbname|password|passfile|service)\s*=|\spassword\s*=|^\W*(sqlite3?|libsql):/i

/** The path that a text or a `file:` URL names. An address may contain a password anywhere, so an error repeats only its scheme. */
export function pathOf(url: string | URL | undefined): string {
  const text = String(url ?? '')
  const scheme = /^([a-z][a-z0-9+.-]+):/i.exec(text)?.[1]?.toLowerCase()
  if (text === '' || text.includes('\0')) throw refuse('URL_UNKNOWN', { url: text === '' ? '' : 'a path with a NUL in it' })
  if (scheme === 'file') return filePath(text)
  if (MEANT_AS_ADDRESS.test(text)) throw refuse('URL_UNKNOWN', { url: scheme === undefined ? '…' : `${scheme}:…` })
  if (scheme !== undefined && text.startsWith('//', scheme.length + 1)) throw refuse('URL_UNKNOWN', { url: `${scheme}://…` })
  return text
}

function filePath(text: string): string {
  try {
    // Without a slash the path is relative, as in other libraries. The URL standard would take it for one at the root.
    const url = new URL(/^file:(?!\/)/i.test(text) ? text.slice('file:'.length) : text, `${pathToFileURL('.')}/`)
    if (url.search === '' && url.hash === '') return fileURLToPath(url)
  } catch (cause) {
    throw refuse('URL_UNKNOWN', { url: 'file://…' }, cause)
  }
  throw refuse('URL_UNKNOWN', { url: 'file://… with a query; options are given beside the url, and' })
}

function environmentOf({ clock, entropy, logger }: StoreOptions): Environment {
  const base = { ...nodeEnvironment, matrices: vectorThreads() }
  if (clock !== undefined && typeof clock?.now !== 'function') throw invalidOption('clock', 'an object with a function now()', clock)
  if (entropy !== undefined && typeof entropy?.bytes !== 'function')
    throw invalidOption('entropy', 'an object with a function bytes(count)', entropy)
  if (logger !== undefined && logger !== false && (typeof logger !== 'object' || logger === null))
    throw invalidOption('logger', 'false, or an object with info, warn and error', logger)
  return {
    ...base,
    ...(clock && { clock: { now: () => checkTime(clock.now()), monotonic: () => clock.monotonic?.() ?? base.clock.monotonic() } }),
    ...(entropy && { entropy: { bytes: (count) => checkBytes(entropy.bytes(count), count) } }),
    logger: logger === undefined ? consoleLogger(base.clock.monotonic) : logger === false ? silent : whole(logger),
  }
}

const whole = (logger: Partial<Logger>): Logger => ({
  info: (message, details) => logger.info?.(message, details),
  warn: (message, details) => logger.warn?.(message, details),
  error: (message, details) => logger.error?.(message, details),
})

// biome-ignore format: a list is read in lines
const KNOWN: readonly (keyof StoreOptions)[] = [
  'url', 'adminUrl', 'listenUrl', 'tenantKey', 'connections', 'required', 'fallback', 'backend', 'durability', 'layout',
  'airGapped', 'create', 'readOnly', 'migrate', 'clock', 'entropy', 'logger', 'embedder', 'redact', 'redactKey', 'payloadBytes',
  'lane', 'writeBudget', 'lease', 'schedule', 'vectorMemory', 'canvas', 'collectAfter', 'memory',
]

/** A misspelt option would be silently ignored. */
function checkOptions(given: StoreOptions): void {
  for (const name of Object.keys(given)) {
    if (!(KNOWN as readonly string[]).includes(name))
      throw refuse('OPTION_INVALID', { option: name.slice(0, 40), why: 'open() has no such option', known: KNOWN.join(', ') })
  }
  const { url, backend, lane } = given
  if (url !== undefined && typeof url !== 'string' && !(url instanceof URL)) throw invalidOption('url', 'a text or a URL', url)
  for (const name of ['adminUrl', 'listenUrl', 'fallback'] as const) {
    if (given[name] !== undefined && typeof given[name] !== 'string') throw invalidOption(name, 'a text', given[name])
  }
  if (given.fallback !== undefined && (isDatabase(given.fallback) || given.fallback === ':memory:'))
    throw refuse('OPTION_INVALID', { option: 'fallback', why: 'expected the path of a SQLite file, which is there when the server is not' })
  if (given.connections !== undefined && (!Number.isInteger(given.connections) || given.connections < 1))
    throw invalidOption('connections', 'an integer ≥ 1', given.connections)
  if (backend !== undefined && typeof backend?.commit !== 'function')
    throw invalidOption('backend', 'an object that implements the Backend port', backend)
  if (lane !== undefined && (typeof lane !== 'object' || lane === null)) throw invalidOption('lane', 'an object', lane)
  for (const [name, value] of Object.entries(lane ?? {})) {
    if (value !== undefined && (!Number.isInteger(value) || value < 1)) throw invalidOption(`lane.${name}`, 'an integer ≥ 1', value)
  }
  for (const name of ['airGapped', 'required', 'create', 'readOnly', 'migrate', 'schedule'] as const) {
    if (given[name] !== undefined && typeof given[name] !== 'boolean') throw invalidOption(name, 'true or false', given[name])
  }
}

function checkRedact(redact: NonNullable<StoreOptions['redact']>): void {
  if (typeof redact !== 'object' || redact === null) throw invalidOption('redact', 'an object, or false', redact)
  for (const [name, list] of Object.entries(ownMembers(redact, 'redact'))) {
    // A misspelt option would write secrets unmasked.
    if (!['keys', 'values', 'allow'].includes(name)) throw refuse('OPTION_INVALID', { option: name, why: 'redact has no such option' })
    const usable = list === undefined || (Array.isArray(list) && list.every((text) => typeof text === 'string'))
    if (!usable) throw invalidOption(`redact.${name}`, 'an array of texts')
  }
}

// The latest time that an id can hold.
const LATEST = 2 ** 48 - 1

/** Checks every reading of a user's clock: an event with an invalid time could never be read back. */
function checkTime(now: number): number {
  if (Number.isInteger(now) && now >= 0 && now <= LATEST) return now
  throw invalidOption('clock', 'now() to return whole milliseconds since 1970', now)
}

function checkBytes(bytes: Uint8Array, count: number): Uint8Array {
  if (bytes instanceof Uint8Array && bytes.length === count) return bytes
  throw invalidOption('entropy', `bytes(${count}) to return a Uint8Array of that length`)
}

const KEY_BYTES_LEAST = 16

function keyBytes(key: Uint8Array | string): Uint8Array {
  const bytes = typeof key === 'string' ? new TextEncoder().encode(key) : key
  if (!(bytes instanceof Uint8Array) || bytes.length < KEY_BYTES_LEAST)
    throw invalidOption('redactKey', `a key of at least ${KEY_BYTES_LEAST} bytes`)
  return bytes
}
