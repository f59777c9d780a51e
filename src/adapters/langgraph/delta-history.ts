// History of delta channels: the writes on the ancestors of a checkpoint, back to the nearest ancestor that holds the channel's value. One
// pass over the log finds all of them.

import type { CheckpointPendingWrite, DeltaChannelHistory } from '@langchain/langgraph-checkpoint'
import type { Codec } from './codec.ts'
import type { Found } from './entries.ts'
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
async function* ancestors(log: ThreadLog, target: string): AsyncGenerator<Found, void, undefined> {
  const passed = new Map<string, Found>()
  let wanted: string | undefined = target === '' ? undefined : target
  let isTarget = true
  for await (const found of log.checkpoints()) {
    const { checkpoint } = found
    wanted ??= checkpoint.index ?? checkpoint.id
    if (!passed.has(checkpoint.id)) passed.set(checkpoint.id, found)
    // A parent that was saved after its child was passed already.
    for (let next = passed.get(wanted); next; next = passed.get(wanted)) {
      passed.delete(wanted)
      if (!isTarget) yield next
      isTarget = false
      const { parents } = next.checkpoint
      if (parents === undefined) return
      wanted = parents
    }
  }
}
