// Recovers a process that nobody runs any more. Only evidence ends it: its owner is provably gone, or a caller asked to abandon it and nobody
// holds it. Time alone never ends a process.

import { InkError } from '../../../model/errors.ts'
import { limits } from '../../../model/limits.ts'
import { type Evidence, hasEnded, type ProcessId, type ProcessRow } from '../../../model/process.ts'
import type { Guard } from '../../../ports/commit.ts'
import type { Scope } from '../../wiring/scope.ts'
import { keeperOf } from '../leases/keeper.ts'
import { asAbandoned, endProcess } from './ending.ts'
import { processLease, readProcess } from './ids.ts'
import type { WriteAs } from './write-as.ts'

/** `over`: nothing is left to do. Otherwise the delay until the next look. */
export type Seen = { readonly over: true; readonly abandoned: boolean } | { readonly over: false; readonly againMs: number }

const OVER: Seen = { over: true, abandoned: false }

/** The evidence that nobody will end the process, if there is any. */
function evidenceOf(scope: Scope, { abandon, recovery, started }: ProcessRow, fence: number): Evidence | undefined {
  const owner = started && { owner: started.owner }
  const held = fence > 0 ? { fence } : {}
  const gone = started?.mark !== undefined && scope.engine.environment.liveness?.isGone(started.mark) === true
  if (recovery === 'ownerBound' && gone) return { writer: 'sweep', ...owner, ...held }
  return abandon && { writer: 'reconciled', ...owner, ...held }
}

/** Ends the process if nobody else will. In any doubt it does nothing. */
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
      // Another caller has ended it, with better knowledge.
      if (error instanceof InkError && (error.code === 'PROCESS_FINISHED' || error.code === 'PROCESS_UNKNOWN')) return OVER
      throw error
    }
  }
  return { over: false, againMs: restMs(scope, row, standing.now) }
}

/** The guard that nobody holds the lease, here or elsewhere. Undefined if there is a holder. */
export async function freeGuards(scope: Scope, id: ProcessId): Promise<readonly Guard[] | undefined> {
  const keeper = keeperOf(scope.engine)
  const lease = processLease(scope, id)
  return keeper.alone(scope.tenant, lease, async () => {
    const { free, guard } = await keeper.look(scope.tenant, lease)
    return free && !keeper.holds(scope.tenant, lease) ? [guard] : undefined
  })
}

/** Backoff: the longer this state lasts, the longer the delay until the next look. */
function restMs({ engine }: Scope, { started, abandon, changedAt }: ProcessRow, now: number): number {
  const since = now - Math.max(abandon?.at ?? started?.at ?? changedAt, 0)
  return Math.min(Math.max(keeperOf(engine).ttlMs, since / 4), limits.processRestMostMs)
}
