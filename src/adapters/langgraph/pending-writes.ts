// Pending writes of a checkpoint, folded from the entries of its tasks.

import { WRITES_IDX_MAP } from '@langchain/langgraph-checkpoint'
import type { Content, Opaque, WritesEntry } from './entries.ts'

export interface Write {
  readonly task: string
  /** Position among the writes of the task; negative for errors, interrupts and the like. */
  readonly index: number
  readonly channel: string
  readonly content: Content
  readonly opaque: Opaque | undefined
}

/** The first write to a place stays, because a task that is retried writes the same again. Special writes are replaced. */
export function foldWrites(entries: readonly WritesEntry[]): readonly Write[] {
  const byPlace = new Map<string, Write>()
  for (const { id: task, values } of entries)
    for (const [position, [channel, content, opaque]] of values.entries()) {
      const index = Object.hasOwn(WRITES_IDX_MAP, channel) ? (WRITES_IDX_MAP[channel] as number) : position
      const place = JSON.stringify([task, index])
      if (index < 0 || !byPlace.has(place)) byPlace.set(place, { task, index, channel, content, opaque })
    }
  return [...byPlace.values()]
}
