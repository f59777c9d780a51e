// Tells the log that a run has failed: nobody may be waiting for its result.

import type { RunRow } from '../../../../model/run.ts'
import { logFailure } from '../../../failing/log-failure.ts'
import type { Scope } from '../../../wiring/scope.ts'

export function logFailedRun(scope: Scope, { id, name, error }: Pick<RunRow, 'id' | 'name' | 'error'>): void {
  if (!error) return
  logFailure(scope, { what: 'a run has failed', of: { run: id, name }, error, look: { verb: 'runs show', words: [id] } })
}
