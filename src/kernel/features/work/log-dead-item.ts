// Tells the log that an item is dead: it stays in its queue until a person redrives or cancels it.

import type { ErrorData } from '../../../model/run.ts'
import type { WorkRow } from '../../../model/work.ts'
import { logFailure } from '../../failing/log-failure.ts'
import type { Scope } from '../../wiring/scope.ts'

export function logDeadItem(scope: Scope, id: string, { queue, attempt, origin }: WorkRow, error: ErrorData): void {
  logFailure(scope, {
    what: 'a work item is dead',
    of: { item: id, queue, attempt, ...(origin && { origin: `${origin.kind} ${origin.id}` }) },
    error,
    look: { verb: 'queue show', words: [`'${queue}'`, id] },
  })
}
