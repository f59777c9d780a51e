// History of delta channels: the writes on the ancestors of a checkpoint, back to the nearest ancestor that holds the channel's value. One
// pass over the log finds all of them.

import type { CheckpointPendingWrite, DeltaChannelHistory } from '@langchain/langgraph-checkpoint'
import type { Codec } from './codec.ts'
import { type CheckpointEntry, isWrites, type WritesEntry } from './entries.ts'
import { foldWrites } from './pending-writes.ts'
import type { ThreadLog } from './thread-log.ts'

export async function deltaHistory(
  log: ThreadLog,
  codec: Codec,
  target: string,
  channels: readonly string[],
): Promise<Record<string, DeltaChannelHistory>> {
  const open = new Set(channels)
  const newestFirst = new Map<string, CheckpointPendingWrite[]>(channels.map((channel) => [channel, []]))
  const seeds = new Map<string, unknown>()
  for await (const { checkpoint, writes } of ancestors(log, target)) {
    const byTask = foldWrites(writes).toSorted((a, b) => (a.task === b.task ? b.index - a.index : a.task < b.task ? 1 : -1))
    for (const { task, channel, content, opaque } of byTask)
      if (open.has(channel))
        newestFirst.get(channel)?.push([task, channel, opaque ? await codec.decodeOpaque(opaque) : await codec.decode(content)])
    for (const channel of open) {
      const opaque = checkpoint.data && Object.hasOwn(checkpoint.data, channel) ? checkpoint.data[channel] : undefined
      if (!opaque && !Object.hasOwn(checkpoint.channel_values, channel)) continue
      seeds.set(channel, opaque ? await codec.decodeOpaque(opaque) : await codec.decode(checkpoint.channel_values[channel]))
      open.delete(channel)
    }
    if (open.size === 0) break
  }
  return Object.fromEntries(
    channels.map((channel) => [
      channel,
      { writes: (newestFirst.get(channel) ?? []).reverse(), ...(seeds.has(channel) && { seed: seeds.get(channel) }) },
    ]),
  )
}

/** The checkpoints above one, nearest first. An empty id means the highest. */
async function* ancestors(log: ThreadLog, target: string): AsyncGenerator<{ checkpoint: CheckpointEntry; writes: readonly WritesEntry[] }> {
  const writes = new Map<string, WritesEntry[]>()
  const passed = new Map<string, CheckpointEntry>()
  let wanted: string | undefined = target === '' ? undefined : target
  let isTarget = true
  for await (const entry of log.backwards()) {
    if (isWrites(entry)) {
      const list = writes.get(entry.checkpoint_id)
      if (list) list.push(entry)
      else writes.set(entry.checkpoint_id, [entry])
      continue
    }
    wanted ??= entry.index ?? entry.id
    if (!passed.has(entry.id)) passed.set(entry.id, entry)
    // A parent that was saved after its child was passed already.
    for (let found = passed.get(wanted); found; found = passed.get(wanted)) {
      passed.delete(found.id)
      if (!isTarget) yield { checkpoint: found, writes: (writes.get(found.id) ?? []).toReversed() }
      isTarget = false
      if (found.parents === undefined) return
      wanted = found.parents
    }
  }
}
