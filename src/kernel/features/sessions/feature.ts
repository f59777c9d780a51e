// Sessions: opened by key, renamed, archived, forked and deleted. Every other feature may add members to them.

import type { Feature } from '../../feature.ts'
import { DELETIONS_CLOCK, finishByClock } from './delete-session.ts'
import { type FoundSession, isVisible, sessionNamed } from './find-session.ts'
import { type ListOptions, type ListSessions, listSessions } from './list-sessions.ts'
import { openNamed } from './open-session.ts'
import { type Session, SessionHandle } from './session.ts'
import { session } from './session-decider.ts'
import type { SessionOptions } from './session-options.ts'

export interface SessionStore {
  /** Opens the session with this key or id, or creates one with this key. */
  session(key: string, options?: SessionOptions): Promise<Session>
  readonly sessions: {
    /** Lists sessions; with `summary`, also their first and newest message, counts, and the state of the last run. Cursors lead in both directions. */
    readonly list: ListSessions
    /** Finds a session by its key or its id, and never creates one. */
    find(session: string): Promise<Session | undefined>
    /** The same: by its key or its id. */
    get(session: string): Promise<Session | undefined>
  }
}

export const sessions: Feature<SessionStore> = {
  name: 'sessions',
  deciders: [session],
  refs: 'a session has metadata only',
  onForked: 'the row of the fork is written by the fork itself',
  clocks: { [DELETIONS_CLOCK]: finishByClock },
  store: (scope) => {
    const handle = (found: FoundSession | undefined): Session | undefined =>
      found && isVisible(scope, found.row) ? new SessionHandle(scope, { ...found, created: false }) : undefined
    return {
      session: async (key, options) => new SessionHandle(scope, await openNamed(scope, key, options)),
      sessions: {
        list: ((options?: ListOptions) => listSessions(scope, options)) as ListSessions,
        find: async (named) => handle(await sessionNamed(scope, named)),
        get: async (named) => handle(await sessionNamed(scope, named)),
      },
    }
  },
}
