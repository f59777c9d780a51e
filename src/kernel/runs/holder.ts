// Who may write for a run right now, for people who look at it from outside.

import type { RunRow } from '../../model/run.ts'
import { keeperOf } from '../leases/keeper.ts'
import { leaseId } from '../names.ts'
import type { Scope } from '../scope.ts'

export interface RunHolder {
  readonly owner: string
  readonly fence: number
  /** Store time, renewals included. */
  readonly until: number
  /** Its time is over, or its process is provably gone: whoever comes next may take the run up. */
  readonly lapsed: boolean
  /** Store time, now. */
  readonly now: number
}

/** Undefined where nobody ever held it, or it was given back. A run without a lease of its own is held by whoever holds its session. */
export async function holderOf(scope: Scope, { id, session, parallel }: RunRow): Promise<RunHolder | undefined> {
  const keeper = keeperOf(scope.engine)
  const { row, free, fence, now, until } = await keeper.look(scope.tenant, leaseId(scope, session, id, parallel))
  if (row?.state !== 'held') return undefined
  // What this process holds is free for itself, and for nobody else.
  const own = row.incarnation === keeper.holder.incarnation
  return { owner: row.owner, fence, until, lapsed: own ? until <= now : free, now }
}
