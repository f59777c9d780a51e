// The entries of a thread's log: checkpoints, and writes that tasks made on a checkpoint. Most member names are words of the value format,
// which take one or two bytes there.

import type { ValuePart } from '../../index.ts'
import { isPart } from './codec.ts'
import type { CheckpointStore } from './saver.ts'

/** JSON of a channel or a write. Lists are parts. */
export type Content = unknown

/** Content that the serializer did not write as JSON: its type, and bytes as a list of numbers. */
export type Opaque = readonly [type: string, bytes: readonly number[] | ValuePart]

/** The name of the metadata among channels that are not JSON. */
export const METADATA = ''

export interface CheckpointEntry {
  readonly id: string
  /** Absent for a checkpoint without a parent. */
  readonly parents?: string
  /** ISO text, or milliseconds if the text can be made of them. */
  readonly ts: string | number
  readonly v: number
  readonly channel_versions: Readonly<Record<string, number | string>>
  readonly versions_seen: Readonly<Record<string, Readonly<Record<string, number | string>>>>
  readonly channel_values: Readonly<Record<string, Content>>
  readonly metadata: Content
  /** Channels, and the metadata under an empty name, that are not JSON. */
  readonly data?: Readonly<Record<string, Opaque>>
  /** Highest id so far. It stands in every checkpoint from the first one on that came out of order. */
  readonly index?: string
  /** Entries before this one among which are writes on it. LangGraph may save the writes of a task first. */
  readonly delta?: number
}

export interface WritesEntry {
  readonly checkpoint_id: string
  /** The task. */
  readonly id: string
  readonly values: readonly (readonly [channel: string, content: Content] | readonly [channel: string, content: null, opaque: Opaque])[]
}

export type Entry = CheckpointEntry | WritesEntry

export const isWrites = (entry: Entry): entry is WritesEntry => 'checkpoint_id' in entry

/** A checkpoint, and the entries of its writes in their order. */
export interface Found {
  readonly checkpoint: CheckpointEntry
  readonly writes: readonly WritesEntry[]
}

/** Reads an entry that is too large for one node, but none of the contents in it. */
export async function openEntry(store: CheckpointStore, read: unknown): Promise<Entry> {
  const open = async (member: unknown): Promise<unknown> =>
    typeof member === 'object' && member !== null && isPart(member) ? store.values.get(member, '', { lazy: true }) : member
  const entry = (await open(read)) as Record<string, unknown>
  for (const name of OPENED) if (Object.hasOwn(entry, name)) entry[name] = await open(entry[name])
  const { values, versions_seen: seen } = entry
  if (Array.isArray(values)) entry.values = await Promise.all(values.map(open))
  if (seen) for (const [node, versions] of Object.entries(seen)) define(seen, node, await open(versions))
  return entry as Record<string, never> & Entry
}

const OPENED = ['channel_versions', 'versions_seen', 'channel_values', 'data', 'values']

/** Plain assignment of `__proto__` would set the prototype. */
const define = (target: object, key: string, value: unknown): void =>
  void Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true })

/** Times that LangGraph writes are stored as milliseconds. */
export function packTime(ts: string): string | number {
  const ms = Date.parse(ts)
  return Number.isSafeInteger(ms) && new Date(ms).toISOString() === ts ? ms : ts
}

export const unpackTime = (ts: string | number): string => (typeof ts === 'number' ? new Date(ts).toISOString() : ts)
