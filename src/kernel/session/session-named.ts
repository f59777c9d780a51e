// The session that a caller names, by its key or by its id. An id comes first, where a text could be both.

import { refuse } from '../../model/errors.ts'
import { isId, type SessionId } from '../../model/ids.ts'
import { expected, ownMembers } from '../../model/options.ts'
import { nameHolder } from '../naming/erased-names.ts'
import { maskKey } from '../naming/names.ts'
import { checkOpen, type Scope } from '../wiring/scope.ts'
import { telling } from '../writing/draft.ts'
import { readSessionRow } from './session-row.ts'

/** The id that no session has. A read that is narrowed by it finds nothing. */
export const NO_SESSION = '0'.repeat(26) as SessionId

/**
 * The session whose records a read is narrowed to. A key that no session has gives NO_SESSION, as an unknown id finds nothing: the history of a
 * conversation that has not begun is empty.
 */
export async function sessionToRead(scope: Scope, named: unknown): Promise<SessionId> {
  checkOpen(scope.engine)
  const text = checkSessionName(scope, named)
  const isKnown = isId(text) && (scope.engine.sessions.get(scope.tenant, text as SessionId) ?? (await readSessionRow(scope, text)).body)
  if (isKnown) return text as SessionId
  const id = await nameHolder<'session'>(scope, 'session', maskKey(scope, text))
  // Keys can be guessed. A view that is limited to an owner does not tell that others have one.
  const isShown = id !== undefined && (scope.own === undefined || (await readSessionRow(scope, id)).body?.owner === scope.own)
  if (isShown) return id
  return isId(text) ? (text as SessionId) : NO_SESSION
}

/** Throws for anything but a text, before it is taken for a key. */
export const checkSessionName = (scope: Scope, named: unknown): string =>
  telling(scope, () => {
    if (typeof named !== 'string') throw refuse('ID_INVALID', { why: expected('the key or the id of a session', named) })
    return named
  })

/** The session that a command writes to or names. SESSION_UNKNOWN for a key that no session has; the command itself looks at the id. */
export async function sessionToWrite(scope: Scope, named: unknown): Promise<SessionId> {
  const id = await sessionToRead(scope, named)
  if (id === NO_SESSION) throw refuse('SESSION_UNKNOWN', { session: String(named), tenant: scope.tenant })
  return id
}

/** Replaces keys by ids. Sessions that this node has seen by their ids stay as they are, so that the usual append reads nothing. */
export async function withSessionIds<T extends { readonly session?: string | undefined }>(
  scope: Scope,
  given: readonly (T | undefined)[],
): Promise<readonly (T | undefined)[]> {
  const { engine, tenant } = scope
  const isSeen = (session: unknown) =>
    session === undefined || (isId(session) && engine.sessions.get(tenant, session as SessionId) !== undefined)
  if (given.every((one) => isSeen(one?.session))) return given
  const withId = async (one: T | undefined) =>
    one?.session === undefined ? one : ownMembers({ ...one, session: await sessionToWrite(scope, one.session) })
  return Promise.all(given.map(withId))
}
