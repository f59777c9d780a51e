// Forks a session: another session that shares what was recorded up to a seq. Nothing is copied.

import { canonical } from '../../../model/canonical.ts'
import { refuse } from '../../../model/errors.ts'
import type { SessionId } from '../../../model/ids.ts'
import { checkKnown, checkSeq, optionsOf } from '../../../model/options.ts'
import type { SessionRelation } from '../../../model/session.ts'
import { deny } from '../../proof/audit-trail.ts'
import { checkWritten } from '../../reading/forked-history.ts'
import { rowAt } from '../../reading/rows-at.ts'
import { readSessionRow } from '../../session/session-row.ts'
import type { Scope } from '../../wiring/scope.ts'
import { part } from '../../writing/part.ts'
import { beforehand, type Share } from '../../writing/transact.ts'
import { type Beginning, beginSession, type OpenedSession } from './open-session.ts'
import { session as decider } from './session-decider.ts'

export interface ForkOptions {
  /** The last seq that is shared. */
  readonly at: number
  /** The key of the fork. By default the fork gets a new key. */
  readonly key?: string
}

/** Forking twice with the same key at the same seq gives the same fork. */
export async function forkSession(scope: Scope, from: SessionId, options: ForkOptions): Promise<OpenedSession> {
  const at = await takeForkPoint(scope, options)
  const key = options.key === undefined ? scope.engine.newId() : options.key
  const relation: SessionRelation = { kind: 'fork', session: from, at }
  const begin = async (scope: Scope): Promise<Beginning> => {
    // The guard holds the parent at the row read here: erased members must not come back in the fork.
    const seen = await readSessionRow(scope, from)
    const row = seen.body
    if (!row) throw refuse('SESSION_UNKNOWN', { session: from, tenant: scope.tenant })
    if (row.state === 'deleted') throw deny(scope, 'SESSION_DELETED', { session: from })
    const { title, owner, metadata } = row
    // A title that comes from a message is that of the fork point, like the message.
    const isDerived = row.titleSource === 'derived'
    const derived = isDerived ? (await rowAt(scope, decider, from, at))?.title : undefined
    const given = {
      ...(!isDerived && title !== undefined && { title }),
      ...(owner !== undefined && { owner }),
      ...(metadata && { metadata }),
    }
    const share = async (to: SessionId): Promise<Share> => ({
      parts: [
        part(decider, from, { verb: 'fork', id: from }, { session: from, seen }),
        ...(await scope.engine.features.forked(beforehand(scope), { from, to, at })),
      ],
      guards: [{ kind: 'row', table: 'sessions', id: from, revision: seen.revision }],
      // A garbage collection may delete what a row of that time refers to before the commit of the fork names it.
      puts: true,
    })
    return { set: { branch: 'branch', relation, ...given }, derived, share }
  }
  const fork = await beginSession(scope, key, begin)
  if (canonical(fork.row.relation ?? null) === canonical(relation)) return fork
  throw refuse('KEY_REUSED', { session: fork.row.id, key })
}

/** Checks the seq of a fork: only written events can be shared. */
export async function takeForkPoint(scope: Scope, options: ForkOptions): Promise<number> {
  const { at: given, key: _, ...unknown } = optionsOf(options, 'fork')
  checkKnown(unknown, 'a fork')
  const at = checkSeq(given)
  await checkWritten(scope, at)
  return at
}
