// The collections that are in memory. Together they stay within a bound; the least recently used one goes first. A collection that does not fit alone
// is read from the store for every search, with the same results.

import { limits } from '../../../model/limits.ts'
import { rowBytes } from '../../../vectors/math/quantise.ts'
import { enginePart } from '../../wiring/per-engine.ts'
import type { Engine, Scope } from '../../wiring/scope.ts'
import type { FoundCollection } from './find-collection.ts'
import { VectorIndex } from './vector-index.ts'

interface Held {
  index: VectorIndex | undefined
  /** Calls on one index wait for each other. */
  queue: Promise<unknown>
  /** The collection does not fit into memory. */
  tooLarge: boolean
}

class IndexCache {
  readonly #engine: Engine
  readonly #most: number
  /** In the order of their last use. */
  readonly #held = new Map<string, Held>()
  #loading: Promise<unknown> = Promise.resolve()
  #closed = false

  constructor(engine: Engine) {
    this.#engine = engine
    this.#most = engine.options.vectorMemory ?? limits.vectorMemoryBytes
  }

  /** Calls `use` with an index that knows everything written before the call, or returns undefined if there is no room for it, or no longer. */
  async with<T>(scope: Scope, of: FoundCollection, use: (index: VectorIndex) => Promise<T>): Promise<T | undefined> {
    if (this.#closed) return undefined
    const held = this.#touch(`${scope.tenant}/${of.id}`)
    const result = held.queue.then(async () => {
      if (held.tooLarge || this.#closed) return undefined
      let index = held.index
      try {
        index ??= await this.#load(scope, of, held)
        if (!index) return undefined
        await index.catchUp()
        if (this.#isEvicted(held, index)) return undefined
        if (!this.#makeRoom(held, index.bytes)) {
          this.#drop(held)
          held.tooLarge = true
          return undefined
        }
        return await use(index)
      } catch (error) {
        if (index && this.#isEvicted(held, index)) return undefined
        // The next search loads it again.
        this.#drop(held)
        if (this.#closed) return undefined
        throw error
      }
    })
    held.queue = result.catch(() => {})
    return result
  }

  /** How the collection is searched. */
  isTooLarge(scope: Scope, { id }: FoundCollection): boolean {
    return this.#held.get(`${scope.tenant}/${id}`)?.tooLarge ?? false
  }

  /** A scan counted the documents of a collection: perhaps it fits now. */
  counted(scope: Scope, { id, dimensions }: FoundCollection, count: number): void {
    const held = this.#held.get(`${scope.tenant}/${id}`)
    if (held?.tooLarge && count * rowBytes(dimensions) <= this.#most) held.tooLarge = false
  }

  /** Forgets a collection that was dropped. */
  forget(scope: Scope, id: string): void {
    const held = this.#held.get(`${scope.tenant}/${id}`)
    this.#held.delete(`${scope.tenant}/${id}`)
    if (held) held.queue = held.queue.then(() => this.#drop(held))
  }

  /** Searches that are under way read the store, as long as it answers. */
  async close(): Promise<void> {
    this.#closed = true
    for (const held of this.#held.values()) this.#drop(held)
    this.#held.clear()
    await this.#engine.environment.matrices?.close()
  }

  /** One collection is read at a time: those that are being read cannot be evicted, and together would exceed the bound. */
  #load(scope: Scope, of: FoundCollection, held: Held): Promise<VectorIndex | undefined> {
    const loading = this.#loading.then(async () => {
      held.index = await VectorIndex.load(scope, of, (bytes) => !this.#closed && this.#makeRoom(held, bytes))
      held.tooLarge = held.index === undefined
      return held.index
    })
    this.#loading = loading.catch(() => {})
    return loading
  }

  #touch(key: string): Held {
    const held = this.#held.get(key) ?? { index: undefined, queue: Promise.resolve(), tooLarge: false }
    this.#held.delete(key)
    this.#held.set(key, held)
    return held
  }

  /** Evicts other collections until this one has room for so many bytes. */
  #makeRoom(mine: Held, bytes: number): boolean {
    if (bytes > this.#most) return false
    let used = bytes
    for (const held of this.#held.values()) if (held !== mine) used += held.index?.bytes ?? 0
    for (const held of this.#held.values()) {
      if (used <= this.#most) break
      if (held === mine || !held.index) continue
      used -= held.index.bytes
      this.#drop(held)
    }
    return true
  }

  /** Another collection took its room while this one was read. What it grew by since is closed here. */
  #isEvicted(held: Held, index: VectorIndex): boolean {
    if (held.index === index) return false
    index.close()
    return true
  }

  #drop(held: Held): void {
    held.index?.close()
    held.index = undefined
  }
}

export const indexCache = enginePart((engine) => new IndexCache(engine))
