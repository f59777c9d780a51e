// The log of one thread and namespace: a list of checkpoints and writes under one key of `store.state`. A save appends to the list, which
// costs only what is new, and several saves that are waiting take one commit.

import type { InkError, StateEntry, ValuePart } from '../../index.ts'
import { type CheckpointEntry, type Entry, type Found, isWrites, type WritesEntry } from './entries.ts'
import { type Item, itemsOf, packItem, unpackItem } from './items.ts'
import type { CheckpointStore } from './saver.ts'

/** A long list is a part; a short one was read whole. */
type Log = ValuePart | readonly unknown[]

interface Waiting {
  readonly entry: Entry
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Items that stay in memory. */
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
  /** The last items of the log, oldest first. Empty if they were not read yet. */
  #tail: readonly Item[] = []
  #waiting: Waiting[] = []
  #isBusy = false
  /** Commits of this process. */
  #saves = 0

  constructor(store: CheckpointStore, key: string) {
    this.#store = store
    this.key = key
  }

  /** Reads the row again: another process may have written. */
  async refresh(): Promise<void> {
    for (;;) {
      const saves = this.#saves
      const row = await this.#store.state.get(this.key, { lazy: true })
      // A save of this process that ended meanwhile is newer than the row.
      if (saves === this.#saves) return this.#take(row)
    }
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
    let wanted = id
    for await (const found of this.checkpoints()) {
      wanted ??= found.checkpoint.index ?? found.checkpoint.id
      if (found.checkpoint.id === wanted) return found
    }
    return undefined
  }

  /** All checkpoints with their writes, the newest first. */
  async *checkpoints(): AsyncGenerator<Found, void, undefined> {
    const writes = new Map<string, WritesEntry[]>()
    const open: { readonly checkpoint: CheckpointEntry; early: number }[] = []
    const take = ({ checkpoint }: { readonly checkpoint: CheckpointEntry }): Found => {
      const own = writes.get(checkpoint.id) ?? []
      writes.delete(checkpoint.id)
      return { checkpoint, writes: own.reverse() }
    }
    for await (const entry of this.backwards()) {
      if (isWrites(entry)) {
        const known = writes.get(entry.checkpoint_id)
        if (known) known.push(entry)
        else writes.set(entry.checkpoint_id, [entry])
      }
      for (const one of open) one.early--
      if (!isWrites(entry)) open.push({ checkpoint: entry, early: entry.delta ?? 0 })
      while (open[0] && open[0].early <= 0) yield take(open.shift() as (typeof open)[number])
    }
    for (const one of open) yield take(one)
  }

  /** All entries, the newest first. */
  async *backwards(): AsyncGenerator<Entry, void, undefined> {
    if (this.#revision === undefined) await this.refresh()
    const log = this.#log
    let tail = this.#tail
    if (tail.length === 0) {
      tail = await this.#slice(log, 0, BLOCK_LEAST)
      // A save may have moved the log meanwhile.
      if (log === this.#log && this.#tail.length === 0) this.#tail = tail
    }
    yield* newestFirst(tail)
    let read = tail.length
    for (let size = BLOCK_LEAST; ; size = Math.min(size * 2, BLOCK_MOST)) {
      const block = await this.#slice(log, read, size)
      yield* newestFirst(block)
      read += block.length
      if (block.length < size) return
    }
  }

  /** `size` items before the last `skipped` ones. */
  async #slice(log: Log, skipped: number, size: number): Promise<readonly Item[]> {
    const [from, to] = [-skipped - size, skipped === 0 ? Infinity : -skipped]
    const read = Array.isArray(log) ? log.slice(from, to) : await this.#store.values.slice(log as ValuePart, from, to, { lazy: true })
    return Promise.all(read.map((item) => unpackItem(this.#store, item)))
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
      const tail = await this.#tailNow()
      const entries = await this.#ordered(
        batch.map(({ entry }) => entry),
        tail.flat(),
      )
      const items = itemsOf(entries)
      const log = this.#store.values.part(items.map(packItem), { after: this.#asPart() })
      try {
        const { revision } = await this.#store.state.set(this.key, log, { expect: this.#revision as number })
        this.#saves++
        this.#revision = revision
        this.#log = log
        const longer = [...tail, ...items]
        this.#tail = longer.length > TAIL_MOST ? longer.slice(-TAIL_LEAST) : longer
        return
      } catch (error) {
        if ((error as InkError).code !== 'STATE_CHANGED' || left === 1) throw error
        await this.refresh()
      }
    }
  }

  /** Puts checkpoints before their writes, and notes the highest id where a checkpoint comes out of order. */
  async #ordered(given: readonly Entry[], tail: readonly Entry[]): Promise<readonly Entry[]> {
    if (given.every(isWrites)) return given
    const entries = [...given.filter((entry) => !isWrites(entry)), ...given.filter(isWrites)]
    let last: CheckpointEntry | undefined
    for await (const entry of this.backwards())
      if (!isWrites(entry)) {
        last = entry
        break
      }
    return entries.map((entry, i) => {
      if (isWrites(entry)) return entry
      const highest = last && (last.index ?? last.id)
      const isInOrder = highest === undefined || (last?.index === undefined && entry.id > highest)
      const early = tail.findIndex((one) => isWrites(one) && one.checkpoint_id === entry.id)
      last = {
        ...entry,
        ...(!isInOrder && { index: entry.id > highest ? entry.id : highest }),
        ...(early >= 0 && { delta: tail.length + i - early }),
      }
      return last
    })
  }

  async #tailNow(): Promise<readonly Item[]> {
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
        else await this.#store.state.set(this.key, this.#store.values.part(itemsOf(kept).map(packItem)), options)
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

const newestFirst = (items: readonly Item[]): readonly Entry[] => items.flat().reverse()

/** The checkpoints of a log by id, the highest first. A checkpoint that was saved twice counts as it was saved last. */
export async function* descending(log: ThreadLog): AsyncGenerator<Found, void, undefined> {
  const seen = new Map<string, Found | undefined>()
  let isOrdered: boolean | undefined
  for await (const found of log.checkpoints()) {
    const { id, index } = found.checkpoint
    if (seen.has(id)) continue
    isOrdered ??= index === undefined
    seen.set(id, isOrdered ? undefined : found)
    if (isOrdered) yield found
  }
  yield* [...seen.values()].filter((found) => found !== undefined).sort((a, b) => (a.checkpoint.id < b.checkpoint.id ? 1 : -1))
}
