// The title of a session that has none comes from the first message of the user.

import type { SessionRow } from '../../../model/session.ts'
import type { SessionView } from '../../feature.ts'
import { titleOf } from '../../reading/message-text.ts'
import { part } from '../../writing/part.ts'
import type { Share } from '../../writing/transact.ts'
import { session } from './session-decider.ts'

export const wantsTitle = ({ row }: SessionView): boolean => row().title === undefined && row().titleSource === undefined

/** The share of a commit that gives the title: none if the session has one, or the user has said nothing. */
export function titleShare(view: SessionView, text: string | undefined): Share<void> {
  if (text === undefined || !wantsTitle(view)) return {}
  const { id, scope } = view
  return {
    parts: [part(session, id, { verb: 'derive', id, title: titleOf(text) }, { session: id, whole: true })],
    committed: ([left]) => {
      if (!left?.body) return
      const row = left.body as SessionRow
      view.saw(row, left.revision)
      scope.engine.sessions.set(scope.tenant, id, { revision: left.revision, state: row.state })
    },
  }
}
