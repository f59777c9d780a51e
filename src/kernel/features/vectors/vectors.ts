// `store.vectors(name, …)`: documents with vectors, and an exact search for the nearest.

import { decodeFloats } from '../../../model/float32.ts'
import { limits } from '../../../model/limits.ts'
import { checkKey, checkKnown, filterOf, invalidOption, isList, optionsOf } from '../../../model/options.ts'
import type { EmbedderMark, Metadata } from '../../../model/vector.ts'
import { abortable, stopIfAsked } from '../../reading/abortable.ts'
import { type Matcher, type MetadataFilter, takeFilter } from '../../reading/metadata-filter.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { isWhole } from '../../writing/draft.ts'
import { retryConflicts } from '../../writing/retry-conflicts.ts'
import type { CollectionSettings } from './collection-decider.ts'
import type { CollectionSummary } from './collections.ts'
import { checkCount, deleteKeys, deleteMatching, documentPages, putDocuments, readDocument, readyDocuments } from './documents.ts'
import { embedTexts, withVectors } from './embed.ts'
import { type CollectionOptions, checkName, collectionOf, type FoundCollection, takeSettings } from './find-collection.ts'
import { indexCache } from './index-cache.ts'
import { searchCollection } from './index-search.ts'
import { resultOf, type SearchResult } from './search.ts'
import { takeDocument, takeVector, type Vector, type VectorDocument } from './take-document.ts'

export interface StoredDocument {
  readonly id: string
  /** The numbers as float32 holds them. */
  readonly vector: readonly number[]
  readonly content?: string
  readonly metadata?: Metadata
  /** The model that made the vector, if the store embedded the content. */
  readonly embedder?: EmbedderMark
}

export interface SearchOptions {
  /** The largest number of documents to return; 10 by default. */
  readonly top?: number
  /** Only documents whose metadata match. */
  readonly filter?: MetadataFilter
  /** Only documents with this score or a larger one. */
  readonly minScore?: number
  readonly signal?: AbortSignal
}

export interface UpsertOptions {
  /** False stores content and metadata exactly. By default, secrets in them are masked. */
  readonly redact?: boolean
  /** Stops the embedder, or between two commits. */
  readonly signal?: AbortSignal
}

export interface CountDocumentsOptions {
  readonly filter?: MetadataFilter
  readonly signal?: AbortSignal
}

export interface DeleteDocumentsOptions {
  readonly ids?: readonly string[]
  readonly filter?: MetadataFilter
  /** Stops between two commits. Documents before it stay deleted. */
  readonly signal?: AbortSignal
}

export interface CollectionInfo extends Omit<CollectionSummary, 'createdAt'> {
  readonly count: number
  /** `memory`: by an index in memory. `pieces`: the collection is too large for it, so every search reads it from the store; results are the same. */
  readonly search: 'memory' | 'pieces'
  /** Absent while the collection has not been created. */
  readonly createdAt?: number
}

export interface VectorCollection {
  readonly name: string
  /** Creates the collection if it does not exist. The first `upsert` does so too. */
  ensure(): Promise<void>
  exists(): Promise<boolean>
  /** Puts documents, each replacing the one with its id. They are written in commits of 64; repeating a failed call is safe. */
  upsert(documents: VectorDocument | readonly VectorDocument[], options?: UpsertOptions): Promise<{ readonly count: number }>
  get(id: string): Promise<StoredDocument | undefined>
  /** Finds the documents nearest to a vector, or to a text that the store's embedder embeds. The result is exact. */
  search(query: Vector | string, options?: SearchOptions): Promise<SearchResult>
  /** Deletes documents by id or by filter. Returns how many there were. */
  delete(which: string | readonly string[] | DeleteDocumentsOptions): Promise<number>
  count(options?: CountDocumentsOptions): Promise<number>
  info(): Promise<CollectionInfo>
}

const TOP = 10

export function vectorCollection(scope: Scope, name: string, options: CollectionOptions | undefined): VectorCollection {
  checkOpen(scope.engine)
  checkName(name)
  return new Documents(scope, name, options && takeSettings(name, options))
}

class Documents implements VectorCollection {
  readonly name: string
  readonly #scope: Scope
  readonly #wanted: CollectionSettings | undefined

  constructor(scope: Scope, name: string, wanted: CollectionSettings | undefined) {
    this.name = name
    this.#scope = scope
    this.#wanted = wanted
  }

  async ensure(): Promise<void> {
    await this.#created()
  }

  async exists(): Promise<boolean> {
    if (this.#wanted) return (await this.#found()) !== undefined
    try {
      return (await this.#found()) !== undefined
    } catch (error) {
      if ((error as { code?: unknown }).code === 'COLLECTION_UNKNOWN') return false
      throw error
    }
  }

  async upsert(documents: VectorDocument | readonly VectorDocument[], options?: UpsertOptions): Promise<{ readonly count: number }> {
    const { redact, signal, ...unknown } = optionsOf(options, 'vectors.upsert')
    checkKnown(unknown, 'vectors.upsert')
    const whole = isWhole(redact)
    const list: readonly unknown[] = isList(documents, 'documents') ? documents : [documents]
    checkCount(list)
    stopIfAsked(this.#scope, signal)
    // Everything is checked before the collection is created.
    const settings = this.#wanted ?? ((await this.#found()) as FoundCollection)
    const taken = await withVectors(
      this.#scope,
      list.map((document) => takeDocument(this.#scope, document, settings, whole)),
      settings,
      signal,
    )
    const ready = readyDocuments(this.#scope, taken)
    // If the collection is dropped meanwhile, the documents go into the next one of this name.
    await retryConflicts(this.#scope, ['vector_collections'], async () => putDocuments(this.#scope, await this.#created(), ready, signal))
    return { count: taken.length }
  }

  async get(id: string): Promise<StoredDocument | undefined> {
    checkKey(id)
    const found = await this.#found()
    const row = found && (await readDocument(this.#scope, found, id))
    if (!row) return undefined
    const { key, vector, content, metadata, embedder } = row
    return {
      id: key,
      vector: Array.from(decodeFloats(vector)),
      ...(content !== undefined && { content }),
      ...(metadata && { metadata }),
      ...(embedder && { embedder }),
    }
  }

  async search(query: Vector | string, options?: SearchOptions): Promise<SearchResult> {
    const {
      top = TOP,
      filter,
      minScore = Number.NEGATIVE_INFINITY,
      signal,
      ...unknown
    } = filterOf(options, 'vectors.search', ['top', 'minScore'])
    checkKnown(unknown, 'vectors.search')
    if (!Number.isInteger(top) || top < 1 || top > limits.vectorTop)
      throw invalidOption('top', `an integer from 1 to ${limits.vectorTop}`, top)
    if (typeof minScore !== 'number' || Number.isNaN(minScore)) throw invalidOption('minScore', 'a number', minScore)
    stopIfAsked(this.#scope, signal)
    const found = await this.#found()
    const settings = found ?? (this.#wanted as CollectionSettings)
    const matches = this.#matcher(filter, settings)
    const given = typeof query === 'string' ? (await embedTexts(this.#scope, [query], { signal }))[0]?.vector : query
    const vector = takeVector(given, settings.dimensions, settings.metric, 'the query')
    return found ? searchCollection(this.#scope, found, { query: vector, top, matches, minScore, signal }) : resultOf([], 0)
  }

  async delete(which: string | readonly string[] | DeleteDocumentsOptions): Promise<number> {
    const { ids, filter, signal, ...unknown } = whichOf(which)
    checkKnown(unknown, 'vectors.delete')
    if ((ids === undefined) === (filter === undefined)) throw invalidOption('delete', 'either ids or a filter')
    if (ids !== undefined && !Array.isArray(ids)) throw invalidOption('ids', 'a list of ids', ids)
    for (const id of ids ?? []) checkKey(id)
    stopIfAsked(this.#scope, signal)
    const found = await this.#found()
    const matches = this.#matcher(filter, found ?? this.#wanted)
    if (!found) return 0
    return matches ? deleteMatching(this.#scope, found, matches, signal) : deleteKeys(this.#scope, found, ids ?? [], signal)
  }

  async count(options?: CountDocumentsOptions): Promise<number> {
    const { filter, signal, ...unknown } = filterOf(options, 'vectors.count')
    checkKnown(unknown, 'vectors.count')
    stopIfAsked(this.#scope, signal)
    const found = await this.#found()
    const matches = this.#matcher(filter, found ?? this.#wanted)
    return found ? this.#counted(found, matches, signal) : 0
  }

  async info(): Promise<CollectionInfo> {
    const found = await this.#found()
    if (!found) return { ...(this.#wanted as CollectionSettings), count: 0, search: 'memory' }
    const { id: _, revision: _r, ...settings } = found
    const count = await this.#counted(found, undefined)
    return { ...settings, count, search: indexCache(this.#scope.engine).isTooLarge(this.#scope, found) ? 'pieces' : 'memory' }
  }

  async #counted(found: FoundCollection, matches: Matcher | undefined, signal?: AbortSignal): Promise<number> {
    const known = await indexCache(this.#scope.engine).with(this.#scope, found, async (index) => {
      if (!matches) return index.count
      let matching = 0
      for (const { metadata } of index.entries()) if (matches(metadata)) matching++
      return matching
    })
    if (known !== undefined) return known
    let count = 0
    for await (const page of abortable(this.#scope, documentPages(this.#scope, found.id), signal))
      count += matches ? page.filter(({ metadata }) => matches(metadata)).length : page.length
    return count
  }

  #matcher(filter: MetadataFilter | undefined, settings: Pick<CollectionSettings, 'fields'> | undefined): Matcher | undefined {
    return filter === undefined ? undefined : takeFilter(filter, settings?.fields)
  }

  /** Undefined while the collection has not been created. Without settings, that is an error. */
  #found(): Promise<FoundCollection | undefined> {
    return collectionOf(this.#scope, this.name, this.#wanted, false)
  }

  async #created(): Promise<FoundCollection> {
    return (await collectionOf(this.#scope, this.name, this.#wanted, true)) as FoundCollection
  }
}

function whichOf(which: unknown): DeleteDocumentsOptions {
  if (typeof which === 'string') return { ids: [which] }
  if (isList(which, 'vectors.delete')) return { ids: which as readonly string[] }
  return filterOf((which ?? null) as object, 'vectors.delete')
}
