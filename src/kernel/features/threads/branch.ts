// One branch of a thread: a message and its ancestors, leaf first. A message without a parent follows the one that was added before it.

import type { TableRow } from '../../../model/rows.ts'
import { everyRow } from '../../reading/every-row.ts'
import type { Scope } from '../../wiring/scope.ts'
import type { ThreadPlace } from './list-messages.ts'
import { messageRowId } from './plan-messages.ts'
import { messageOf } from './stored-rows.ts'

interface BranchRange {
  readonly from?: number
  readonly below?: number
}

const PAGE = 64

/**
 * Walks up the chain of parents. A parent is older than its child, so the thread is read backwards in pages, and rows of other branches are
 * passed over. A parent that is far away is read by its id instead.
 */
export async function* branchRows(
  scope: Scope,
  { session, thread }: ThreadPlace,
  leaf: TableRow<'messages'>,
  { from = 0, below = Infinity }: BranchRange,
): AsyncGenerator<TableRow<'messages'>, void, undefined> {
  let at: TableRow<'messages'> | undefined = leaf
  while (at) {
    // The pages behind this row hold its ancestors, most of them next to each other.
    const behind: AsyncGenerator<TableRow<'messages'>> = everyRow(scope, 'messages', {
      index: 'byThread',
      equals: [session, thread],
      below: at.born,
      backwards: true,
      limit: PAGE,
    })
    let next: string | null | undefined = yield* step(at, from, below)
    at = undefined
    if (next === null) return
    let passed = 0
    for await (const row of behind) {
      const { message } = messageOf(row)
      if (next === undefined || message === next) {
        next = yield* step(row, from, below)
        passed = 0
        if (next === null) return
      } else if (++passed === PAGE) {
        at = await scope.engine.backend.rows.get(scope.tenant, 'messages', messageRowId(scope, session, next))
        // A parent that was erased in the source of a fork is not in the fork.
        if (!at) return
        break
      }
    }
  }
}

/** Yields a row that is in the range, and returns its parent: null if the walk ends here. */
function* step(row: TableRow<'messages'>, from: number, below: number): Generator<TableRow<'messages'>, string | null | undefined> {
  if (row.born < from) return null
  if (row.born < below) yield row
  return messageOf(row).parent
}
