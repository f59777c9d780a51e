// The holder of a work item: who has claimed it right now.

import type { Id } from '../../../model/ids.ts'
import type { WorkRow } from '../../../model/work.ts'
import type { Scope } from '../../wiring/scope.ts'
import type { LeaseHolder } from '../leases/lease-holder.ts'

/** Undefined if nobody has claimed it. */
export async function workHolder({ engine, tenant }: Scope, id: Id<'work'>, row: WorkRow): Promise<LeaseHolder | undefined> {
  if (row.state !== 'claimed') return undefined
  const { now, leases } = await engine.backend.leases.read(tenant, [id], 'work')
  const { fence = 0, until: renewed = 0 } = leases[0] ?? {}
  // A renewal is not a commit, so the row does not show it.
  const until = Math.max(row.at ?? 0, renewed)
  const gone = row.mark !== undefined && (engine.environment.liveness?.isGone(row.mark) ?? false)
  return { owner: row.owner ?? '', fence, until, lapsed: until <= now || gone, now }
}
