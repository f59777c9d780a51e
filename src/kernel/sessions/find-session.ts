// Finds sessions by key or id, and lists them. Rows only: the public handle is in session.ts.

import { refuse } from '../../model/errors.ts'
import { isId, type SessionId, toId } from '../../model/ids.ts'
import { checkKnown, optionsOf } from '../../model/options.ts'
import { decodeBody } from '../../model/rows.ts'
import type { SessionRow, SessionState } from '../../model/session.ts'
import { telling } from '../draft.ts'
import { nameHolder } from '../erased-names.ts'
import { readRow } from '../execute.ts'
import { checkLast } from '../list.ts'
import { maskKey } from '../names.ts'
import { checkOpen, type Scope } from '../scope.ts'
import { checkOwnerId } from './session-options.ts'

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

/** Finds a session that a caller names by its key or its id; SESSION_UNKNOWN where there is none. */
export async function theSession(scope: Scope, named: string): Promise<SessionRow> {
  const found = (isId(named) ? await sessionById(scope, named) : undefined) ?? (await sessionByKey(scope, named))
  if (!found) throw refuse('SESSION_UNKNOWN', { session: named, tenant: scope.tenant })
  return found.row
}

export async function readSession(scope: Scope, id: SessionId): Promise<FoundSession | undefined> {
  const { body, revision } = await readRow(scope, 'sessions', id)
  if (!body) return undefined
  scope.engine.sessions.set(scope.tenant, id, { revision, state: body.state })
  return { row: body, revision }
}

export interface ListOptions {
  readonly state?: SessionState
  readonly owner?: string
  /** Returns at most this many sessions, newest first. The default is 50. */
  readonly last?: number
  /** Returns at most this many sessions, oldest first. */
  readonly first?: number
  readonly cursor?: string
}

export async function listSessions(
  scope: Scope,
  options: ListOptions = {},
): Promise<{ readonly items: readonly SessionRow[]; readonly cursor?: string }> {
  checkOpen(scope.engine)
  const { state, owner, cursor, last, first, ...unknown } = optionsOf(options, 'list')
  checkKnown(unknown, 'a list of sessions')
  const limit = last ?? first ?? 50
  if (owner !== undefined) checkOwnerId(owner)
  checkLast(limit, 'sessions')
  if (state !== undefined && !['open', 'archived', 'deleted'].includes(state))
    throw refuse('RANGE_INVALID', { why: `unknown session state '${state}'` })
  const [index, equals] =
    owner === undefined
      ? state === undefined
        ? ['byBorn', []]
        : ['byState', [state]]
      : state === undefined
        ? ['byOwner', [owner]]
        : ['byOwnerAndState', [owner, state]]
  const page = await scope.engine.backend.rows.list(scope.tenant, 'sessions', {
    index,
    equals,
    limit,
    backwards: first === undefined,
    ...(cursor !== undefined && { cursor }),
  })
  return { items: page.rows.map((row) => decodeBody(row.body)), ...(page.cursor !== undefined && { cursor: page.cursor }) }
}
