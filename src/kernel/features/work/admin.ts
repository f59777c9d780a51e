// Work items from outside: finds them, cancels them, and redrives dead letters.

import { InkError, refuse } from '../../../model/errors.ts'
import { type Id, toId } from '../../../model/ids.ts'
import { limits } from '../../../model/limits.ts'
import { checkKnown, filterOf, invalidOption, optionsOf } from '../../../model/options.ts'
import { decodeBody } from '../../../model/rows.ts'
import type { WorkRow } from '../../../model/work.ts'
import { isUnmasked } from '../../content/json-or-blob.ts'
import { everyRow } from '../../reading/every-row.ts'
import { storeNow } from '../../time/store-time.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { telling } from '../../writing/draft.ts'
import { type DoneRow, part, readRow } from '../../writing/part.ts'
import { following } from './item-origin.ts'
import { localNodesOf } from './local-nodes.ts'
import { toItem, type WorkItem } from './offer.ts'
import { work } from './work-decider.ts'

export interface RedriveOptions {
  /** The largest number of items, in the order of claiming. The default is all dead letters. */
  readonly most?: number
}

const PAGE = 50

export async function find(
  scope: Scope,
  queue: string,
  given: string,
): Promise<{ readonly id: string; readonly row: WorkRow } | undefined> {
  checkOpen(scope.engine)
  const id = telling(scope, () => toId<'work'>(given))
  const { body: row } = await readRow(scope, 'work', id)
  return row?.queue === queue ? { id, row } : undefined
}

export async function cancel(scope: Scope, queue: string, given: string, options?: { readonly reason?: string }): Promise<WorkItem> {
  const { reason = '', ...unknown } = optionsOf(options, 'cancel')
  checkKnown(unknown, 'cancel')
  if (typeof reason !== 'string' || reason.length > limits.reasonChars)
    throw invalidOption('reason', `a text of at most ${limits.reasonChars} characters`)
  const found = await find(scope, queue, given)
  if (!found) throw refuse('WORK_UNKNOWN', { item: given })
  const { row } = found
  const id = found.id as Id<'work'>
  await following(scope, { item: id, row, move: 'cancelled' }, { parts: [part(work, id, { verb: 'cancel', reason, id })] })
  return { ...toItem(id, row), state: 'cancelled' }
}

export async function redrive(scope: Scope, queue: string, which?: string | RedriveOptions): Promise<readonly WorkItem[]> {
  const given = typeof which === 'object' ? undefined : which
  const { most = Infinity, ...unknown } = filterOf(typeof which === 'object' ? which : undefined, 'queue.redrive')
  // A misspelt option would otherwise redrive everything.
  checkKnown(unknown, 'redrive')
  if (most !== Infinity && !(Number.isSafeInteger(most) && most >= 1)) throw invalidOption('most', 'an integer ≥ 1', most)
  const at = await storeNow(scope)
  const anew = async (id: Id<'work'>, row: WorkRow): Promise<WorkItem> => {
    const driving = part(work, id, { verb: 'redrive', id, at }, { whole: isUnmasked(row.payload) })
    const committed = ([left]: readonly DoneRow[]) => toItem(id, left?.body as WorkRow)
    return following(scope, { item: id, row, move: 'redriven' }, { parts: [driving], committed })
  }
  const driven = new Map<string, WorkItem>()
  if (given !== undefined) {
    const found = await find(scope, queue, given)
    if (!found) throw refuse('WORK_UNKNOWN', { item: given })
    driven.set(found.id, await anew(found.id as Id<'work'>, found.row))
  } else {
    checkOpen(scope.engine)
    for await (const { id, body } of everyRow(scope, 'work', { index: 'byReady', equals: [queue, 'dead'], limit: PAGE })) {
      if (driven.size >= most) break
      // Each item is redriven once. An item that dies again in between stays dead.
      if (driven.has(id)) continue
      try {
        driven.set(id, await anew(id as Id<'work'>, decodeBody(body, { id })))
      } catch (error) {
        // Another caller redrove or removed it first.
        if (!(error instanceof InkError && (error.code === 'WORK_NOT_DEAD' || error.code === 'WORK_UNKNOWN'))) throw error
      }
    }
  }
  localNodesOf(scope.engine).wake()
  return [...driven.values()]
}
