// What becomes of a process that nobody runs any more. Only what is known ends it: its owner is provably gone, or somebody asked for it to be
// abandoned and nobody holds it. Time alone never does.

import { InkError } from '../../model/errors.ts'
import { limits } from '../../model/limits.ts'
import { type Evidence, hasEnded, type ProcessId, type ProcessRow } from '../../model/process.ts'
import type { Guard } from '../../ports/commit.ts'
import { keeperOf } from '../leases/keeper.ts'
import type { Scope } from '../scope.ts'
import { asAbandoned, endProcess } from './ending.ts'
import { processLease, readProcess } from './ids.ts'
import type { WriteAs } from './write-as.ts'

/** `over`: there is nothing left to see to. Otherwise how long it is left alone. */
export type Seen = { readonly over: true; readonly abandoned: boolean } | { readonly over: false; readonly againMs: number }

const OVER: Seen = { over: true, abandoned: false }

/** How nobody is there to end it, where that is known. */
function evidenceOf(scope: Scope, { abandon, recovery, started }: ProcessRow, fence: number): Evidence | undefined {
  const owner = started && { owner: started.owner }
  const held = fence > 0 ? { fence } : {}
  const gone = started?.mark !== undefined && scope.engine.environment.liveness?.isGone(started.mark) === true
  if (recovery === 'ownerBound' && gone) return { writer: 'sweep', ...owner, ...held }
  return abandon && { writer: 'reconciled', ...owner, ...held }
}

/** Ends it where nobody else will; leaves it alone in any doubt. */
export async function seeTo(scope: Scope, id: ProcessId, hand: WriteAs): Promise<Seen> {
  const keeper = keeperOf(scope.engine)
  const row = await readProcess(scope, id)
  if (!row || hasEnded(row.state)) return OVER
  const standing = await keeper.look(scope.tenant, processLease(scope, id))
  const evidence = evidenceOf(scope, row, standing.fence)
  if (evidence) {
    try {
      const { repeated } = await endProcess(scope, id, hand, asAbandoned(scope, evidence), {}, () => freeGuards(scope, id))
      if (!repeated) return { over: true, abandoned: true }
    } catch (error) {
      // Somebody ended it meanwhile, and better.
      if (error instanceof InkError && (error.code === 'PROCESS_FINISHED' || error.code === 'PROCESS_UNKNOWN')) return OVER
      throw error
    }
  }
  return { over: false, againMs: restMs(scope, row, standing.now) }
}

/** Nobody holds it, nobody here either, and nobody has taken it since; undefined where somebody does. */
export async function freeGuards(scope: Scope, id: ProcessId): Promise<readonly Guard[] | undefined> {
  const keeper = keeperOf(scope.engine)
  const lease = processLease(scope, id)
  const { free, guard } = await keeper.look(scope.tenant, lease)
  return free && !keeper.holds(scope.tenant, lease) ? [guard] : undefined
}

/** The longer it has been so, the less often it is looked at. */
function restMs({ engine }: Scope, { started, abandon, changedAt }: ProcessRow, now: number): number {
  const since = now - Math.max(abandon?.at ?? started?.at ?? changedAt, 0)
  return Math.min(Math.max(keeperOf(engine).ttlMs, since / 4), limits.processRestMostMs)
}
