// What an item came from hears of everything that happens to it, in the same commit.

import type { Id } from '../../model/ids.ts'
import type { ErrorData } from '../../model/run.ts'
import type { Origin, WorkRow } from '../../model/work.ts'
import type { Part } from '../execute.ts'
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
export type Follow = (scope: Scope, moved: Moved) => Promise<readonly Part[]>

export type Follows = Readonly<Record<Origin['kind'], Follow>>

const NOBODY: readonly Part[] = []

export const followers = async (scope: Scope, moved: Moved): Promise<readonly Part[]> =>
  moved.row.origin ? scope.engine.follows[moved.row.origin.kind](scope, moved) : NOBODY
