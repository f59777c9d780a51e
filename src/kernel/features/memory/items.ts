// Reads, changes and links items.

import { utf8Length } from '../../../model/bytes.ts'
import { refuse } from '../../../model/errors.ts'
import { toId } from '../../../model/ids.ts'
import { limits } from '../../../model/limits.ts'
import type { MemoryId, MemoryRow } from '../../../model/memory.ts'
import { checkKnown, invalidOption, optionsOf } from '../../../model/options.ts'
import { type Duration, milliseconds } from '../../../model/time.ts'
import { nameHolder } from '../../naming/erased-names.ts'
import { listMatching } from '../../reading/list-matching.ts'
import type { Page, PageOptions } from '../../reading/list-rows.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { isConflict } from '../../writing/commit-outcome.ts'
import { admit, isWhole, telling } from '../../writing/draft.ts'
import { part, plan, readRow } from '../../writing/execute.ts'
import { item, type MemoryChange, nameOf } from './item-decider.ts'
import { isExpired, type MemoryFilter, passes, takeFilter } from './item-filter.ts'
import { type ContentOptions, takeContent, takeText } from './item-options.ts'
import { type MemoryItem, toItem } from './memory-item.ts'
import { withoutRecalled } from './recalled-text.ts'
import { digestOf, threadOf } from './remember.ts'
import { storeNow } from './store-now.ts'

/** Members that are replaced. Null takes one away. */
export type UpdateMemoryOptions = { readonly [K in keyof ContentOptions]?: ContentOptions[K] | null | undefined } & {
  readonly text?: string
  readonly ttl?: Duration | null
  /** `false` stores the text unmasked. */
  readonly redact?: boolean
}

export interface ListMemoryOptions extends MemoryFilter, PageOptions {
  /** Items that were forgotten instead of those that are there. */
  readonly forgotten?: boolean
}

export interface LinkOptions {
  /** `related` by default. */
  readonly type?: string
  /** From 0 to 1; 1 by default. */
  readonly weight?: number
}

export const itemId = (scope: Scope, id: string): MemoryId => telling(scope, () => toId<'memory'>(id))

export async function getItem(scope: Scope, id: string): Promise<MemoryItem | undefined> {
  checkOpen(scope.engine)
  const { body: row } = await readRow(scope, 'memory', itemId(scope, id))
  if (row?.state !== 'active' || row.text === undefined) return undefined
  return row.expires !== undefined && isExpired(row, await storeNow(scope)) ? undefined : toItem(row)
}

export async function updateItem(scope: Scope, given: string, options: UpdateMemoryOptions): Promise<MemoryItem> {
  checkOpen(scope.engine)
  const id = itemId(scope, given)
  const { text, ttl, redact, tags, source, kind, importance, confidence, metadata, valid, ...unknown } = optionsOf(options, 'memory.update')
  checkKnown(unknown, 'memory.update')
  if (kind === null) throw invalidOption('kind', 'a kind', kind)
  const named = Object.entries({ tags, source, kind, importance, confidence, metadata, valid })
  const gone = named.filter(([, value]) => value === null)
  const content = telling(scope, () => takeContent(Object.fromEntries(named.filter(([, value]) => value !== null && value !== undefined))))
  const kept = text === undefined ? undefined : telling(scope, () => takeText(typeof text === 'string' ? withoutRecalled(text) : text))
  const said = { ...content, ...(kept !== undefined && { text: kept }) }
  const masked = (isWhole(redact) ? said : admit(scope, said)) as typeof said
  const { body: row } = await readRow(scope, 'memory', id)
  if (row?.state !== 'active' || (row.expires !== undefined && isExpired(row, await storeNow(scope))))
    throw refuse('MEMORY_UNKNOWN', { id })
  const ms = ttl === undefined || ttl === null ? undefined : milliseconds(ttl)
  if (ms === 0) throw invalidOption('ttl', 'a time above zero', ttl)
  const change: MemoryChange = {
    ...Object.fromEntries(gone),
    ...masked,
    ...(masked.text !== undefined && { bytes: utf8Length(masked.text), textDigest: digestOf(scope, row.about, masked.text) }),
    ...(source !== undefined && { thread: threadOf(row.about, masked.source).thread ?? null }),
    ...(ttl === null && { ttl: null, expires: null }),
    ...(ms !== undefined && { ttl: ms, expires: (await storeNow(scope)) + ms }),
  }
  if (Object.keys(change).length === 0) return toItem(row)
  try {
    const { rows } = await plan(scope, [part(item, id, { verb: 'update', change }, { whole: true })])
    return toItem(rows[0].body as MemoryRow)
  } catch (error) {
    if (!isConflict(error, 'names') || !change.textDigest) throw error
    const other = await nameHolder(scope, 'memory', nameOf(row.about, change.textDigest))
    throw refuse('MEMORY_EXISTS', { id, other: other ?? '' }, error)
  }
}

/** Newest first. A page may be short and still have a cursor, because the number of items that are read is limited. */
export async function listItems(scope: Scope, options: ListMemoryOptions | undefined): Promise<Page<MemoryItem>> {
  const [filter, { forgotten = false, ...paging }] = takeFilter<ListMemoryOptions>(options, 'memory.list', ['forgotten'])
  if (typeof forgotten !== 'boolean') throw invalidOption('forgotten', 'true or false', forgotten)
  checkOpen(scope.engine)
  const state = forgotten ? 'forgotten' : 'active'
  const now = await storeNow(scope)
  const [about] = filter.about?.length === 1 ? filter.about : []
  const page = await listMatching(
    scope,
    'memory',
    {
      ...(about === undefined ? { index: 'byState', equals: [state] } : { index: 'byAbout', equals: [about, state] }),
      matches: (row) => row.text !== undefined && !isExpired(row, now) && passes(row, filter),
    },
    paging,
  )
  return { ...page, items: page.items.map(toItem) }
}

export async function linkItems(scope: Scope, from: string, to: string, options: LinkOptions | undefined): Promise<void> {
  checkOpen(scope.engine)
  const { type = 'related', weight = 1, ...unknown } = optionsOf(options, 'memory.link')
  checkKnown(unknown, 'a link')
  if (typeof type !== 'string' || type === '' || type.length > limits.memoryTagBytes) throw invalidOption('type', 'a short text', type)
  if (typeof weight !== 'number' || !(weight >= 0 && weight <= 1)) throw invalidOption('weight', 'a number from 0 to 1', weight)
  const target = itemId(scope, to)
  if (target === itemId(scope, from)) throw invalidOption('to', 'another item than `from`', to)
  if (!(await getItem(scope, target))) throw refuse('MEMORY_UNKNOWN', { id: target })
  const { body: row } = await readRow(scope, 'memory', itemId(scope, from))
  if ((row?.links?.length ?? 0) >= limits.memoryLinks) throw invalidOption('links', `at most ${limits.memoryLinks} links of an item`)
  await plan(scope, [part(item, itemId(scope, from), { verb: 'link', link: { to: target, type, weight } })])
}

export async function unlinkItems(scope: Scope, from: string, to: string, type: string | undefined): Promise<void> {
  checkOpen(scope.engine)
  await plan(scope, [part(item, itemId(scope, from), { verb: 'unlink', to: itemId(scope, to), type })])
}
