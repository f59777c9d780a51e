// `session.threads` and `store.threads`: create, find and list threads.

import { type SessionId, toId } from '../../../model/ids.ts'
import { checkKnown, filterOf, optionsOf } from '../../../model/options.ts'
import { THREAD_STATES, type ThreadRow, type ThreadState } from '../../../model/thread.ts'
import { maskKey } from '../../naming/names.ts'
import { listMatching } from '../../reading/list-matching.ts'
import { checkState, type Page, type PageOptions } from '../../reading/list-rows.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { telling } from '../../writing/draft.ts'
import { NOT_THERE, part, plan, readRow } from '../../writing/execute.ts'
import { checkedThread, checkThreadRow } from './stored-rows.ts'
import { type Thread, ThreadHandle } from './thread.ts'
import { thread as decider } from './thread-decider.ts'
import { checkTitle, type ThreadInfo, threadInfo } from './thread-info.ts'
import { threadsSeen } from './thread-memory.ts'

export interface CreateThreadOptions {
  readonly title?: string
  /** The user that the thread belongs to. The default is the owner of the session. */
  readonly user?: string
}

export interface ListThreadsOptions extends PageOptions {
  readonly user?: string
  /** By default all but deleted threads. */
  readonly state?: ThreadState
}

/** The threads of one session. */
export interface SessionThreads {
  create(options?: CreateThreadOptions): Promise<Thread>
  /** Finds a thread of this session by its id. */
  get(id: string): Promise<Thread | undefined>
  /** Lists threads, newest first. */
  list(options?: ListThreadsOptions): Promise<Page<ThreadInfo>>
  rename(id: string, title: string): Promise<void>
  archive(id: string): Promise<void>
  reopen(id: string): Promise<void>
  delete(id: string): Promise<void>
}

/** The threads of a tenant. */
export interface StoreThreads {
  /** Finds a thread of any session by its id. */
  get(id: string): Promise<Thread | undefined>
  /** Lists threads of all sessions, newest first. */
  list(options?: ListThreadsOptions): Promise<Page<ThreadInfo>>
}

export function sessionThreads(scope: Scope, session: SessionId, owner: () => string | undefined): SessionThreads {
  const at = (id: string): Thread => new ThreadHandle(scope, { session, thread: threadId(scope, id) })
  return {
    create: (options) => createThread(scope, session, owner(), options),
    get: async (id) => findThread(scope, threadId(scope, id), session),
    list: async (options) => listThreads(scope, session, options),
    rename: async (id, title) => at(id).rename(title),
    archive: async (id) => at(id).archive(),
    reopen: async (id) => at(id).reopen(),
    delete: async (id) => at(id).delete(),
  }
}

export const storeThreads = (scope: Scope): StoreThreads => ({
  get: async (id) => findThread(scope, threadId(scope, id)),
  list: async (options) => listThreads(scope, undefined, options),
})

const threadId = (scope: Scope, id: unknown) => telling(scope, () => toId<'thread'>(id))

async function createThread(
  scope: Scope,
  session: SessionId,
  owner: string | undefined,
  options: CreateThreadOptions | undefined,
): Promise<Thread> {
  checkOpen(scope.engine)
  const { title, user = owner, ...unknown } = optionsOf(options, 'threads.create')
  checkKnown(unknown, 'a thread')
  const thread = scope.engine.newId<'thread'>()
  const set = {
    session,
    ...(title !== undefined && { title: checkTitle(scope, title) }),
    ...(user !== undefined && { owner: maskKey(scope, user) }),
  }
  const { rows } = await plan(scope, [part(decider, thread, { verb: 'create', set }, { session, seen: NOT_THERE })], { open: session })
  threadsSeen(scope.engine).set(scope.tenant, thread, rows[0])
  return new ThreadHandle(scope, { session, thread }, { row: rows[0].body })
}

async function findThread(scope: Scope, thread: ThreadRow['id'], session?: SessionId): Promise<Thread | undefined> {
  checkOpen(scope.engine)
  const { body: row } = checkedThread(await readRow(scope, 'threads', thread))
  if (!row || row.state === 'deleted' || (session !== undefined && row.session !== session)) return undefined
  // A view that is limited to an owner finds the threads of that user.
  if (session === undefined && scope.own !== undefined && row.owner !== scope.own) return undefined
  return new ThreadHandle(scope, { session: row.session, thread }, { row })
}

async function listThreads(
  scope: Scope,
  session: SessionId | undefined,
  options: ListThreadsOptions | undefined,
): Promise<Page<ThreadInfo>> {
  const { user, state, ...page } = filterOf(options, 'threads.list')
  checkState(state, THREAD_STATES, 'thread')
  const own = session === undefined ? scope.own : undefined
  if (own !== undefined && user !== undefined && user !== own) return { items: [] }
  const owner = user === undefined ? own : maskKey(scope, user)
  const where =
    session !== undefined
      ? { index: 'bySession', equals: [session] }
      : owner !== undefined
        ? { index: 'byOwner', equals: [owner] }
        : { index: 'byBorn', equals: [] }
  const matches = (row: ThreadRow): boolean =>
    (state === undefined ? row.state !== 'deleted' : row.state === state) && (owner === undefined || row.owner === owner)
  const { items, cursor } = await listMatching(scope, 'threads', { ...where, matches }, page)
  const infos = await Promise.all(items.map((row) => threadInfo(scope, checkThreadRow(row))))
  return { items: infos, ...(cursor !== undefined && { cursor }) }
}
