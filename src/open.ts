// From what a user writes to a running store: which backend, which world, and what is not possible yet.

import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { memoryBackend } from './backends/memory/backend.ts'
import { sqliteBackend } from './backends/sqlite/backend.ts'
import { nodeEnvironment } from './environment.ts'
import type { KernelOptions } from './kernel/engine.ts'
import { createStore, type Store } from './kernel/store.ts'
import { refuse } from './model/errors.ts'
import type { Backend } from './ports/backend.ts'
import type { Clock, Entropy, Environment, Logger } from './ports/environment.ts'

export interface StoreOptions extends Omit<KernelOptions, 'redactKey'> {
  /** A file path, a file: URL or ':memory:'. */
  readonly url?: string | URL
  /** In place of a url: a backend of your own that passes inkfast/conformance. */
  readonly backend?: Backend
  /** 'full' survives a power cut; 'normal' survives a crash of the process, and may lose the last commits when the power goes. */
  readonly durability?: 'full' | 'normal'
  /** One file for everything. */
  readonly layout?: 'single' | 'session' | 'tenant'
  /** Refuse anything that needs a network. */
  readonly airGapped?: boolean
  /** Make the file when there is none; true by default. */
  readonly create?: boolean
  /** Bring an older schema up to date; true by default. */
  readonly migrate?: boolean
  /** The time, for tests and simulations. */
  readonly clock?: Partial<Clock> & Pick<Clock, 'now'>
  readonly entropy?: Entropy
  /** Where warnings go; nowhere by default. */
  readonly logger?: Partial<Logger>
  /** Turns text into vectors, for memory. */
  readonly embedder?: unknown
  /** Keys the tags of masked secrets; 16 bytes or more. By default a key is made once and kept in the store. */
  readonly redactKey?: Uint8Array | string
}

/** Opens a store, or makes one where there is none. A missing folder is an error, never created in silence. */
export async function open(options: string | URL | StoreOptions): Promise<Store> {
  const given: StoreOptions = typeof options === 'string' || options instanceof URL ? { url: options } : options
  if (typeof given !== 'object' || given === null)
    throw refuse('OPTION_INVALID', { option: 'url', why: 'open takes a path or an object with a url' })
  const environment = environmentOf(given)
  const backend = await openBackend(given, environment)
  try {
    const { redactKey, ...rest } = given
    return await createStore(backend, environment, { ...rest, ...(redactKey !== undefined && { redactKey: keyBytes(redactKey) }) })
  } catch (error) {
    await backend.close()
    throw error
  }
}

async function openBackend(given: StoreOptions, environment: Environment): Promise<Backend> {
  if (given.embedder !== undefined) throw refuse('NOT_YET', { feature: 'The option embedder (memory)' })
  if (given.durability !== undefined && given.durability !== 'full' && given.durability !== 'normal') {
    throw refuse('OPTION_INVALID', { option: 'durability', why: "it is 'full' or 'normal'" })
  }
  const layout = given.layout ?? 'single'
  if (!['single', 'session', 'tenant'].includes(layout)) throw refuse('OPTION_INVALID', { option: 'layout', why: "it is 'single'" })
  if (layout !== 'single') throw refuse('NOT_YET', { feature: `The layout '${layout}'`, instead: "Use layout: 'single', the default." })

  if (given.backend !== undefined) {
    if (given.url !== undefined) throw refuse('OPTION_INVALID', { option: 'backend', why: 'give a url or a backend, not both' })
    return given.backend
  }
  const path = pathOf(given.url)
  if (path === ':memory:') return memoryBackend(environment)
  if (path.endsWith('/') || statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    throw refuse('NOT_YET', { feature: 'A folder as a store', instead: 'Give a file in that folder.' })
  }
  return sqliteBackend({
    path,
    now: () => environment.clock.now(),
    ...(given.durability && { durability: given.durability }),
    ...(given.create !== undefined && { create: given.create }),
    ...(given.readOnly !== undefined && { readOnly: given.readOnly }),
    ...(given.migrate !== undefined && { migrate: given.migrate }),
  })
}

function pathOf(url: string | URL | undefined): string {
  const text = String(url ?? '')
  if (text === '') throw refuse('URL_UNKNOWN', { url: text })
  if (/^postgres(ql)?:/i.test(text)) throw refuse('NOT_YET', { feature: 'PostgreSQL', instead: 'Use a file path for now.' })
  if (/^file:/i.test(text)) {
    try {
      return fileURLToPath(text)
    } catch (cause) {
      throw refuse('URL_UNKNOWN', { url: text }, cause)
    }
  }
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(text)) throw refuse('URL_UNKNOWN', { url: text.replace(/\/\/[^/@]*@/, '//…@') })
  if (text.includes('\0')) throw refuse('URL_UNKNOWN', { url: text.replaceAll('\0', '\\0') })
  return text
}

function environmentOf({ clock, entropy, logger }: StoreOptions): Environment {
  const base = nodeEnvironment
  if (clock !== undefined && typeof clock.now !== 'function')
    throw refuse('OPTION_INVALID', { option: 'clock', why: 'it has a function now()' })
  if (entropy !== undefined && typeof entropy.bytes !== 'function')
    throw refuse('OPTION_INVALID', { option: 'entropy', why: 'it has a function bytes(count)' })
  return {
    ...base,
    ...(clock && { clock: { now: () => clock.now(), monotonic: () => clock.monotonic?.() ?? base.clock.monotonic() } }),
    ...(entropy && { entropy }),
    ...(logger && {
      logger: {
        info: (message, details) => logger.info?.(message, details),
        warn: (message, details) => logger.warn?.(message, details),
        error: (message, details) => logger.error?.(message, details),
      },
    }),
  }
}

const KEY_BYTES_LEAST = 16

function keyBytes(key: Uint8Array | string): Uint8Array {
  const bytes = typeof key === 'string' ? new TextEncoder().encode(key) : key
  if (!(bytes instanceof Uint8Array) || bytes.length < KEY_BYTES_LEAST)
    throw refuse('OPTION_INVALID', { option: 'redactKey', why: `it has at least ${KEY_BYTES_LEAST} bytes` })
  return bytes
}
