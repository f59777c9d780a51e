// Claims a run: its work item, its lease and the run itself change in one commit.

import { assert, refuse } from '../../../../model/errors.ts'
import type { Id } from '../../../../model/ids.ts'
import { limits } from '../../../../model/limits.ts'
import type { TableRow } from '../../../../model/rows.ts'
import type { RunRow } from '../../../../model/run.ts'
import type { WorkRow } from '../../../../model/work.ts'
import { errorData } from '../../../failing/error-data.ts'
import { leaseId } from '../../../naming/names.ts'
import type { Scope } from '../../../wiring/scope.ts'
import { type DoneRow, part, plan, readRow } from '../../../writing/execute.ts'
import { openGuard } from '../../../writing/session-guard.ts'
import { heldBy, keeperOf } from '../../leases/keeper.ts'
import { work } from '../../work/work-decider.ts'
import { handOf, type RunInHand } from '../run.ts'
import { run as decider, holdingsOf } from '../run-decider.ts'
import { endingParts } from '../writing/ending.ts'
import { logFailedRun } from './log-failed-run.ts'

export type Claimed = { readonly run: RunInHand } | { readonly failed: true }

/** Claims the run of an item as the caller listed it. RUN_HELD or CONFLICT when another holder has it. */
export async function claimRun(scope: Scope, stored: TableRow<'work'>, listed: WorkRow): Promise<Claimed> {
  const { engine, tenant } = scope
  assert(listed.run, 'an item in a queue of runs names its run')
  const seen = await readRow(scope, 'runs', listed.run)
  const row = seen.body
  if (!row) throw refuse('RUN_UNKNOWN', { run: listed.run, tenant })
  await openGuard(scope, row.session)
  const lease = leaseId(scope, row.session, row.id, row.parallel)
  return keeperOf(engine).alone(tenant, lease, () => claimWith(scope, lease, stored, listed, { ...seen, body: row }))
}

async function claimWith(
  scope: Scope,
  lease: Id<'lease'>,
  { id: item, revision }: TableRow<'work'>,
  listed: WorkRow,
  seen: DoneRow<RunRow> & { readonly body: RunRow },
): Promise<Claimed> {
  const { engine, tenant } = scope
  const { body: row } = seen
  const { id, session, name } = row
  const about = { session, run: id }
  const standing = await keeperOf(engine).look(tenant, lease)
  // Only the lease is renewed, so it tells whether the holder of a claim is alive. Runs of a session come one after the other, also on one
  // node, so this process does not share a lease that it holds already.
  if (!standing.free || keeperOf(engine).holds(tenant, lease)) throw refuse('RUN_HELD', heldBy(name, standing))
  const until = standing.now + keeperOf(engine).ttlMs
  const asListed = { body: listed, revision }
  const claim = part(
    work,
    item as Id,
    { verb: 'claim', ...keeperOf(engine).holder, now: standing.now, until, free: true },
    { ...about, seen: asListed },
  )
  // The commit fails when another node has taken the lease or the item since.
  const guards = [standing.guard, { kind: 'row', table: 'work', id: item, revision }] as const
  if (listed.strikes + 1 >= limits.runStrikes && listed.state === 'claimed') {
    const error = { name: 'Poisoned', message: `every node that claimed it died (${listed.strikes + 1} times in a row)` }
    const fail = part(decider, id, { verb: 'fail', id, holdings: holdingsOf(row), error }, about)
    await plan(scope, [fail, ...(await endingParts(scope, row, 'failed'))], { guards })
    logFailedRun(scope, { ...row, error })
    return { failed: true }
  }
  const begin = part(decider, id, { verb: 'begin', id }, { ...about, seen })
  const { rows } = await plan(scope, [keeperOf(engine).takePart(lease, name, standing, about), claim, begin], { guards })
  const hold = keeperOf(engine).keep(tenant, lease, rows[0])
  try {
    return { run: await handOf(scope, hold, id, rows[2]) }
  } catch (error) {
    // The input cannot be read: the run waits until an operator has repaired it.
    const halt = part(decider, id, { verb: 'halt', id, error: errorData(scope, error) }, about)
    await plan(scope, [halt, part(work, item as Id, { verb: 'park' }, about), keeperOf(engine).releasePart(hold, about)])
    engine.environment.logger.error('a run cannot be taken up', { run: id, name, error: String(error) })
    return { failed: true }
  }
}
