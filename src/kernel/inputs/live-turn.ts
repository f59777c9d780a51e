// Whether a run that has something in hand will go on with it, as another run of its session may ask that holds the session's lease now.

import type { RunId } from '../../model/ids.ts'
import { isOver, type RunRow } from '../../model/run.ts'
import type { WorkRow } from '../../model/work.ts'
import { readRow } from '../execute.ts'
import { workId } from '../names.ts'
import { readRun } from '../runs/result.ts'
import type { Scope } from '../scope.ts'

/**
 * Whoever claimed under an older lease has let it go. It goes on all the same where it is at work in this process, and where it has put itself to
 * sleep and will be taken up again: what such a run has in hand is not taken from it.
 */
export async function goesOn(scope: Scope, run: RunId): Promise<boolean> {
  if (scope.engine.localRuns.isAtWork(scope.tenant, run)) return true
  const row = await readRun(scope, run)
  // One that waits for the right program, or for somebody to open it, may wait for ever.
  if (!row?.queued || isOver(row.state) || row.error) return false
  const { body } = await readRow(scope, 'work', workId(scope, run))
  const state = (body as WorkRow | undefined)?.state
  return state === 'asleep' || state === 'ready'
}

/**
 * It was at work under the session's lease, which it has not any more, and nobody goes on with it. One that waits is not dead, whoever opens it, and
 * neither is one that nodes take up: whichever died with it, another goes on.
 */
export const hasDied = ({ engine, tenant }: Scope, { id, state, parallel, queued, error }: RunRow): boolean =>
  state === 'running' && !parallel && !(queued && !error) && !engine.localRuns.isAtWork(tenant, id)
