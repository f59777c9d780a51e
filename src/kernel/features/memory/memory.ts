// `store.memory`: long-term memory of a tenant.

import { isId, type SessionId } from '../../../model/ids.ts'
import { checkFlag, checkKnown, listOf, optionsOf } from '../../../model/options.ts'
import type { Page } from '../../reading/list-rows.ts'
import { purgeTime } from '../../time/purge-time.ts'
import type { Scope } from '../../wiring/scope.ts'
import { type BackfillOptions, type BackfillReport, backfill, type EmbeddingsReport, embeddingsOf } from './backfill.ts'
import { embedLater } from './backfill-clock.ts'
import { type CoreMemory, coreMemory } from './core.ts'
import { type ForgetOptions, forget, purge } from './forget.ts'
import type { MemoryFilter } from './item-filter.ts'
import { checkAbout } from './item-options.ts'
import {
  getItem,
  type LinkOptions,
  type ListMemoryOptions,
  linkItems,
  listItems,
  type UpdateMemoryOptions,
  unlinkItems,
  updateItem,
} from './items.ts'
import { type MemoryMaintenance, maintainMemory } from './maintain-memory.ts'
import type { MemoryItem } from './memory-item.ts'
import { type Hits, type RecallOptions, recall } from './recall.ts'
import { quoteTexts } from './recalled-text.ts'
import { type Remembering, type RememberOptions, remember, rememberAll } from './remember.ts'
import { type MemoryNotice, type MemorySubscribeOptions, subscribe } from './subscribe.ts'

export interface StoreMemory {
  /** Remembers a text. Identical text in one scope is one item: remembering it again refreshes it. */
  remember(text: string, options?: RememberOptions): Promise<MemoryItem>
  /** Remembers many texts, ten in each commit. */
  rememberAll(items: readonly Remembering[], options?: { readonly signal?: AbortSignal }): Promise<readonly MemoryItem[]>
  /** Finds items by what they say. Every hit explains its score. Any text is a question; none is a syntax error. */
  recall(text: string, options?: RecallOptions): Promise<Hits>
  /** Returns undefined for an item that is not there, was forgotten, or has expired. */
  get(id: string): Promise<MemoryItem | undefined>
  /** Changes an item. Null takes a member away. */
  update(id: string, options: UpdateMemoryOptions): Promise<MemoryItem>
  /** Newest first. */
  list(options?: ListMemoryOptions): Promise<Page<MemoryItem>>
  /** Hides one item, or all that a filter names. Remembering the text again brings an item back. */
  forget(what: string | MemoryFilter, options?: ForgetOptions): Promise<{ readonly forgotten: number }>
  /** Removes the text, the index entries and the payloads in the journal. */
  purge(what: string | MemoryFilter, options?: ForgetOptions): Promise<{ readonly purged: number }>
  /** Embeds items that have no vector of the present embedder yet. It also runs every ten minutes while there are any. */
  backfill(options?: BackfillOptions): Promise<BackfillReport>
  /** The embedder, and how many items have a vector, or why not. */
  embeddings(): Promise<EmbeddingsReport>
  /** Links an item to another. A link of the same type to the same item is replaced. */
  link(from: string, to: string, options?: LinkOptions): Promise<void>
  unlink(from: string, to: string, type?: string): Promise<void>
  /** Core memory of a user, an agent or another scope. Core memory of a session is `session.core`. */
  core(about: string): CoreMemory
  /** Removes what has expired or is beyond a limit, as `store.maintain()` does. With `dryRun` it only counts. */
  maintain(options?: { readonly dryRun?: boolean; readonly signal?: AbortSignal }): Promise<MemoryMaintenance>
  /** Tells of changes from now on, until the signal or the loop ends it. */
  subscribe(options?: MemorySubscribeOptions): AsyncGenerator<MemoryNotice, void, undefined>
  /** Texts as a block for a prompt. `remember` leaves such blocks out, so that recalled text is not remembered again. */
  quote(items: readonly (Pick<MemoryItem, 'text'> | { readonly item: Pick<MemoryItem, 'text'> })[]): string
}

export const storeMemory = (scope: Scope): StoreMemory => ({
  remember: async (text, options) => {
    const made = await remember(scope, text, options)
    await embedLater(scope)
    return made
  },
  rememberAll: async (items, options) => {
    const made = await rememberAll(scope, items, options)
    await embedLater(scope)
    return made
  },
  recall: (text, options) => recall(scope, text, options),
  get: (id) => getItem(scope, id),
  update: async (id, options) => {
    const made = await updateItem(scope, id, options)
    await embedLater(scope)
    return made
  },
  list: (options) => listItems(scope, options),
  forget: (what, options) => forget(scope, what, options),
  purge: (what, options) => purge(scope, what, options),
  backfill: (options) => backfill(scope, options),
  embeddings: () => embeddingsOf(scope),
  link: (from, to, options) => linkItems(scope, from, to, options),
  unlink: (from, to, type) => unlinkItems(scope, from, to, type),
  core: (about) => {
    checkAbout(about)
    const [kind, name] = about.split('/')
    // Named by its id, a session has the same blocks here: they are archived and deleted with it.
    return coreMemory(scope, about, kind === 'session' && isId(name) ? (name as SessionId) : undefined)
  },
  maintain: async (options) => {
    const { dryRun = false, signal, ...unknown } = optionsOf(options, 'memory.maintain')
    checkKnown(unknown, 'memory.maintain')
    checkFlag('dryRun', dryRun)
    return maintainMemory(scope, await purgeTime(scope), { dryRun, signal })
  },
  subscribe: (options) => subscribe(scope, options),
  quote: (items) => quoteTexts((listOf(items, 'items') ?? []).map((one) => ('item' in one ? one.item.text : one.text))),
})
