// Opens a session by its key, or creates it.

import { isId, type SessionId } from '../../../model/ids.ts'
import type { SessionRow } from '../../../model/session.ts'
import { maskKey } from '../../naming/names.ts'
import { deny } from '../../proof/audit-trail.ts'
import { checkWritten } from '../../reading/forked-history.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { part } from '../../writing/part.ts'
import { type Build, type Share, transact } from '../../writing/transact.ts'
import { type FoundSession, isVisible, readSession, sessionByKey } from './find-session.ts'
import { session as decider } from './session-decider.ts'
import { type SessionOptions, type TakenOptions, takeSessionOptions } from './session-options.ts'

export interface Beginning {
  readonly set: TakenOptions
  /** A title that comes from a message. */
  readonly derived?: string | undefined
  /** Written in the commit that creates the session. */
  readonly share?: (session: SessionId) => Promise<Share>
}

export interface OpenedSession extends FoundSession {
  /** Whether this call created the session. */
  readonly created: boolean
}

/** Opens the session that has this id or key, or creates one with this key. Options matter only when it is created. */
export async function openNamed(scope: Scope, named: string, options: SessionOptions = {}): Promise<OpenedSession> {
  checkOpen(scope.engine)
  maskKey(scope, named)
  // The options are taken before the first wait: the caller may change them after the call.
  const set = await takeSessionOptions(scope, options)
  const found = isId(named) ? await readSession(scope, named as SessionId) : undefined
  if (found) return { ...checkOwner(scope, found, ownedBy(scope, set).owner), created: false }
  return beginSession(scope, named, async () => ({ set }))
}

/** Opens the session with this key, or creates one that begins as `begin` says. It is asked again if a row that it read has changed. */
export async function beginSession(scope: Scope, key: string, begin: (scope: Scope) => Promise<Beginning>): Promise<OpenedSession> {
  checkOpen(scope.engine)
  const named = maskKey(scope, key)
  let owner: string | undefined
  let made: SessionId | undefined
  const build: Build<OpenedSession> = async (scope, round) => {
    const { set: given, derived, share } = await begin(scope)
    const set = ownedBy(scope, given)
    owner = set.owner
    const found = await sessionByKey(scope, key, !round.again)
    // A commit whose answer was lost may have created the session all the same.
    if (found) return { committed: () => ({ ...found, created: found.row.id === made }) }
    if (set.relation?.at !== undefined) await checkWritten(scope, set.relation.at)
    const id = scope.engine.newId<'session'>()
    made = id
    const open: Share<OpenedSession> = {
      parts: [part(decider, id, { verb: 'open', set: { key: named, ...set }, derived }, { session: id })],
      committed: ([left]) => {
        const row = left?.body as SessionRow | undefined
        const revision = left?.revision ?? 0
        // A restored clock and entropy source may repeat an id: then the row belongs to another session.
        if (!row || row.key !== named) return beginSession(outer, key, begin)
        scope.engine.sessions.set(scope.tenant, id, { revision, state: row.state })
        return { row, revision, created: true }
      },
    }
    return share ? [open, await share(id)] : open
  }
  const outer = scope
  // After any refusal the session is looked up again: another caller may have created it.
  const opened = await transact(scope, build).catch(async (error: unknown): Promise<OpenedSession> => {
    const found = await sessionByKey(scope, key)
    if (!found) throw error
    return { ...found, created: found.row.id === made }
  })
  // A session of another owner stays one.
  return { ...checkOwner(scope, opened, owner), created: opened.created }
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
