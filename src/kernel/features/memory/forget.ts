// Forgets and purges items. Forgetting hides them. Purging erases every payload about them, and their rows with the index entries.

import { isId } from '../../../model/ids.ts'
import { limits } from '../../../model/limits.ts'
import type { MemoryId, MemoryRow } from '../../../model/memory.ts'
import { checkKnown, invalidOption, optionsOf } from '../../../model/options.ts'
import { decodeBody } from '../../../model/rows.ts'
import { checkReason, eraseSubject } from '../../proof/erase.ts'
import { abortable, stopIfAsked } from '../../reading/abortable.ts'
import { everyPage } from '../../reading/every-row.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { part, plan } from '../../writing/execute.ts'
import { item } from './item-decider.ts'
import { type MemoryFilter, passes, type TakenFilter, takeWholeFilter } from './item-filter.ts'
import { purgeItemVectors } from './item-vectors.ts'
import { itemId } from './items.ts'

export interface ForgetOptions {
  /** Kept in the journal. */
  readonly reason?: string
  /** Stops between two commits. Items before it stay forgotten or purged. */
  readonly signal?: AbortSignal
}

const PAGE = 50

export async function forget(scope: Scope, what: string | MemoryFilter, options?: ForgetOptions): Promise<{ readonly forgotten: number }> {
  const { reason, signal, ...unknown } = optionsOf(options, 'memory.forget')
  checkKnown(unknown, 'memory.forget')
  if (reason !== undefined) checkReason(reason)
  let forgotten = 0
  for await (const ids of abortable(scope, named(scope, what, ['active'], 'memory.forget'), signal)) {
    const { receipts } = await plan(
      scope,
      ids.map((id) => part(item, id, { verb: 'forget', reason })),
    )
    forgotten += receipts.length
  }
  return { forgotten }
}

/** Works in steps. After a crash, the next maintenance purges the rest. */
export async function purge(scope: Scope, what: string | MemoryFilter, options?: ForgetOptions): Promise<{ readonly purged: number }> {
  const { reason = 'purged from memory', signal, ...unknown } = optionsOf(options, 'memory.purge')
  checkKnown(unknown, 'memory.purge')
  checkReason(reason)
  let purged = 0
  for await (const ids of abortable(scope, named(scope, what, ['active', 'forgotten'], 'memory.purge'), signal)) {
    const { receipts } = await plan(
      scope,
      ids.map((id) => part(item, id, { verb: 'purge' })),
    )
    if (receipts.length > 0) await purgeMarked(scope, ids, reason)
    purged += receipts.length
  }
  if (purged > 0) await scope.engine.backend.upkeep.scrub()
  return { purged }
}

/** Purges these items, for maintenance. Those that were remembered or changed since they were seen stay. Returns how many were purged. */
export async function purgeSeen(scope: Scope, all: readonly MemoryRow[], reason: string, signal?: AbortSignal): Promise<number> {
  let purged = 0
  for (let at = 0; at < all.length; at += PAGE) {
    stopIfAsked(scope, signal)
    const some = all.slice(at, at + PAGE)
    const { rows } = await plan(
      scope,
      some.map(({ id, refreshedAt, times }) => part(item, id, { verb: 'purge', seen: { refreshedAt, times } })),
    )
    const marked = rows.flatMap(({ body }) => (body?.state === 'purging' ? [body.id] : []))
    await purgeMarked(scope, marked, reason)
    purged += marked.length
  }
  if (purged > 0) await scope.engine.backend.upkeep.scrub()
  return purged
}

const PURGING = { index: 'byState', equals: ['purging'], limit: PAGE }

/** Counts purges that a crash interrupted, or that are under way. */
export async function countPurges(scope: Scope): Promise<number> {
  let count = 0
  for await (const rows of everyPage(scope, 'memory', PURGING)) count += rows.length
  return count
}

/** Finishes purges that a crash interrupted. */
export async function finishPurges(scope: Scope): Promise<number> {
  let purged = 0
  for await (const rows of everyPage(scope, 'memory', PURGING)) {
    await purgeMarked(
      scope,
      rows.map(({ id }) => id as MemoryId),
      'purged from memory',
    )
    purged += rows.length
  }
  if (purged > 0) await scope.engine.backend.upkeep.scrub()
  return purged
}

/** The rows go last: until then they say what is left to do. */
async function purgeMarked(scope: Scope, ids: readonly MemoryId[], reason: string): Promise<void> {
  if (ids.length === 0) return
  await purgeItemVectors(scope, ids, reason)
  for (const id of ids) await eraseSubject(scope, id, reason)
  await plan(
    scope,
    ids.map((id) => part(item, id, { verb: 'remove' })),
  )
}

/** The ids of one item, or of all that a filter names, page by page. */
async function* named(
  scope: Scope,
  what: string | MemoryFilter,
  states: readonly MemoryRow['state'][],
  of: string,
): AsyncGenerator<readonly MemoryId[], void, undefined> {
  checkOpen(scope.engine)
  if (typeof what === 'string') {
    if (!isId(what)) throw invalidOption(of, 'the id of an item, or a filter', what)
    yield [itemId(scope, what)]
    return
  }
  const filter = takeWholeFilter(what, of)
  for (const state of states)
    for (const about of filter.about ?? [undefined])
      for await (const ids of matching(scope, filter, state, about)) if (ids.length > 0) yield ids
}

async function* matching(scope: Scope, filter: TakenFilter, state: MemoryRow['state'], about: string | undefined) {
  const range = about === undefined ? { index: 'byState', equals: [state] } : { index: 'byAbout', equals: [about, state] }
  for await (const rows of everyPage(scope, 'memory', { ...range, limit: Math.min(PAGE, limits.listRows) }))
    yield rows
      .map(({ body }) => decodeBody(body))
      .filter((row) => passes(row, filter))
      .map(({ id }) => id)
}
