// What ends together with a run: the item it waited by, the questions it asked, and the sleep of the run that started it.

import type { RunRow } from '../../model/run.ts'
import { type Part, part } from '../execute.ts'
import type { Scope } from '../scope.ts'
import { work } from '../work/work-decider.ts'
import { withdrawParts } from './approvals.ts'
import { workId } from './names.ts'
import { wakePart } from './signal.ts'

export function endingParts(scope: Scope, { id, session, parent, waits, queued }: RunRow): readonly Part[] {
  const about = { session, run: id }
  return [
    ...(queued ? [part(work, workId(scope, id), { verb: 'complete' }, about)] : []),
    ...withdrawParts(waits, about),
    ...(parent ? [wakePart(scope, parent, session)] : []),
  ]
}
