// The log of one thread and namespace: a list of checkpoints and writes under one key of `store.state`. A save appends to the list, which
// costs only what is new, and several saves that are waiting take one commit.

import type { InkError, StateEntry, ValuePart } from '../../index.ts'
import { type CheckpointEntry, type Entry, type Found, isWrites, openEntry, type WritesEntry } from './entries.ts'
import type { CheckpointStore } from './saver.ts'

/** A long list is a part; a short one was read whole. */
type Log = ValuePart | readonly Entry[]

interface Waiting {
  readonly entry: Entry
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Entries that stay in memory. */
const TAIL_LEAST = 64
const TAIL_MOST = 256
const BLOCK_LEAST = 32
const BLOCK_MOST = 512
/** Attempts before a conflict with other processes is reported. */
const ATTEMPTS = 50

export class ThreadLog {
  readonly key: string
  readonly #store: CheckpointStore
  #revision: number | undefined
  #log: Log = []
  /** The last entries of the log, oldest first. Empty if they were not read yet. */
  #tail: readonly Entry[] = []
  #waiting: Waiting[] = []
  #isBusy = false

  constructor(store: CheckpointStore, key: string) {
    this.#store = store
    this.key = key
  }

  /** Reads the row again: another process may have written. */
  async refresh(): Promise<void> {
    this.#take(await this.#store.state.get(this.key, { lazy: true }))
  }

  #take(row: StateEntry | undefined): void {
    const revision = row?.revision ?? 0
    if (revision === this.#revision) return
    this.#revision = revision
    this.#log = (row?.value ?? []) as Log
    this.#tail = []
  }

  /** The checkpoint with an id, or the one with the highest id. */
  async find(id?: string): Promise<Found | undefined> {
    const writes: WritesEntry[] = []
    let wanted = id
    for await (const entry of this.backwards()) {
      if (isWrites(entry)) writes.push(entry)
      else {
        wanted ??= entry.index ?? entry.id
        if (entry.id === wanted) return { checkpoint: entry, writes: writesOf(writes, wanted) }
      }
    }
    return undefined
  }

  /** All entries, the newest first. */
  async *backwards(): AsyncGenerator<Entry, void, undefined> {
    if (this.#revision === undefined) await this.refresh()
    const log = this.#log
    let read = 0
    if (this.#tail.length === 0) {
      const tail = await this.#slice(log, 0, BLOCK_LEAST)
      // A save may have moved the log meanwhile.
      if (log === this.#log && this.#tail.length === 0) this.#tail = tail
      yield* tail.toReversed()
      read = tail.length
    } else {
      const tail = this.#tail
      yield* tail.toReversed()
      read = tail.length
    }
    for (let size = BLOCK_LEAST; ; size = Math.min(size * 2, BLOCK_MOST)) {
      const block = await this.#slice(log, read, size)
      yield* block.toReversed()
      read += block.length
      if (block.length < size) return
    }
  }

  /** `size` entries before the last `skipped` ones. */
  async #slice(log: Log, skipped: number, size: number): Promise<readonly Entry[]> {
    const [from, to] = [-skipped - size, skipped === 0 ? Infinity : -skipped]
    const read = Array.isArray(log) ? log.slice(from, to) : await this.#store.values.slice(log as ValuePart, from, to, { lazy: true })
    return Promise.all(read.map((entry) => openEntry(this.#store, entry)))
  }

  /** Saves an entry. Entries that wait at the same time take one commit. */
  append(entry: Entry): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ entry, resolve, reject })
      if (!this.#isBusy) void this.#save()
    })
  }

  async #save(): Promise<void> {
    this.#isBusy = true
    // LangGraph saves the writes of a step and the next checkpoint one right after the other.
    await new Promise(setImmediate)
    while (this.#waiting.length > 0) {
      const batch = this.#waiting
      this.#waiting = []
      try {
        await this.#commit(batch)
        for (const { resolve } of batch) resolve()
      } catch (error) {
        this.forget()
        for (const { reject } of batch) reject(error)
      }
    }
    this.#isBusy = false
  }

  async #commit(batch: readonly Waiting[]): Promise<void> {
    if (this.#revision === undefined) await this.refresh()
    for (let left = ATTEMPTS; ; left--) {
      const entries = await this.#ordered(batch.map(({ entry }) => entry))
      const tail = await this.#tailNow()
      const log = this.#store.values.part(entries, { after: this.#asPart() })
      try {
        const { revision } = await this.#store.state.set(this.key, log, { expect: this.#revision as number })
        this.#revision = revision
        this.#log = log
        const longer = [...tail, ...entries]
        this.#tail = longer.length > TAIL_MOST ? longer.slice(-TAIL_LEAST) : longer
        return
      } catch (error) {
        if ((error as InkError).code !== 'STATE_CHANGED' || left === 1) throw error
        await this.refresh()
      }
    }
  }

  /** Notes the highest id where a checkpoint comes out of order. */
  async #ordered(entries: readonly Entry[]): Promise<readonly Entry[]> {
    if (entries.every(isWrites)) return entries
    let last: CheckpointEntry | undefined
    for await (const entry of this.backwards())
      if (!isWrites(entry)) {
        last = entry
        break
      }
    return entries.map((entry) => {
      if (isWrites(entry)) return entry
      const highest = last && (last.index ?? last.id)
      const isInOrder = highest === undefined || (last?.index === undefined && entry.id > highest)
      last = isInOrder ? entry : { ...entry, index: entry.id > highest ? entry.id : highest }
      return last
    })
  }

  async #tailNow(): Promise<readonly Entry[]> {
    if (this.#tail.length === 0) this.#tail = await this.#slice(this.#log, 0, BLOCK_LEAST)
    return this.#tail
  }

  #asPart(): ValuePart {
    return Array.isArray(this.#log) ? this.#store.values.part(this.#log) : (this.#log as ValuePart)
  }

  /** Removes entries. `keep` gets all of them, oldest first, and says which stay. */
  async rewrite(keep: (entries: readonly Entry[]) => Promise<readonly Entry[]>): Promise<void> {
    for (let left = ATTEMPTS; ; left--) {
      await this.refresh()
      const entries: Entry[] = []
      for await (const entry of this.backwards()) entries.push(entry)
      const kept = await keep(entries.reverse())
      if (kept.length === entries.length) return
      const options = { expect: this.#revision as number }
      try {
        if (kept.length === 0) await this.#store.state.delete(this.key, options)
        else await this.#store.state.set(this.key, this.#store.values.part(kept), options)
        this.forget()
        return
      } catch (error) {
        if ((error as InkError).code !== 'STATE_CHANGED' || left === 1) throw error
      }
    }
  }

  forget(): void {
    this.#revision = undefined
    this.#log = []
    this.#tail = []
  }

  /** The whole log, for another thread to begin with. */
  async copy(): Promise<ValuePart> {
    await this.refresh()
    return this.#asPart()
  }
}

/** The checkpoints of a log by id, the highest first. A checkpoint that was saved twice counts as it was saved last. */
export async function* descending(log: ThreadLog): AsyncGenerator<Found, void, undefined> {
  const writes: WritesEntry[] = []
  const seen = new Map<string, CheckpointEntry>()
  let isOrdered: boolean | undefined
  for await (const entry of log.backwards()) {
    if (isWrites(entry)) writes.push(entry)
    else if (!seen.has(entry.id)) {
      seen.set(entry.id, entry)
      isOrdered ??= entry.index === undefined
      if (isOrdered) yield { checkpoint: entry, writes: writesOf(writes, entry.id) }
    }
  }
  if (isOrdered !== false) return
  const sorted = [...seen.values()].sort((a, b) => (a.id < b.id ? 1 : -1))
  for (const checkpoint of sorted) yield { checkpoint, writes: writesOf(writes, checkpoint.id) }
}

/** The writes on a checkpoint, oldest first, of entries that were read backwards. */
export const writesOf = (backwards: readonly WritesEntry[], id: string): readonly WritesEntry[] =>
  backwards.filter((entry) => entry.checkpoint_id === id).reverse()
