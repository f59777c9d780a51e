// A session opens once, may be renamed, archived and reopened, and is deleted for good.

import { refuse } from '../../../model/errors.ts'
import type { SessionId } from '../../../model/ids.ts'
import { RECORD_SCHEMA } from '../../../model/record-version.ts'
import type { SessionRow, TitleSource } from '../../../model/session.ts'
import { checkSessionRow } from '../../session/session-row.ts'
import { decider, fact, type HappenedWith } from '../../writing/decider.ts'

export type SessionCommand =
  | {
      readonly verb: 'open'
      readonly set: Partial<Pick<SessionRow, 'key' | 'title' | 'owner' | 'branch' | 'relation' | 'metadata'>>
      /** The title of a fork whose source derived it. It is an event of its own, so that it can be erased with its message. */
      readonly derived?: string | undefined
    }
  | { readonly verb: 'rename'; readonly id: SessionId; readonly title: string }
  /** A title from the first message. It never replaces another title. */
  | { readonly verb: 'derive'; readonly id: SessionId; readonly title: string }
  | { readonly verb: 'describe'; readonly id: SessionId; readonly metadata: NonNullable<SessionRow['metadata']> }
  | { readonly verb: 'fork'; readonly id: SessionId }
  | { readonly verb: 'archive'; readonly id: SessionId }
  | { readonly verb: 'reopen'; readonly id: SessionId }
  | { readonly verb: 'delete'; readonly id: SessionId; readonly reason: string }

const there = (row: SessionRow | undefined, id: SessionId): SessionRow => {
  if (!row) throw refuse('SESSION_UNKNOWN', { session: id })
  checkSessionRow(row)
  if (row.state === 'deleted') throw refuse('SESSION_DELETED', { session: id })
  return row
}

const derivedTitle = (title: string) => fact('session.renamed', { title, source: 'derived' })

// An erased fact still moves the state. Only its payload is gone.
export const session = decider<SessionRow, SessionCommand>({
  table: 'sessions',
  names: (row) => (row.key === undefined || row.state === 'deleted' ? [] : [['session', row.key]]),
  // A fork keeps the link to its source even if its own payloads are erased.
  keeps: ({ relation }) => (relation?.kind === 'fork' ? { relation } : {}),

  decide: {
    open: (row, { set, derived }) =>
      row ? [] : [fact('session.opened', { schema: RECORD_SCHEMA, ...set }), ...(derived === undefined ? [] : [derivedTitle(derived)])],
    // Setting the same title by hand locks it all the same.
    rename: (row, { id, title }) =>
      there(row, id).title === title && row?.titleSource !== 'derived' ? [] : [fact('session.renamed', { title })],
    derive: (row, { id, title }) => (there(row, id).title === undefined && !row?.titleSource ? [derivedTitle(title)] : []),
    describe: (row, { id, metadata }) => (there(row, id) ? [fact('session.described', { metadata })] : []),
    // Only the first fork changes the parent.
    fork: (row, { id }) => (there(row, id).branch === 'source' ? [] : [fact('session.forked', {})]),
    archive: (row, { id }) => (there(row, id).state === 'archived' ? [] : [fact('session.archived', {})]),
    reopen: (row, { id }) => (there(row, id).state === 'open' ? [] : [fact('session.reopened', {})]),
    delete: (row, { id, reason }) => {
      if (!row) throw refuse('SESSION_UNKNOWN', { session: id })
      return row.state === 'deleted' ? [] : [fact('session.deleted', { reason })]
    },
  },

  evolve: {
    'session.opened': (_, e) => ({
      schema: RECORD_SCHEMA,
      branch: 'root',
      ...(e.data as Partial<SessionRow> | undefined),
      id: e.subject as SessionId,
      state: 'open',
      openedAt: e.at,
      changedAt: e.at,
    }),
    'session.renamed': (row, e: HappenedWith<{ readonly title: string; readonly source?: TitleSource }>) =>
      row && { ...row, title: e.data?.title, titleSource: e.data?.source ?? 'hand', changedAt: e.at },
    'session.described': (row, e) => row && { ...row, metadata: e.data?.metadata as SessionRow['metadata'], changedAt: e.at },
    'session.forked': (row, e) => row && { ...row, branch: 'source', changedAt: e.at },
    'session.archived': (row, e) => row && { ...row, state: 'archived', changedAt: e.at },
    'session.reopened': (row, e) => row && { ...row, state: 'open', changedAt: e.at },
    // The key is free again, even if only its digest was left.
    'session.deleted': (row, e) => row && { ...row, held: undefined, state: 'deleted', changedAt: e.at },
  },
})
