// Removes the threads and messages of a session that is being deleted.

import type { Id, SessionId } from '../../../model/ids.ts'
import { everyPage } from '../../reading/every-row.ts'
import type { Scope } from '../../wiring/scope.ts'
import { part, plan } from '../../writing/execute.ts'
import { message } from './message-decider.ts'
import { thread } from './thread-decider.ts'

const PAGE = 200

export async function clearSession(scope: Scope, session: SessionId): Promise<void> {
  const about = { session }
  for await (const rows of everyPage(scope, 'messages', { index: 'byThread', equals: [session], limit: PAGE }))
    if (rows.length > 0)
      await plan(
        scope,
        rows.map(({ id }) => part(message, id as Id, { verb: 'clear' }, about)),
      )
  for await (const rows of everyPage(scope, 'threads', { index: 'bySession', equals: [session], limit: PAGE }))
    if (rows.length > 0)
      await plan(
        scope,
        rows.map(({ id }) => part(thread, id as Id, { verb: 'clear' }, about)),
      )
}
