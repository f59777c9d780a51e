// Sessions: opened by key, renamed, archived, forked and deleted. Every other feature may add members to them.

import type { SessionRow } from '../../model/session.ts'
import type { Feature } from '../feature.ts'
import { DELETIONS_CLOCK, finishByClock } from './delete-session.ts'
import { type FoundSession, type ListOptions, listSessions, sessionById, sessionByKey } from './find-session.ts'
import { openSession } from './open-session.ts'
import { type Session, SessionHandle } from './session.ts'
import { session } from './session-decider.ts'
import type { SessionOptions } from './session-options.ts'

export interface SessionStore {
  /** Opens the session with this key, or creates it. */
  session(key: string, options?: SessionOptions): Promise<Session>
  readonly sessions: {
    list(options?: ListOptions): Promise<{ readonly items: readonly SessionRow[]; readonly cursor?: string }>
    /** Finds a session by its key and never creates one. */
    find(key: string): Promise<Session | undefined>
    /** Finds a session by its id. */
    get(id: string): Promise<Session | undefined>
  }
}

export const sessions: Feature<SessionStore> = {
  name: 'sessions',
  deciders: [session],
  clocks: { [DELETIONS_CLOCK]: finishByClock },
  store: (scope) => {
    const handle = (found: FoundSession | undefined): Session | undefined => found && new SessionHandle(scope, { ...found, created: false })
    return {
      session: async (key, options) => new SessionHandle(scope, await openSession(scope, key, options)),
      sessions: {
        list: (options) => listSessions(scope, options),
        find: async (key) => handle(await sessionByKey(scope, key)),
        get: async (id) => handle(await sessionById(scope, id)),
      },
    }
  },
}
