// What ends together with a run: the item it waited by, the questions it asked, what it has in hand, and the sleep of the run that started it.

import type { RunRow } from '../../model/run.ts'
import { withdrawParts } from '../approvals/approvals.ts'
import { type Part, part } from '../execute.ts'
import type { Ending } from '../inputs/input-decider.ts'
import { settleParts } from '../inputs/settle.ts'
import { workId } from '../names.ts'
import type { Scope } from '../scope.ts'
import { work } from '../work/work-decider.ts'
import { wakePart } from './signal.ts'

/** For the row as it is seen: the command that ends the run says what it has in hand, so that nothing is settled that was not looked at. */
export async function endingParts(scope: Scope, row: RunRow, how: Ending): Promise<readonly Part[]> {
  const { id, session, parent, waits, queued } = row
  const about = { session, run: id }
  return [
    ...(queued ? [part(work, workId(scope, id), { verb: 'complete' }, about)] : []),
    ...withdrawParts(scope, waits, about),
    ...(parent ? [wakePart(scope, parent, session)] : []),
    ...(await settleParts(scope, row, how)),
  ]
}
