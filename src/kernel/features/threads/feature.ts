// Threads of a session and their messages.

import type { MessageRow } from '../../../model/thread.ts'
import type { Feature } from '../../feature.ts'
import { refuseDeleted } from '../../session/refuse-deleted.ts'
import { clearSession } from './clear-session.ts'
import { referencesOf } from './content.ts'
import { forkThreads } from './fork-threads.ts'
import { message } from './message-decider.ts'
import { threadSummary } from './summary.ts'
import { type Thread, ThreadHandle } from './thread.ts'
import { thread } from './thread-decider.ts'
import { mainThreadId } from './thread-memory.ts'
import { type SessionThreads, type StoreThreads, sessionThreads, storeThreads } from './threads.ts'

export interface ThreadStore {
  /** Threads of all sessions. */
  readonly threads: StoreThreads
}

export interface ThreadSession {
  /** The default thread of the session: messages of the AI SDK, stored as they are. */
  readonly thread: Thread
  readonly threads: SessionThreads
}

export const threads: Feature<ThreadStore, ThreadSession> = {
  name: 'threads',
  deciders: [thread, message],
  refs: { messages: (row: MessageRow) => referencesOf(row), threads: 'a thread has a title and no content' },
  onSessionDeleted: clearSession,
  onForked: forkThreads,
  summary: threadSummary,
  store: (scope) => ({ threads: storeThreads(scope) }),
  session: (view) => ({
    thread: new ThreadHandle(view.scope, { session: view.id, thread: mainThreadId(view.scope, view.id) }, { view }),
    threads: refuseDeleted(
      view.scope,
      view.id,
      sessionThreads(view.scope, view.id, () => view.row().owner),
      { reads: ['get', 'list'] },
    ),
  }),
}
