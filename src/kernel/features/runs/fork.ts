// Forks a run: another run that shares what was recorded up to a seq. Nothing is copied.

import { refuse } from '../../../model/errors.ts'
import type { RunRow } from '../../../model/run.ts'
import { load } from '../../content/json-or-blob.ts'
import { leaseId, maskKey } from '../../naming/names.ts'
import type { Scope } from '../../wiring/scope.ts'
import { isConflict } from '../../writing/commit-outcome.ts'
import { NOT_THERE, part, plan } from '../../writing/execute.ts'
import { keeperOf } from '../leases/keeper.ts'
import { type ForkOptions, takeForkPoint } from '../sessions/fork-session.ts'
import { checkKnownRun, runByName } from './find-run.ts'
import { checkpointAt, checkpointGuards } from './program/inherited-checkpoint.ts'
import type { Run } from './program/run-calls.ts'
import { readRun } from './result.ts'
import type { handOf } from './run.ts'
import { run as decider } from './run-decider.ts'

export type { ForkOptions }

/** The fork runs beside its source, under a lease of its own. A parent of the source does not wait for it. */
export async function forkRun(scope: Scope, { id: source }: Pick<RunRow, 'id'>, options: ForkOptions, hand: typeof handOf): Promise<Run> {
  const { engine, tenant } = scope
  const at = await takeForkPoint(scope, options)
  // The run is read now, because erased members must not come back.
  const from = await readRun(scope, source)
  if (!from) throw refuse('RUN_UNKNOWN', { run: source, tenant })
  const id = engine.newId<'run'>()
  const key = options.key === undefined ? id : maskKey(scope, options.key)
  const { session, name, input, origin } = from
  // An input that cannot be read is refused before a lease is taken, as for opening.
  checkKnownRun(from)
  await load(scope, input)
  const about = { session, run: id }
  const fork = { run: from.id, at }
  const checkpoint = await checkpointAt(scope, fork)
  const set = { session, name, key, parallel: true, origin, fork, ...(checkpoint && { checkpoint }), ...(input && { input }) }
  const lease = leaseId(scope, session, id, true)
  const keeper = keeperOf(engine)
  const begin = part(decider, id, { verb: 'begin', id, set }, { ...about, seen: NOT_THERE, guards: checkpointGuards(checkpoint) })
  try {
    return await keeper.alone(tenant, lease, async () => {
      const standing = await keeper.look(tenant, lease)
      const { rows } = await plan(scope, [keeper.takePart(lease, name, standing, about), begin], { open: session })
      return hand(scope, keeper.keep(tenant, lease, rows[0]), id, rows[1])
    })
  } catch (error) {
    if (!isConflict(error, 'names')) throw error
    const other = await runByName(scope, session, name, key)
    throw refuse('KEY_REUSED', { run: other?.id ?? '', name, state: other?.state ?? '', key })
  }
}
