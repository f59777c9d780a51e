// Who has an item in hand right now, for people who look at it from outside.

import type { Id } from '../../model/ids.ts'
import type { WorkRow } from '../../model/work.ts'
import type { RunHolder } from '../runs/holder.ts'
import type { Scope } from '../scope.ts'

/** As of a run: who, under which fence, until when, and whether whoever comes next may take it. */
export type WorkHolder = RunHolder

/** Undefined where nobody has claimed it. */
export async function workHolder({ engine, tenant }: Scope, id: Id<'work'>, row: WorkRow): Promise<WorkHolder | undefined> {
  if (row.state !== 'claimed') return undefined
  const { now, leases } = await engine.backend.leases.read(tenant, [id], 'work')
  const { fence = 0, until: renewed = 0 } = leases[0] ?? {}
  // A renewal is not a commit, so the row knows nothing of it.
  const until = Math.max(row.at ?? 0, renewed)
  const gone = row.mark !== undefined && (engine.environment.liveness?.isGone(row.mark) ?? false)
  return { owner: row.owner ?? '', fence, until, lapsed: until <= now || gone, now }
}
