// The title of a session that has none comes from the first message of the user.

import type { SessionRow } from '../../../model/session.ts'
import type { SessionView } from '../../feature.ts'
import { titleOf } from '../../reading/message-text.ts'
import { type DoneRow, type Part, part } from '../../writing/execute.ts'
import { session } from './session-decider.ts'

export const wantsTitle = ({ row }: SessionView): boolean => row().title === undefined && row().titleSource === undefined

/** The part of a commit that gives the title; none if the session has one, or the user has said nothing. */
export function titleParts(view: SessionView, text: string | undefined): readonly Part[] {
  if (text === undefined || !wantsTitle(view)) return []
  const { id } = view
  return [part(session, id, { verb: 'derive', id, title: titleOf(text) }, { session: id, whole: true })]
}

/** Tells the handle of the title that a commit gave; `last` is the row of its last part. */
export function noteTitle(view: SessionView, last: DoneRow | undefined, text: string | undefined): void {
  if (titleParts(view, text).length === 0 || !last?.body) return
  const row = last.body as SessionRow
  view.saw(row, last.revision)
  view.scope.engine.sessions.set(view.scope.tenant, view.id, { revision: last.revision, state: row.state })
}
