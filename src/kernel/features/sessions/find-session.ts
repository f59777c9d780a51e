// Finds sessions by key or id, and lists them. Rows only: the public handle is in session.ts.

import { refuse } from '../../../model/errors.ts'
import { isId, type SessionId, toId } from '../../../model/ids.ts'
import type { SessionRow } from '../../../model/session.ts'
import { nameHolder } from '../../naming/erased-names.ts'
import { maskKey } from '../../naming/names.ts'
import { checkSessionName } from '../../session/session-named.ts'
import { readSessionRow } from '../../session/session-row.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { telling } from '../../writing/draft.ts'

export interface FoundSession {
  readonly row: SessionRow
  /** The seq of the last event that changed the row. */
  readonly revision: number
}

/** Finds a session by its key and never creates one. `first` skips keys that were erased: the caller goes on to take the key. */
export async function sessionByKey(scope: Scope, key: string, first = false): Promise<FoundSession | undefined> {
  checkOpen(scope.engine)
  const id = await nameHolder<'session'>(scope, 'session', maskKey(scope, key), first)
  return id && readSession(scope, id)
}

export async function sessionById(scope: Scope, id: string): Promise<FoundSession | undefined> {
  checkOpen(scope.engine)
  return readSession(
    scope,
    telling(scope, () => toId<'session'>(id)),
  )
}

/** Finds a session that a caller names by its key or its id. */
export async function sessionNamed(scope: Scope, given: string): Promise<FoundSession | undefined> {
  const named = checkSessionName(scope, given)
  return (isId(named) ? await sessionById(scope, named) : undefined) ?? (await sessionByKey(scope, named))
}

/** The same; SESSION_UNKNOWN where there is none, or none that the view may see. */
export async function theSession(scope: Scope, named: string): Promise<SessionRow> {
  const found = await sessionNamed(scope, named)
  if (!found || !isVisible(scope, found.row)) throw refuse('SESSION_UNKNOWN', { session: named, tenant: scope.tenant })
  return found.row
}

export async function readSession(scope: Scope, id: SessionId): Promise<FoundSession | undefined> {
  const { body, revision } = await readSessionRow(scope, id)
  if (!body) return undefined
  scope.engine.sessions.set(scope.tenant, id, { revision, state: body.state })
  return { row: body, revision }
}

/** Whether a view that is limited to an owner may see the session. */
export const isVisible = ({ own }: Pick<Scope, 'own'>, row: SessionRow): boolean => own === undefined || row.owner === own
