// The origin of a work item follows every move of the item, in the same commit.

import type { Id } from '../../../model/ids.ts'
import type { ErrorData } from '../../../model/run.ts'
import type { WorkRow } from '../../../model/work.ts'
import type { Scope } from '../../wiring/scope.ts'
import type { Part } from '../../writing/part.ts'
import { type Build, type Share, type TransactOptions, transact } from '../../writing/transact.ts'

/** `failed` is retried; `died` is not. */
export type Move = 'claimed' | 'released' | 'completed' | 'failed' | 'died' | 'cancelled' | 'redriven'

export interface Moved {
  readonly item: Id<'work'>
  /** The row before the move. */
  readonly row: WorkRow
  readonly move: Move
  /** The store time, as far as this node knows it. */
  readonly now: number
  readonly error?: ErrorData
}

/** Returns the parts that go into the commit that moves the item. */
export type FollowItem = (scope: Scope, moved: Moved) => Promise<readonly Part[]>

const NOBODY: readonly Part[] = []

export async function followers(scope: Scope, moved: Moved): Promise<readonly Part[]> {
  const { origin } = moved.row
  return origin && origin.kind !== 'clock' ? (scope.engine.features.follows[origin.kind] as FollowItem)(scope, moved) : NOBODY
}

/** Writes the move of an item together with the parts of its origin, which is asked again when another writer changed it in between. */
export function following<T>(scope: Scope, moved: Omit<Moved, 'now'>, move: Share<T>, options: TransactOptions = {}): Promise<T> {
  const build: Build<T> = async (scope) => {
    if (!moved.row.origin) return move
    return [move, { parts: await followers(scope, { ...moved, now: scope.engine.lane.storeTime() }) }]
  }
  return transact(scope, build, options)
}
