// Threads in memory: the log and the live lists of each, up to a number of elements in all.

import type { Codec } from './codec.ts'
import { keyOf, type ThreadKey } from './keys.ts'
import { LiveLists } from './live-lists.ts'
import type { CheckpointStore } from './saver.ts'
import { ThreadLog } from './thread-log.ts'
import type { Watch } from './watch.ts'

export interface Thread {
  readonly log: ThreadLog
  readonly lists: LiveLists
}

/** A thread in memory costs about as much as so many elements. */
const THREAD_ELEMENTS = 100

export class Threads {
  readonly #store: CheckpointStore
  readonly #codec: Codec
  readonly #same: (watch: Watch) => boolean
  readonly #cachedElements: number
  /** In the order of use, oldest first. */
  readonly #threads = new Map<string, Thread>()

  constructor(store: CheckpointStore, codec: Codec, same: (watch: Watch) => boolean, cachedElements: number) {
    this.#store = store
    this.#codec = codec
    this.#same = same
    this.#cachedElements = cachedElements
  }

  get(at: ThreadKey): Thread {
    const key = keyOf(at)
    const known = this.#threads.get(key)
    const thread = known ?? { log: new ThreadLog(this.#store, key), lists: new LiveLists(this.#store, this.#codec, this.#same) }
    this.#threads.delete(key)
    this.#threads.set(key, thread)
    if (!known) this.#evict()
    return thread
  }

  /** Forgets the threads that were not used for the longest time. */
  #evict(): void {
    let held = 0
    for (const { lists } of this.#threads.values()) held += lists.size + THREAD_ELEMENTS
    for (const [key, { lists }] of this.#threads) {
      if (held <= this.#cachedElements || this.#threads.size === 1) return
      this.#threads.delete(key)
      held -= lists.size + THREAD_ELEMENTS
    }
  }

  forget(at: ThreadKey): void {
    this.#threads.delete(keyOf(at))
  }
}
