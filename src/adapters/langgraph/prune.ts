// Rules for removing checkpoints from a log.

import type { CheckpointMetadata } from '@langchain/langgraph-checkpoint'
import { type CheckpointEntry, type Entry, isWrites } from './entries.ts'

type ReadMetadata = (checkpoint: CheckpointEntry) => Promise<CheckpointMetadata>

/** Keeps the newest checkpoint and its writes, and the ancestors from which its delta channels are computed. */
export async function keepLatest(entries: readonly Entry[], read: ReadMetadata): Promise<readonly Entry[]> {
  const checkpoints = new Map<string, CheckpointEntry>()
  for (const entry of entries) if (!isWrites(entry)) checkpoints.set(entry.id, entry)
  const newest = [...checkpoints.keys()].reduce((highest, id) => (id > highest ? id : highest), '')
  const kept = new Set<string>([newest])
  let at = checkpoints.get(newest)
  const open = new Set(at ? Object.keys((await read(at)).counters_since_delta_snapshot ?? {}) : [])
  while (at) {
    kept.add(at.id)
    for (const channel of open)
      if (Object.hasOwn(at.channel_values, channel) || (at.data && Object.hasOwn(at.data, channel))) open.delete(channel)
    at = open.size > 0 && at.parents !== undefined ? checkpoints.get(at.parents) : undefined
  }
  return only(entries, kept)
}

/** Removes the checkpoints whose metadata names one of the runs. */
export async function withoutRuns(entries: readonly Entry[], read: ReadMetadata, runs: ReadonlySet<unknown>): Promise<readonly Entry[]> {
  const kept = new Set<string>()
  const removed = new Set<string>()
  for (const entry of entries)
    if (!isWrites(entry)) (runs.has(((await read(entry)) as { run_id?: unknown }).run_id) ? removed : kept).add(entry.id)
  return entries.filter((entry) => !removed.has(isWrites(entry) ? entry.checkpoint_id : entry.id))
}

const only = (entries: readonly Entry[], kept: ReadonlySet<string>): readonly Entry[] =>
  entries.filter((entry) => kept.has(isWrites(entry) ? entry.checkpoint_id : entry.id))
