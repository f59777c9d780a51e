// The last run of a session, for lists of sessions.

import { decodeBody } from '../../../model/rows.ts'
import type { SessionRow, SessionSummary } from '../../../model/session.ts'
import type { Scope } from '../../wiring/scope.ts'

export async function lastRun({ engine, tenant }: Scope, session: SessionRow): Promise<Partial<SessionSummary>> {
  const query = { index: 'bySession', equals: [session.id], backwards: true, limit: 1 }
  const [stored] = (await engine.backend.rows.list(tenant, 'runs', query)).rows
  if (!stored) return {}
  const { id, name, state, changedAt } = decodeBody(stored.body, stored)
  return { lastRun: { id, name, state, changedAt }, activeAt: changedAt }
}
