// The connections of one database, kept for every store that a test opens on it. A new backend of PostgreSQL costs more than most tests do: it is
// forked, loads the catalogue and plans each statement again.

import { backendOn } from '../../src/backends/postgres/backend.ts'
import type { Connections, Ear } from '../../src/backends/postgres/connections.ts'
import { Database } from '../../src/backends/postgres/database.ts'
import { pooled } from '../../src/backends/postgres/pool.ts'
import { Wall } from '../../src/backends/postgres/wall.ts'
import type { Backend } from '../../src/ports/backend.ts'

// Several nodes of a test share them.
const CONNECTIONS = 20
const CLOSES_WITHIN_MS = 20_000

interface Listener {
  readonly heard: (name: string) => void
  readonly lost: (error: unknown) => void
}

export class KeptConnections {
  readonly #url: string
  readonly #key: Uint8Array
  readonly #pool: Connections
  readonly #listeners = new Set<Listener>()
  readonly #ears = new Map<string, Promise<Ear>>()
  #open = 0

  constructor(url: string, key: Uint8Array) {
    this.#url = url
    this.#key = key
    this.#pool = pooled({ url, connections: CONNECTIONS })
  }

  /** Every backend was closed, so nobody uses the connections. */
  get idle(): boolean {
    return this.#open === 0
  }

  /** A backend over these connections, without the checks of `openDatabase`: the template of the database has passed them. */
  backend({ durability }: { readonly durability?: 'full' | 'normal' } = {}): Backend {
    const db = new Database({ connections: this.#lend(), wall: new Wall(this.#key), role: 'inkfast_app' })
    return backendOn({ db, powerful: 'is a superuser' }, { url: this.#url, ...(durability && { durability }) })
  }

  async close(): Promise<void> {
    for (const ear of this.#ears.values()) await (await ear.catch(() => undefined))?.close()
    this.#ears.clear()
    await this.#pool.close()
  }

  /** The connections as one backend sees them: its own to close. */
  #lend(): Connections {
    let used = 0
    let closed = false
    let freed: (() => void) | undefined
    this.#open++
    return {
      ...this.#pool,
      acquire: async () => {
        used++
        const give = () => {
          used--
          if (used === 0) freed?.()
        }
        try {
          const connection = await this.#pool.acquire()
          return {
            ...connection,
            release: (broken) => {
              connection.release(broken)
              give()
            },
          }
        } catch (error) {
          give()
          throw error
        }
      },
      listen: (channel, heard, lost) => this.#listen(channel, { heard, lost }),
      close: async () => {
        if (closed) return
        closed = true
        // As the pool does, it waits for what is still asked.
        if (used > 0) await within(CLOSES_WITHIN_MS, new Promise<void>((resolve) => (freed = resolve)))
        this.#open--
      },
    }
  }

  async #listen(channel: string, listener: Listener): Promise<Ear> {
    const known = this.#ears.get(channel) ?? this.#openEar(channel)
    this.#ears.set(channel, known)
    this.#listeners.add(listener)
    try {
      const ear = await known
      return { tell: (names) => ear.tell(names), hold: () => {}, close: async () => void this.#listeners.delete(listener) }
    } catch (error) {
      this.#listeners.delete(listener)
      throw error
    }
  }

  async #openEar(channel: string): Promise<Ear> {
    const lost = (error: unknown) => {
      this.#ears.delete(channel)
      for (const listener of [...this.#listeners]) {
        this.#listeners.delete(listener)
        listener.lost(error)
      }
    }
    try {
      if (!this.#pool.listen) throw new Error('The driver cannot listen.')
      const ear = await this.#pool.listen(channel, (name) => [...this.#listeners].forEach((listener) => void listener.heard(name)), lost)
      return { ...ear, tell: oneByOne((names) => ear.tell(names)) }
    } catch (error) {
      this.#ears.delete(channel)
      throw error
    }
  }
}

/** A backend tells one thing at a time, and several of them share the connection. */
function oneByOne(tell: Ear['tell']): Ear['tell'] {
  let last: Promise<unknown> = Promise.resolve()
  return (names) => {
    const told = last.then(() => tell(names))
    last = told.catch(() => {})
    return told
  }
}

async function within(ms: number, done: Promise<void>): Promise<void> {
  const { promise, reject } = Promise.withResolvers<void>()
  const timer = setTimeout(() => reject(new Error(`A backend held a connection for ${ms} ms after it was closed.`)), ms)
  try {
    await Promise.race([done, promise])
  } finally {
    clearTimeout(timer)
  }
}
