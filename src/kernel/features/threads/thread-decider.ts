// A thread is created, renamed, archived, reopened and deleted. Its messages are rows of their own, so adding one does not change it.

import { refuse } from '../../../model/errors.ts'
import type { SessionId } from '../../../model/ids.ts'
import { RECORD_SCHEMA } from '../../../model/record-version.ts'
import type { ThreadId, ThreadRow } from '../../../model/thread.ts'
import { decider, fact, type HappenedWith } from '../../writing/decider.ts'
import { checkThreadRow } from './stored-rows.ts'

type Definition = Pick<ThreadRow, 'session'> & Partial<Pick<ThreadRow, 'owner' | 'title' | 'main' | 'state'>>

export type ThreadCommand =
  | { readonly verb: 'create'; readonly set: Definition }
  | { readonly verb: 'rename'; readonly id: ThreadId; readonly session: SessionId; readonly title: string }
  | { readonly verb: 'archive' | 'reopen' | 'delete'; readonly id: ThreadId; readonly session: SessionId }
  | { readonly verb: 'clear' }

export const thread = decider<ThreadRow, ThreadCommand>({
  table: 'threads',

  decide: {
    create: (row, { set }) => (row ? [] : [fact('thread.created', { schema: RECORD_SCHEMA, ...set })]),
    rename: (row, { id, session, title }) => {
      const there = usable(row, id, session)
      return there.title === title ? [] : [fact('thread.renamed', { title })]
    },
    archive: (row, { id, session }) => (usable(row, id, session).state === 'archived' ? [] : [fact('thread.archived', {})]),
    reopen: (row, { id, session }) => (known(row, id, session).state === 'open' ? [] : [fact('thread.reopened', {})]),
    delete: (row, { id, session }) => (known(row, id, session).state === 'deleted' ? [] : [fact('thread.deleted', {})]),
    clear: (row) => (row ? [fact('thread.cleared', {})] : []),
  },

  evolve: {
    'thread.created': (_, e: HappenedWith<Definition>) => ({
      schema: RECORD_SCHEMA,
      state: 'open',
      ...e.data,
      session: e.session as SessionId,
      id: e.subject as ThreadId,
      at: e.at,
      changedAt: e.at,
    }),
    'thread.renamed': (row, e: HappenedWith<{ readonly title: string }>) => {
      if (!row) return undefined
      const { title: _, ...untitled } = row
      return { ...untitled, ...(e.data && { title: e.data.title }), changedAt: e.at }
    },
    'thread.archived': (row, e) => row && { ...row, state: 'archived', changedAt: e.at },
    'thread.reopened': (row, e) => row && { ...row, state: 'open', changedAt: e.at },
    'thread.deleted': (row, e) => row && { ...row, state: 'deleted', changedAt: e.at },
    'thread.cleared': () => undefined,
  },

  keeps: ({ schema, main, state }) => ({ schema, state, ...(main && { main }) }),
})

function known(row: ThreadRow | undefined, id: ThreadId, session: SessionId): ThreadRow {
  if (row?.session !== session) throw refuse('THREAD_UNKNOWN', { thread: id, session })
  return checkThreadRow(row)
}

function usable(row: ThreadRow | undefined, id: ThreadId, session: SessionId): ThreadRow {
  const there = known(row, id, session)
  if (there.state === 'deleted') throw refuse('THREAD_CLOSED', { thread: id, state: 'deleted' })
  return there
}
