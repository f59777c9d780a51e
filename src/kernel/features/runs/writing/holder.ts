// The holder of a run: who may write for it right now.

import type { RunRow } from '../../../../model/run.ts'
import { leaseId } from '../../../naming/names.ts'
import type { Scope } from '../../../wiring/scope.ts'
import { keeperOf } from '../../leases/keeper.ts'
import type { LeaseHolder } from '../../leases/lease-holder.ts'

/** Undefined if there never was a holder, or the lease was released. A run without its own lease is held by the holder of its session. */
export async function holderOf(scope: Scope, { id, session, parallel }: RunRow): Promise<LeaseHolder | undefined> {
  const keeper = keeperOf(scope.engine)
  const { row, free, fence, now, until } = await keeper.look(scope.tenant, leaseId(scope, session, id, parallel))
  if (row?.state !== 'held') return undefined
  // A lease that this process holds is free for this process only.
  const own = row.incarnation === keeper.holder.incarnation
  return { owner: row.owner, fence, until, lapsed: own ? until <= now : free, now }
}
