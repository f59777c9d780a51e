// Everything that ends together with a run, in one commit: its work item, the questions it asked, what it has in hand, and its parent's sleep.

import type { RunRow } from '../../model/run.ts'
import { type Part, part } from '../execute.ts'
import { workId } from '../names.ts'
import type { Scope } from '../scope.ts'
import { work } from '../work/work-decider.ts'
import { wakePart } from './signal.ts'

export type RunEnding = 'done' | 'failed' | 'cancelled'

/** The parts for the row as it was seen. The command that ends the run names what it has in hand, so that nothing else is settled. */
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
