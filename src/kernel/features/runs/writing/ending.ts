// Everything that ends together with a run, in one commit: its work item, its questions, its inputs and claims, and the wait of its parent.

import type { RunRow } from '../../../../model/run.ts'
import { workId } from '../../../naming/names.ts'
import type { Scope } from '../../../wiring/scope.ts'
import { type Part, part } from '../../../writing/execute.ts'
import { work } from '../../work/work-decider.ts'
import { wakePart } from '../program/signal.ts'

export type RunEnding = 'done' | 'failed' | 'cancelled'

/** The parts for the row as it was read. The command names the inputs and claims that the run holds, so that exactly those are settled. */
export async function endingParts(scope: Scope, row: RunRow, ending: RunEnding): Promise<readonly Part[]> {
  const { id, session, parent, waits, queued } = row
  const about = { session, run: id }
  const { features } = scope.engine
  return [
    ...(queued ? [part(work, workId(scope, id), { verb: 'complete' }, about)] : []),
    ...features.waitsLeft(scope, waits, about),
    ...(parent ? [wakePart(scope, parent, session)] : []),
    ...(await features.runEnds(scope, row, ending)),
  ]
}
