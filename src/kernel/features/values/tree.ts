// The tree of a list or a map: an open tail, and closed chunks that are entries of the next level. A root holds the tail of level 0, and a
// spine the tail of each level above. An append therefore writes the root, and a closed chunk now and then.

import { Reader, varint } from './bytes.ts'
import { endsChunk, KIND, REF_BYTES } from './format.ts'
import { skipItem, skipKey } from './items.ts'

export interface TreeKinds {
  readonly root: number
  readonly leaf: number
  readonly branch: number
  readonly spine: number
}

export const LIST: TreeKinds = { root: KIND.list, leaf: KIND.listLeaf, branch: KIND.listBranch, spine: KIND.listSpine }
export const MAP: TreeKinds = { root: KIND.map, leaf: KIND.mapLeaf, branch: KIND.mapBranch, spine: KIND.mapSpine }

interface Level {
  entries: Uint8Array[]
  bytes: number
  /** Items in and below the entries. */
  items: number
}

interface Above {
  readonly ref: Uint8Array
  readonly items: number
}

const emptyLevel = (): Level => ({ entries: [], bytes: 0, items: 0 })

export class TreeBuilder {
  readonly #kinds: TreeKinds
  readonly #save: (kind: number, pieces: readonly Uint8Array[]) => Uint8Array
  readonly #levels: Level[] = [emptyLevel()]
  /** The spine of the first level that is not loaded. */
  #above: Above | undefined
  /** Closed chunks for that level. */
  #pending: (readonly [entry: Uint8Array, items: number])[] = []

  /** `save` stores a node and returns its ref. */
  constructor(kinds: TreeKinds, save: (kind: number, pieces: readonly Uint8Array[]) => Uint8Array) {
    this.#kinds = kinds
    this.#save = save
  }

  add(entry: Uint8Array): void {
    this.#push(0, entry, 1)
  }

  #push(at: number, entry: Uint8Array, items: number): void {
    if (at === this.#levels.length) {
      if (this.#above) {
        this.#pending.push([entry, items])
        return
      }
      this.#levels.push(emptyLevel())
    }
    const level = this.#levels[at] as Level
    level.entries.push(entry)
    level.bytes += entry.length
    level.items += items
    if (!endsChunk(entry, level.entries.length, level.bytes)) return
    const ref = this.#save(at === 0 ? this.#kinds.leaf : this.#kinds.branch, [varint(level.entries.length), ...level.entries])
    const closed = level.items
    this.#levels[at] = emptyLevel()
    const count = varint(closed)
    const up = new Uint8Array(count.length + REF_BYTES)
    up.set(count)
    up.set(ref, count.length)
    this.#push(at + 1, up, closed)
  }

  /** Goes on from the root of an existing tree. */
  resume(root: Uint8Array): void {
    this.#levels.length = 0
    this.#load(root)
  }

  /** The ref of the spine that must be loaded before `finish`, if any. */
  wanted(): Uint8Array | undefined {
    return this.#pending.length > 0 ? this.#above?.ref : undefined
  }

  /** Loads the spine that was wanted. */
  grow(spine: Uint8Array): void {
    const at = this.#levels.length
    const pending = this.#pending
    this.#pending = []
    this.#load(spine)
    for (const [entry, items] of pending) this.#push(at, entry, items)
  }

  #load(body: Uint8Array): void {
    const { items, above, entries } = readTail(body, this.#kinds, this.#levels.length === 0)
    const held = entries.reduce((sum, entry) => sum + entry.items, 0)
    this.#levels.push({
      entries: entries.map(({ bytes }) => bytes),
      bytes: entries.reduce((sum, { bytes }) => sum + bytes.length, 0),
      items: held,
    })
    this.#above = above && { ref: above, items: items - held }
  }

  /** Stores the spines and the root, and returns the ref of the root. */
  finish(): Uint8Array {
    let [ref, items] = [this.#above?.ref, this.#above?.items ?? 0]
    for (let at = this.#levels.length - 1; at >= 0; at--) {
      const level = this.#levels[at] as Level
      items += level.items
      const up = ref ? [Uint8Array.of(1), ref] : [Uint8Array.of(0)]
      ref = this.#save(at === 0 ? this.#kinds.root : this.#kinds.spine, [
        varint(items),
        ...up,
        varint(level.entries.length),
        ...level.entries,
      ])
    }
    return ref as Uint8Array
  }
}

/** A root or a spine: the items it holds in all, the spine above, and the entries of its open tail. */
export function readTail(
  body: Uint8Array,
  kinds: TreeKinds,
  isRoot: boolean,
): { items: number; above: Uint8Array | undefined; entries: readonly { bytes: Uint8Array; items: number }[] } {
  const reader = new Reader(body, 1)
  const items = reader.varint()
  const above = reader.u8() === 1 ? reader.take(REF_BYTES) : undefined
  const count = reader.varint()
  const entries: { bytes: Uint8Array; items: number }[] = []
  for (let i = 0; i < count; i++) {
    const from = reader.at
    let held = 1
    if (!isRoot) {
      held = reader.varint()
      reader.take(REF_BYTES)
    } else {
      if (kinds === MAP) skipKey(reader)
      skipItem(reader)
    }
    entries.push({ bytes: body.subarray(from, reader.at), items: held })
  }
  return { items, above, entries }
}
