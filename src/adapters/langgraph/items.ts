// Items of a thread's log. A checkpoint and the writes that are saved with it are one item: one node instead of several.

import { type CheckpointEntry, type Entry, isWrites, openEntry, type WritesEntry } from './entries.ts'
import type { CheckpointStore } from './saver.ts'

/** Entries that are stored together, oldest first: a checkpoint and writes behind it, or one entry alone. */
export type Item = readonly Entry[]

/** Checkpoints come before writes. */
export function itemsOf(entries: readonly Entry[]): readonly Item[] {
  const items: Entry[][] = []
  for (const entry of entries) {
    const last = items.at(-1)
    if (isWrites(entry) && last && !isWrites(last[0] as Entry)) last.push(entry)
    else items.push([entry])
  }
  return items
}

/** A checkpoint has its writes as members `0`, `1` and so on. Writes on itself leave its id out. */
export function packItem([first, ...writes]: Item): object {
  const { id } = first as Entry
  const members = (writes as readonly WritesEntry[]).map(({ checkpoint_id, ...rest }, i) => [
    i,
    checkpoint_id === id ? rest : { checkpoint_id, ...rest },
  ])
  return { ...first, ...Object.fromEntries(members) }
}

/** Reads the parts of an item that are not in its node, but none of the contents in it. */
export async function unpackItem(store: CheckpointStore, read: unknown): Promise<Item> {
  const { ...first } = (await openEntry(store, read)) as CheckpointEntry & Record<number, unknown>
  const item: Entry[] = [first]
  for (let i = 0; first[i] !== undefined; i++) {
    const writes = (await openEntry(store, first[i])) as WritesEntry
    item.push(Object.hasOwn(writes, 'checkpoint_id') ? writes : { ...writes, checkpoint_id: first.id })
    delete first[i]
  }
  return item
}
