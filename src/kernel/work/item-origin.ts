// What an item came from hears of everything that happens to it, in the same commit.

import type { Id } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import type { ErrorData } from '../../model/run.ts'
import type { WorkRow } from '../../model/work.ts'
import type { Part } from '../execute.ts'
import { isConflict } from '../outcome.ts'
import { pause } from '../retry-conflicts.ts'
import type { Scope } from '../scope.ts'

/** `failed` is tried again; `died` is not. */
export type Move = 'claimed' | 'released' | 'completed' | 'failed' | 'died' | 'cancelled' | 'redriven'

export interface Moved {
  readonly item: Id<'work'>
  /** As it was before. */
  readonly row: WorkRow
  readonly move: Move
  /** Store time, as far as it is known here. */
  readonly now: number
  readonly error?: ErrorData
}

/** The parts that go into the commit by which the item moves. */
export type FollowItem = (scope: Scope, moved: Moved) => Promise<readonly Part[]>

const NOBODY: readonly Part[] = []

export async function followers(scope: Scope, moved: Moved): Promise<readonly Part[]> {
  const { origin } = moved.row
  return origin && origin.kind !== 'clock' ? (scope.engine.features.follows[origin.kind] as FollowItem)(scope, moved) : NOBODY
}

/** Where what it came from was changed by somebody else meanwhile, that is looked at again. */
export async function following<T>(scope: Scope, moved: Omit<Moved, 'now'>, write: (followed: readonly Part[]) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await write(await followers(scope, { ...moved, now: scope.engine.lane.storeTime() }))
    } catch (error) {
      if (!moved.row.origin || !isConflict(error, ...scope.engine.features.followed) || tries === limits.conflictRetries) throw error
      await pause(scope, tries)
    }
  }
}
