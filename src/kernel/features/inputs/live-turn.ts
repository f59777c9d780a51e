// Tells whether a run that has claimed something will go on with it. The run that holds the session's lease now asks.

import type { RunId } from '../../../model/ids.ts'
import { isOver, type RunRow } from '../../../model/run.ts'
import type { WorkRow } from '../../../model/work.ts'
import { workId } from '../../naming/names.ts'
import type { Scope } from '../../wiring/scope.ts'
import { readRow } from '../../writing/execute.ts'
import { localRunsOf } from '../runs/node/local-runs.ts'
import { readRun } from '../runs/result.ts'

/**
 * A run that claimed under an older lease has lost that lease. It still goes on when it executes in this process, or when it is parked and
 * will be resumed. Another run must not take what such a run has claimed.
 */
export async function goesOn(scope: Scope, run: RunId): Promise<boolean> {
  if (localRunsOf(scope.engine).isAtWork(scope.tenant, run)) return true
  const row = await readRun(scope, run)
  // A run that waits for the right program, or for a caller to open it, may wait for ever.
  if (!row?.queued || isOver(row.state) || row.error) return false
  const { body } = await readRow(scope, 'work', workId(scope, run))
  const state = (body as WorkRow | undefined)?.state
  return state === 'asleep' || state === 'ready'
}

/**
 * Whether a run is dead: it executed under the session's lease, has lost it, and no process continues it. A waiting run is not dead, and
 * neither is a run from a queue: when its node dies, another node continues it.
 */
export const hasDied = ({ engine, tenant }: Scope, { id, state, parallel, queued, error }: RunRow): boolean =>
  state === 'running' && !parallel && !(queued && !error) && !localRunsOf(engine).isAtWork(tenant, id)
