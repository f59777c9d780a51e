// The LangGraph checkpoint saver. Each thread and namespace is one entry of `store.state`: a list that grows with every save.

import type { RunnableConfig } from '@langchain/core/runnables'
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointPendingWrite,
  type CheckpointTuple,
  type DeltaChannelHistory,
  getCheckpointId,
  maxChannelVersion,
  type PendingWrite,
  type SerializerProtocol,
  TASKS,
} from '@langchain/langgraph-checkpoint'
import type { InkError, Store } from '../../index.ts'
import { Codec, type Coded, isPart } from './codec.ts'
import { configOf, missing, threadOf } from './configs.ts'
import { deltaHistory } from './delta-history.ts'
import { type CheckpointEntry, type Entry, type Found, METADATA, type Opaque, packTime, unpackTime, type WritesEntry } from './entries.ts'
import { keyOf, ofKey, prefixOf, type ThreadKey } from './keys.ts'
import type { LiveLists } from './live-lists.ts'
import { foldWrites } from './pending-writes.ts'
import { keepLatest, withoutRuns } from './prune.ts'
import { descending, type ThreadLog } from './thread-log.ts'
import { type Thread, Threads } from './threads.ts'
import { isSame, type Watch } from './watch.ts'

/** The part of a store that is needed: a store, or a tenant of it. */
export type CheckpointStore = Pick<Store, 'state' | 'values'>

export interface SaverOptions {
  /** Another serializer than the built-in one. */
  readonly serde?: SerializerProtocol
  /** Live elements of lists, such as messages, that are kept so that they need not be read again. Default 100,000. */
  readonly cachedElements?: number
}

export type PruneStrategy = 'keep_latest' | 'delete'

const CACHED_ELEMENTS = 100_000

/** Another process may have saved the parent, so a parent that is not known is looked for in the store. */
async function findParent(log: ThreadLog, id: string): Promise<Found | undefined> {
  const known = await log.find(id)
  if (known) return known
  await log.refresh()
  return log.find(id)
}

const matches = (metadata: object, filter: Readonly<Record<string, unknown>>): boolean =>
  Object.entries(filter).every(([key, value]) => JSON.stringify((metadata as Record<string, unknown>)[key]) === JSON.stringify(value))

export class InkfastSaver extends BaseCheckpointSaver {
  readonly #store: CheckpointStore
  readonly #codec: Codec
  readonly #threads: Threads

  constructor(store: CheckpointStore, options?: SaverOptions)
  // A test passes another comparison of live objects, to show that this one is needed.
  constructor(store: CheckpointStore, options: SaverOptions = {}, same: (watch: Watch) => boolean = isSame) {
    super(options.serde)
    this.#store = store
    this.#codec = new Codec(store, this.serde, options.serde === undefined)
    this.#threads = new Threads(store, this.#codec, same, options.cachedElements ?? CACHED_ELEMENTS)
  }

  async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const at = threadOf(config)
    if (!at) return undefined
    const thread = this.#threads.get(at)
    await thread.log.refresh()
    const id = getCheckpointId(config)
    const found = await thread.log.find(id === '' ? undefined : id)
    return found && this.#tuple(at, found, thread)
  }

  async *list(config: RunnableConfig, options: CheckpointListOptions = {}): AsyncGenerator<CheckpointTuple> {
    const { before, filter } = options
    const wanted = getCheckpointId(config)
    const beforeId = before && getCheckpointId(before)
    let left = options.limit ?? Infinity
    for await (const at of this.#threadsOf(config)) {
      const { log } = this.#threads.get(at)
      await log.refresh()
      for await (const found of descending(log)) {
        if (left <= 0) return
        const { id } = found.checkpoint
        if ((wanted !== '' && id !== wanted) || (beforeId && id >= beforeId)) continue
        if (filter && !matches(await this.#metadata(found.checkpoint), filter)) continue
        left--
        yield this.#tuple(at, found)
      }
    }
  }

  async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const at = threadOf(config)
    if (!at) throw missing('thread_id')
    const parent = config.configurable?.checkpoint_id as string | undefined
    await this.#saving(at, async ({ log, lists }) => {
      const before = parent === undefined ? undefined : (await findParent(log, parent))?.checkpoint
      const coded: (readonly [string, Coded])[] = []
      for (const [channel, value] of Object.entries(checkpoint.channel_values)) {
        if (Object.hasOwn(newVersions, channel)) coded.push([channel, await this.#encode(lists, channel, value)])
        else if (before && before.channel_versions[channel] === checkpoint.channel_versions[channel]) {
          // Versions repeat on forks, so an unchanged channel is taken from the parent and from nowhere else.
          if (Object.hasOwn(before.channel_values, channel)) coded.push([channel, { json: before.channel_values[channel] }])
          else if (before.data && Object.hasOwn(before.data, channel)) coded.push([channel, { opaque: before.data[channel] as Opaque }])
        }
      }
      const about = await this.#codec.encode(metadata)
      const opaque = [...coded, [METADATA, about] as const].flatMap(([name, one]) => ('opaque' in one ? [[name, one.opaque] as const] : []))
      await log.append({
        id: checkpoint.id,
        ...(parent !== undefined && { parents: parent }),
        ts: packTime(checkpoint.ts),
        v: checkpoint.v,
        channel_versions: checkpoint.channel_versions,
        versions_seen: checkpoint.versions_seen,
        channel_values: Object.fromEntries(coded.flatMap(([channel, one]) => ('json' in one ? [[channel, one.json]] : []))),
        metadata: 'json' in about ? about.json : null,
        ...(opaque.length > 0 && { data: Object.fromEntries(opaque) }),
      })
    })
    return configOf(at, checkpoint.id)
  }

  async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    const at = threadOf(config)
    if (!at) throw missing('thread_id')
    const id = config.configurable?.checkpoint_id as string | undefined
    if (id === undefined) throw missing('checkpoint_id')
    await this.#saving(at, async ({ log }) => {
      const values: WritesEntry['values'][number][] = []
      for (const [channel, value] of writes) {
        const coded = await this.#codec.encode(value)
        values.push('json' in coded ? [channel, coded.json] : [channel, null, coded.opaque])
      }
      await log.append({ checkpoint_id: id, id: taskId, values })
    })
  }

  async deleteThread(threadId: string): Promise<void> {
    for await (const at of this.#threadsOf({ configurable: { thread_id: threadId } })) {
      this.#threads.forget(at)
      await this.#store.state.delete(keyOf(at))
    }
  }

  /** Copies all checkpoints and writes of a thread. Nothing is stored again, so the cost does not depend on the length of the thread. */
  async copyThread(sourceThreadId: string, targetThreadId: string): Promise<void> {
    for await (const at of this.#threadsOf({ configurable: { thread_id: targetThreadId } }))
      throw new Error(`Thread "${at.thread}" has checkpoints already, so nothing was copied. Delete it first, or choose another thread id.`)
    for await (const at of this.#threadsOf({ configurable: { thread_id: sourceThreadId } })) {
      const log = await this.#threads.get(at).log.copy()
      await this.#store.state.set(keyOf({ ...at, thread: targetThreadId }), log, { expect: 0 })
    }
  }

  /** Removes all checkpoints of threads but the newest of each namespace (`keep_latest`), or all of them (`delete`). */
  async prune(threadIds: readonly string[], options: { readonly strategy?: PruneStrategy } = {}): Promise<void> {
    for (const threadId of threadIds) {
      if (options.strategy === 'delete') await this.deleteThread(threadId)
      else
        for await (const at of this.#threadsOf({ configurable: { thread_id: threadId } }))
          await this.#rewrite(at, (entries) => keepLatest(entries, this.#metadata))
    }
  }

  /** Removes the checkpoints that runs have made, and the writes on them, in all threads. */
  async deleteForRuns(runIds: readonly string[]): Promise<void> {
    const runs = new Set<unknown>(runIds)
    for await (const at of this.#threadsOf({})) await this.#rewrite(at, (entries) => withoutRuns(entries, this.#metadata, runs))
  }

  override async getDeltaChannelHistory(options: {
    config: RunnableConfig
    channels: string[]
  }): Promise<Record<string, DeltaChannelHistory>> {
    const at = threadOf(options.config)
    if (options.channels.length === 0) return {}
    if (!at) return Object.fromEntries(options.channels.map((channel) => [channel, { writes: [] }]))
    const { log } = this.#threads.get(at)
    await log.refresh()
    return deltaHistory(log, this.#codec, getCheckpointId(options.config), options.channels)
  }

  async #tuple(at: ThreadKey, { checkpoint, writes }: Found, thread?: Thread): Promise<CheckpointTuple> {
    const { id, parents, v } = checkpoint
    const values = await this.#values(checkpoint, thread)
    const versions = { ...checkpoint.channel_versions }
    if (v < 4 && parents !== undefined) {
      const parent = await this.#threads.get(at).log.find(parents)
      // Checkpoints of older formats kept the sends of a step as writes on its parent.
      values[TASKS] = (await this.#pending(parent?.writes ?? [])).flatMap(([, channel, value]) => (channel === TASKS ? [value] : []))
      const known = Object.values(versions)
      versions[TASKS] = known.length > 0 ? maxChannelVersion(...known) : this.getNextVersion(undefined)
    }
    return {
      config: configOf(at, id),
      checkpoint: {
        v,
        id,
        ts: unpackTime(checkpoint.ts),
        channel_values: values,
        channel_versions: versions,
        versions_seen: structuredClone(checkpoint.versions_seen),
      },
      metadata: await this.#metadata(checkpoint),
      ...(parents !== undefined && { parentConfig: configOf(at, parents) }),
      pendingWrites: await this.#pending(writes),
    }
  }

  async #values({ channel_values, data = {} }: CheckpointEntry, thread?: Thread): Promise<Record<string, unknown>> {
    const members: (readonly [string, unknown])[] = []
    for (const [channel, json] of Object.entries(channel_values)) members.push([channel, await this.#decode(channel, json, thread)])
    for (const [channel, opaque] of Object.entries(data))
      if (channel !== METADATA) members.push([channel, await this.#codec.decodeOpaque(opaque)])
    return Object.fromEntries(members)
  }

  /** A list whose elements are held is not read. */
  async #decode(channel: string, json: unknown, thread: Thread | undefined): Promise<unknown> {
    const part = typeof json === 'object' && json !== null && isPart(json) ? json : undefined
    const held = part && thread?.lists.decode(channel, part)
    if (held) return held
    const value = await this.#codec.decode(json)
    if (part && thread && this.#codec.isBuiltIn && Array.isArray(value)) thread.lists.keep(channel, part, value)
    return value
  }

  async #encode(lists: LiveLists, channel: string, value: unknown): Promise<Coded> {
    return this.#codec.isBuiltIn && Array.isArray(value) ? { json: await lists.encode(channel, value) } : this.#codec.encode(value)
  }

  readonly #metadata = async ({ metadata, data }: CheckpointEntry): Promise<CheckpointMetadata> => {
    const opaque = data && Object.hasOwn(data, METADATA) ? data[METADATA] : undefined
    return (opaque ? await this.#codec.decodeOpaque(opaque) : await this.#codec.decode(metadata)) as CheckpointMetadata
  }

  async #pending(writes: readonly WritesEntry[]): Promise<CheckpointPendingWrite[]> {
    const pending: CheckpointPendingWrite[] = []
    for (const { task, channel, content, opaque } of foldWrites(writes))
      pending.push([task, channel, opaque ? await this.#codec.decodeOpaque(opaque) : await this.#codec.decode(content)])
    return pending
  }

  /** Saves, and saves again from scratch if garbage collection has removed something that this process remembered. */
  async #saving(at: ThreadKey, save: (thread: Thread) => Promise<void>): Promise<void> {
    try {
      await save(this.#threads.get(at))
    } catch (error) {
      if ((error as InkError).code !== 'VALUE_MISSING') throw error
      this.#threads.forget(at)
      await save(this.#threads.get(at))
    }
  }

  async #rewrite(at: ThreadKey, keep: (entries: readonly Entry[]) => Promise<readonly Entry[]>): Promise<void> {
    await this.#threads.get(at).log.rewrite(keep)
    this.#threads.forget(at)
  }

  /** The threads and namespaces that a config means. */
  async *#threadsOf({ configurable }: RunnableConfig): AsyncGenerator<ThreadKey, void, undefined> {
    const { thread_id: thread, checkpoint_ns: namespace } = (configurable ?? {}) as { thread_id?: string; checkpoint_ns?: string }
    if (thread !== undefined && namespace !== undefined) yield { thread, namespace }
    else
      for await (const { key } of this.#store.state.list(prefixOf(thread), { lazy: true })) {
        const at = ofKey(key)
        if (namespace === undefined || at.namespace === namespace) yield at
      }
  }
}
