// A run that events may name: it belongs to their session and has not ended.

import { refuse } from '../../model/errors.ts'
import type { RunId, SessionId } from '../../model/ids.ts'
import { decodeBody } from '../../model/rows.ts'
import { isOver } from '../../model/run.ts'
import type { Scope } from '../wiring/scope.ts'

export async function checkOpenRun({ engine, tenant }: Scope, run: RunId, session: SessionId | undefined): Promise<void> {
  const stored = await engine.backend.rows.get(tenant, 'runs', run)
  const row = stored && decodeBody(stored.body, stored)
  if (!row || row.session !== session) throw refuse('RUN_UNKNOWN', { run, tenant, ...(session && { session }) })
  if (isOver(row.state)) throw refuse('RUN_FINISHED', { run, name: row.name, state: row.state })
}
