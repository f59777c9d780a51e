// LangGraph's store for memory across threads, on `store.state`. Search filters; it does not rank by meaning, because nothing is embedded.

import {
  BaseStore,
  type GetOperation,
  type Item,
  type ListNamespacesOperation,
  type MatchCondition,
  type Operation,
  type OperationResults,
  type PutOperation,
  type SearchItem,
  type SearchOperation,
} from '@langchain/langgraph-checkpoint'
import type { StateEntry } from '../../index.ts'
import { escapeText, unescapeText } from './keys.ts'
import type { CheckpointStore } from './saver.ts'

interface Stored {
  readonly value: Record<string, unknown>
  readonly createdAt: number
  readonly updatedAt: number
}

const PREFIX = 'lg-store/'
/** Stands between the namespace and the key. No escaped label is empty. */
const END = '/'

export class InkfastStore extends BaseStore {
  readonly #store: CheckpointStore

  constructor(store: CheckpointStore) {
    super()
    this.#store = store
  }

  /** Reads come first, then the writes; of several writes to one key, the last one counts. */
  async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const results: unknown[] = []
    const puts = new Map<string, PutOperation>()
    for (const operation of operations) {
      if ('namespacePrefix' in operation) results.push(await this.#search(operation))
      else if ('value' in operation) {
        puts.set(keyOf(operation), operation)
        results.push(undefined)
      } else if ('key' in operation) results.push(await this.#get(operation))
      else results.push(await this.#listNamespaces(operation))
    }
    for (const [key, operation] of puts) await this.#put(key, operation)
    return results as OperationResults<Op>
  }

  async #get(operation: GetOperation): Promise<Item | null> {
    const entry = await this.#store.state.get(keyOf(operation))
    return entry ? itemOf(entry) : null
  }

  async #put(key: string, { value }: PutOperation): Promise<void> {
    if (value === null) {
      await this.#store.state.delete(key)
      return
    }
    const before = (await this.#store.state.get(key))?.value as Stored | undefined
    const now = Date.now()
    // Members that JSON leaves out, such as undefined ones, are left out here too.
    const stored: Stored = { value: JSON.parse(JSON.stringify(value)), createdAt: before?.createdAt ?? now, updatedAt: now }
    await this.#store.state.set(key, stored)
  }

  async #search({ namespacePrefix, filter = {}, limit = 10, offset = 0 }: SearchOperation): Promise<SearchItem[]> {
    const found: SearchItem[] = []
    let skipped = 0
    for await (const entry of this.#store.state.list(PREFIX + namespacePrefix.map((label) => `${escapeText(label)}/`).join(''))) {
      const item = itemOf(entry)
      if (!Object.entries(filter).every(([field, wanted]) => isMatch(item.value[field], wanted))) continue
      if (skipped++ < offset) continue
      if (found.length === limit) break
      found.push(item)
    }
    return found
  }

  async #listNamespaces({ matchConditions = [], maxDepth = Infinity, limit, offset }: ListNamespacesOperation): Promise<string[][]> {
    const found = new Map<string, string[]>()
    for await (const { key } of this.#store.state.list(PREFIX, { lazy: true })) {
      const { namespace } = placeOf(key)
      if (!matchConditions.every((condition) => isUnder(namespace, condition))) continue
      const cut = namespace.slice(0, maxDepth)
      found.set(JSON.stringify(cut), cut)
    }
    return [...found.values()].slice(offset, offset + limit)
  }
}

const keyOf = ({ namespace, key }: GetOperation): string =>
  `${PREFIX}${namespace.map((label) => `${escapeText(label)}/`).join('')}${END}${escapeText(key)}`

function placeOf(text: string): { readonly namespace: string[]; readonly key: string } {
  const parts = text.slice(PREFIX.length).split('/').map(unescapeText)
  return { namespace: parts.slice(0, -2), key: parts.at(-1) as string }
}

function itemOf(entry: StateEntry): Item {
  const { value, createdAt, updatedAt } = entry.value as Stored
  return { value, ...placeOf(entry.key), createdAt: new Date(createdAt), updatedAt: new Date(updatedAt) }
}

function isUnder(namespace: readonly string[], { matchType, path }: MatchCondition): boolean {
  const from = matchType === 'prefix' ? 0 : namespace.length - path.length
  return from >= 0 && path.length <= namespace.length && path.every((label, i) => label === '*' || label === namespace[from + i])
}

const OPERATORS: Readonly<Record<string, (found: unknown, wanted: unknown) => boolean>> = {
  $eq: (found, wanted) => isEqual(found, wanted),
  $ne: (found, wanted) => !isEqual(found, wanted),
  $gt: (found, wanted) => Number(found) > Number(wanted),
  $gte: (found, wanted) => Number(found) >= Number(wanted),
  $lt: (found, wanted) => Number(found) < Number(wanted),
  $lte: (found, wanted) => Number(found) <= Number(wanted),
  $in: (found, wanted) => Array.isArray(wanted) && wanted.some((one) => isEqual(found, one)),
  $nin: (found, wanted) => !Array.isArray(wanted) || !wanted.some((one) => isEqual(found, one)),
}

function isMatch(found: unknown, wanted: unknown): boolean {
  if (typeof wanted !== 'object' || wanted === null) return found === wanted
  const names = Object.keys(wanted)
  if (names.length === 0 || !names.every((name) => Object.hasOwn(OPERATORS, name))) return isEqual(found, wanted)
  return names.every((name) => OPERATORS[name]?.(found, (wanted as Record<string, unknown>)[name]))
}

const isEqual = (a: unknown, b: unknown): boolean => a === b || JSON.stringify(a) === JSON.stringify(b)
