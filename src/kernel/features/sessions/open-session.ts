// Opens a session by its key, or creates it.

import { isId, type SessionId } from '../../../model/ids.ts'
import type { SessionRow } from '../../../model/session.ts'
import type { Guard } from '../../../ports/commit.ts'
import { maskKey } from '../../naming/names.ts'
import { deny } from '../../proof/audit-trail.ts'
import { checkWritten } from '../../reading/forked-history.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { type Part, part, plan } from '../../writing/execute.ts'
import { retryConflicts } from '../../writing/retry-conflicts.ts'
import { type FoundSession, isVisible, readSession, sessionByKey } from './find-session.ts'
import { session as decider } from './session-decider.ts'
import { type SessionOptions, takeSessionOptions } from './session-options.ts'

export interface CreateOptions {
  /** Must hold when the session is created. */
  readonly guards?: readonly Guard[]
  /** Parts that are written in the commit that creates the session. */
  readonly parts?: (session: SessionRow['id']) => Promise<readonly Part[]>
  /** The key may be the id of a session, which is then opened. */
  readonly orById?: boolean
  /** A title that comes from a message. */
  readonly derived?: string | undefined
}

export interface OpenedSession extends FoundSession {
  /** Whether this call created the session. */
  readonly created: boolean
}

/** Opens the session that has this id or key, or creates one with this key. */
export const openNamed = (scope: Scope, named: string, options?: SessionOptions): Promise<OpenedSession> =>
  openSession(scope, named, options, { orById: true })

/** Options matter only when the session is created. */
export async function openSession(
  scope: Scope,
  key: string,
  options: SessionOptions = {},
  { guards = [], parts, orById = false, derived }: CreateOptions = {},
): Promise<OpenedSession> {
  checkOpen(scope.engine)
  const named = maskKey(scope, key)
  const byId = async () => (orById && isId(key) ? readSession(scope, key as SessionId) : undefined)
  const set = ownedBy(scope, await takeSessionOptions(scope, options))
  let made: SessionRow['id'] | undefined
  const isThere = async () => (await sessionByKey(scope, key)) !== undefined
  // After any refusal the session is looked up again: another caller may have created it.
  const opened = await retryConflicts<OpenedSession>(scope, isThere, async (attempt) => {
    const found = (await byId()) ?? (await sessionByKey(scope, key, attempt === 1))
    // A commit whose answer was lost may have created the session all the same.
    if (found) return { ...found, created: found.row.id === made }
    if (set.relation?.at !== undefined) await checkWritten(scope, set.relation.at)
    const id = scope.engine.newId<'session'>()
    made = id
    const open = part(decider, id, { verb: 'open', set: { key: named, ...set }, derived }, { session: id })
    const { rows } = await plan(scope, [open, ...((await parts?.(id)) ?? [])], { guards })
    const row = rows[0].body
    // A restored clock and entropy source may repeat an id: then the row belongs to another session.
    if (!row || row.key !== named) return openSession(scope, key, options, { guards, ...(parts && { parts }), derived })
    scope.engine.sessions.set(scope.tenant, id, { revision: rows[0].revision, state: row.state })
    return { row, revision: rows[0].revision, created: true }
  })
  // Outside of the retry: a session of another owner stays one.
  return { ...checkOwner(scope, opened, set.owner), created: opened.created }
}

/** A view that is limited to an owner creates sessions of that owner only. */
function ownedBy<Set extends { readonly owner?: string | undefined }>(scope: Scope, set: Set): Set {
  if (scope.own === undefined) return set
  if (set.owner !== undefined && set.owner !== scope.own) throw deny(scope, 'SESSION_OWNED', { session: 'that is new', owner: scope.own })
  return { ...set, owner: scope.own }
}

/** A caller that names an owner gets no session of another one, nor one that everybody may open. */
function checkOwner(scope: Scope, found: FoundSession, owner: string | undefined): FoundSession {
  const { row } = found
  if (!isVisible(scope, row)) throw deny(scope, 'SESSION_OWNED', { session: row.id, owner: scope.own })
  if (owner !== undefined && row.owner !== owner)
    throw deny(scope, 'SESSION_OWNED', { session: row.id, owner, ...(row.owner === undefined && { ownerless: true }) })
  return found
}
