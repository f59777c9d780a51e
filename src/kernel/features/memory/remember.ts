// Remembers texts. Identical text in one scope is one item: its digest is a name that two rows cannot hold.

import { hex, utf8, utf8Length } from '../../../model/bytes.ts'
import { refuse } from '../../../model/errors.ts'
import { toId } from '../../../model/ids.ts'
import { limits } from '../../../model/limits.ts'
import type { MemoryId, MemoryRow, MemorySource } from '../../../model/memory.ts'
import { checkKnown, invalidOption, optionsOf } from '../../../model/options.ts'
import { type Duration, milliseconds } from '../../../model/time.ts'
import { nameHolder } from '../../naming/erased-names.ts'
import { stopIfAsked } from '../../reading/abortable.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { isConflict } from '../../writing/commit-outcome.ts'
import { admit, isWhole, telling } from '../../writing/draft.ts'
import { NOT_THERE, type Part, part, readAhead, readRow } from '../../writing/part.ts'
import { type Share, transact } from '../../writing/transact.ts'
import { item, nameOf, type Remembered } from './item-decider.ts'
import { type ContentOptions, checkAbout, takeContent, takeText } from './item-options.ts'
import { type MemoryItem, toItem } from './memory-item.ts'
import { withoutRecalled } from './recalled-text.ts'
import { storeNow } from './store-now.ts'

export interface RememberOptions extends ContentOptions {
  /** The scope: `shared` (the default), or user, session, channel, workspace or agent, a slash and a name. */
  readonly about?: string
  /** The item expires this long after it was last remembered. Without it, it does not expire. */
  readonly ttl?: Duration
  /** The id of an item that this one replaces. */
  readonly supersedes?: string
  /** `false` stores the text unmasked. */
  readonly redact?: boolean
}

export interface Remembering extends RememberOptions {
  readonly text: string
}

export interface Prepared {
  readonly item: Remembered & { readonly textDigest: string }
  readonly supersedes?: MemoryId
}

/** Items in one commit: a search must not wait long for a bulk ingest. */
const AT_ONCE = 10

export async function remember(scope: Scope, text: string, options: RememberOptions | undefined): Promise<MemoryItem> {
  checkOpen(scope.engine)
  const [made] = await write(scope, [takeRemembering(scope, text, options)])
  return made as MemoryItem
}

/** Checks a text and its options before anything is written. */
export const takeRemembering = (scope: Scope, text: string, options: RememberOptions | undefined): Prepared =>
  telling(scope, () => prepare(scope, text, optionsOf(options, 'memory.remember')))

/**
 * Remembers many texts, a few in each commit. After a crash or an abort, the caller remembers all of them again: those that are there are
 * refreshed.
 */
export async function rememberAll(
  scope: Scope,
  list: readonly Remembering[],
  options?: { readonly signal?: AbortSignal },
): Promise<readonly MemoryItem[]> {
  checkOpen(scope.engine)
  const { signal, ...unknown } = optionsOf(options, 'memory.rememberAll')
  checkKnown(unknown, 'memory.rememberAll')
  if (!Array.isArray(list)) throw invalidOption('memory.rememberAll', 'an array', list)
  const prepared = list.map((one) => {
    const { text, ...options } = optionsOf(one, 'memory.rememberAll')
    return telling(scope, () => prepare(scope, text, options))
  })
  const made: MemoryItem[] = []
  for (let at = 0; at < prepared.length; ) {
    stopIfAsked(scope, signal)
    const some: Prepared[] = []
    const names = new Set<string>()
    for (; at < prepared.length && some.length < AT_ONCE; at++) {
      const one = prepared[at] as Prepared
      const name = nameOf(one.item.about, one.item.textDigest)
      // The same text twice, or two items that supersede something, come in different commits.
      if (names.has(name) || (one.supersedes && some.length > 0)) break
      names.add(name)
      some.push(one)
      if (one.supersedes) {
        at++
        break
      }
    }
    made.push(...(await write(scope, some)))
  }
  return made
}

function prepare(scope: Scope, given: unknown, options: RememberOptions): Prepared {
  const { about = 'shared', ttl, supersedes, redact, tags, source, kind, importance, confidence, metadata, valid, ...unknown } = options
  checkKnown(unknown, 'an item of memory')
  checkAbout(about)
  const text = takeText(typeof given === 'string' ? withoutRecalled(given) : given)
  const content = takeContent(withoutUndefined({ tags, source, kind, importance, confidence, metadata, valid }))
  const ms = ttl === undefined ? undefined : milliseconds(ttl)
  if (ms === 0) throw invalidOption('ttl', 'a time above zero', ttl)
  const said = { text, ...content }
  const kept = (isWhole(redact) ? said : admit(scope, said)) as typeof said
  return {
    item: {
      ...kept,
      about,
      bytes: utf8Length(kept.text),
      textDigest: digestOf(scope, about, kept.text),
      ...threadOf(about, kept.source),
      ...(ms !== undefined && { ttl: ms }),
    },
    ...(supersedes !== undefined && { supersedes: toId<'memory'>(supersedes) }),
  }
}

const withoutUndefined = <T extends object>(given: T): { [K in keyof T]?: NonNullable<T[K]> } =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as { [K in keyof T]?: NonNullable<T[K]> }

export const digestOf = ({ engine }: Scope, about: string, text: string): string =>
  hex(engine.environment.digest.sha256(utf8(`inkfast/memory/${about}\0${text}`)))

/** Items with a source session or file are neighbours of the others from there. */
export function threadOf(about: string, source: MemorySource | undefined): { readonly thread?: string } {
  const from = source?.session !== undefined ? `session:${source.session}` : source?.file !== undefined ? `file:${source.file}` : undefined
  return from === undefined ? {} : { thread: `${about} ${from}` }
}

/** Remembered again without a time of its own, an item lives as long again. */
const ttlOf = async (scope: Scope, id: MemoryId | undefined): Promise<number | undefined> =>
  id && (await readRow(scope, 'memory', id)).body?.ttl

const write = async (scope: Scope, some: readonly Prepared[]): Promise<readonly MemoryItem[]> =>
  (await transact(scope, (scope) => rememberShare(scope, some)).catch(asTaken(some))).map(toItem)

interface RememberShare extends Share<readonly MemoryRow[]> {
  readonly parts: readonly Part[]
}

/** The share of items in a commit: it answers with their rows. */
export async function rememberShare(scope: Scope, some: readonly Prepared[]): Promise<RememberShare> {
  readAhead(
    scope,
    some.flatMap(({ supersedes }) => (supersedes ? { table: 'memory', id: supersedes } : [])),
  )
  const isDated = some.some(({ supersedes, item: { ttl } }) => supersedes || ttl !== undefined)
  const [told, ...holders] = await Promise.all([
    isDated ? storeNow(scope) : undefined,
    ...some.map(({ item: { about, textDigest } }) => nameHolder<'memory'>(scope, 'memory', nameOf(about, textDigest), true)),
  ])
  const ttls = await Promise.all(some.map(({ item: { ttl } }, i) => ttl ?? ttlOf(scope, holders[i])))
  const now = told ?? (ttls.some((ttl) => ttl !== undefined) ? await storeNow(scope) : 0)
  const parts = some.map(({ item: said, supersedes }, i) => {
    const id = holders[i] ?? scope.engine.newId<'memory'>()
    const ttl = ttls[i]
    const expires = ttl === undefined ? {} : { expires: now + ttl }
    // An item that replaces another is true from then on, unless it says since when.
    const valid = supersedes === undefined ? {} : { valid: { from: now, ...said.valid } }
    const command = { verb: 'remember', item: { ...said, ...expires, ...valid } } as const
    return part(item, id, command, { whole: true, ...(!holders[i] && { seen: NOT_THERE }) })
  })
  const superseding = some.flatMap(({ supersedes, item: { valid } }, i) => {
    const by = parts[i]?.id as MemoryId
    return supersedes && supersedes !== by ? [part(item, supersedes, { verb: 'supersede', by, from: valid?.from ?? now })] : []
  })
  return {
    parts: [...parts, ...superseding],
    committed: (rows) => rows.slice(0, some.length).map(({ body }) => body as MemoryRow),
  }
}

/** Others keep remembering the same text, and this call was too late each time. */
export const asTaken =
  (some: readonly Prepared[]) =>
  (error: unknown): never => {
    throw isConflict(error, 'names')
      ? refuse('CONFLICT', { table: 'memory', id: String(some[0]?.item.about), tries: limits.conflictRetries }, error)
      : error
  }
