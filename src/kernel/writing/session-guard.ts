// Guards a commit by its session: the session is open and has not changed since this node last saw it.

import { refuse } from '../../model/errors.ts'
import { type SessionId, toId } from '../../model/ids.ts'
import type { Guard } from '../../ports/commit.ts'
import { deny } from '../proof/audit-trail.ts'
import type { SeenSession } from '../session/session-memory.ts'
import { readSessionRow } from '../session/session-row.ts'
import type { Scope } from '../wiring/scope.ts'

// No row has this revision, so a guard on it never holds.
const NEVER = -1

export const stillOpen = (id: SessionId, revision: number): Guard => ({ kind: 'row', table: 'sessions', id, revision })

/** Whether this node last saw the session open. What it writes is guarded all the same. */
export const isSeenOpen = ({ engine, tenant }: Scope, id: SessionId): boolean => engine.sessions.get(tenant, id)?.state === 'open'

/** A keyed retry must reach its receipt even if the session was closed since: the backend looks at the key before the guards. */
export async function openGuard(scope: Scope, id: SessionId, keyed = false): Promise<Guard> {
  // Only an open session is taken from memory: another process may have reopened one that was closed when last seen.
  const seen = scope.engine.sessions.get(scope.tenant, id)
  const { revision, state } = seen?.state === 'open' ? seen : await lookAtSession(scope, id)
  if (state !== 'open' && !keyed) throw closed(scope, id, state)
  return stillOpen(id, state === 'open' ? revision : NEVER)
}

/** Reads the session again after a conflict. A rename is harmless; an archived or deleted session is refused. */
export async function lookAgain(scope: Scope, id: SessionId): Promise<void> {
  const { state } = await lookAtSession(scope, id)
  if (state !== 'open') throw closed(scope, id, state)
}

async function lookAtSession(scope: Scope, id: SessionId): Promise<SeenSession> {
  const { body: row, revision } = await readSessionRow(scope, toId<'session'>(id))
  if (!row) throw refuse('SESSION_UNKNOWN', { session: id, tenant: scope.tenant })
  const seen = { revision, state: row.state }
  scope.engine.sessions.set(scope.tenant, id, seen)
  return seen
}

const closed = (scope: Scope, session: SessionId, state: SeenSession['state']) =>
  deny(scope, state === 'archived' ? 'SESSION_ARCHIVED' : 'SESSION_DELETED', { session })
