// Deleting a session. That it is deleted is said first, together with an item of the clock; then its runs are cancelled, what waits for it is cleared, and
// what it said is erased. Whoever dies in between leaves the rest to the item, and so to any node.

import type { Id, SessionId } from '../model/ids.ts'
import { limits } from '../model/limits.ts'
import type { SessionRow } from '../model/session.ts'
import { type EraseReport, eraseSession } from './erase.ts'
import { type DoneRow, part, plan, readRow } from './execute.ts'
import { clearSession } from './inputs/lists.ts'
import { derived } from './names.ts'
import { isConflict } from './outcome.ts'
import { leaveProcesses } from './processes/on-session-deleted.ts'
import { readEvents } from './read.ts'
import { cancelRuns } from './runs/admin.ts'
import type { Scope } from './scope.ts'
import { session as decider } from './session-decider.ts'
import { storeNow } from './store-time.ts'
import { offerPart } from './work/offer.ts'
import type { ClockHandler } from './work/scheduler.ts'
import { work } from './work/work-decider.ts'

/** Where the scheduler finds them. */
export const DELETIONS_CLOCK = 'clock/deletions'

const DELETED = 'session.deleted'
const WHY = 'its session was deleted'

const clockItem = (scope: Scope, id: SessionId): Id<'work'> => derived<'work'>(scope, 'session/deletion', id)

/** Asked again it goes on where it was, and says what was left to erase. */
export async function deleteSession(scope: Scope, id: SessionId, reason: string): Promise<EraseReport> {
  // Whoever deletes sees to it, too, that it is finished.
  scope.engine.scheduler.start()
  const seen = await readRow(scope, 'sessions', id)
  if ((seen.body as SessionRow | undefined)?.state !== 'deleted') {
    const at = (await storeNow(scope)) + limits.deletionGraceMs
    const deleting = part(decider, id, { verb: 'delete', id, reason }, { session: id, seen })
    // Not of the session: it has to be there when everything of that is gone.
    const rest = offerPart(clockItem(scope, id), { queue: DELETIONS_CLOCK, at, origin: { kind: 'clock', id } })
    const { rows } = await plan(scope, [deleting, rest])
    scope.engine.sessions.set(scope.tenant, id, { revision: (rows[0] as DoneRow).revision, state: 'deleted' })
  }
  return finish(scope, id, reason)
}

async function finish(scope: Scope, id: SessionId, reason: string): Promise<EraseReport> {
  await cancelRuns(scope, id, WHY)
  await clearSession(scope, id)
  await leaveProcesses(scope, id)
  const report = await eraseSession(scope, id, reason, [DELETED])
  await plan(scope, [part(work, clockItem(scope, id), { verb: 'complete' })])
  return report
}

/** For the scheduler, which it does not hold up: however much there is to erase, it goes on beside. */
export const finishByClock: ClockHandler = async (scope, { id: item, row, revision, now }) => {
  const id = row.origin?.id as SessionId
  // Whoever moves it does it; the others find it moved. It comes again where that one dies too.
  const move = part(work, item, { verb: 'move', at: now + limits.deletionGraceMs }, { seen: { body: { ...row }, revision } })
  try {
    await plan(scope, [move], { once: true })
  } catch (error) {
    if (isConflict(error, 'work')) return
    throw error
  }
  reasonOf(scope, id)
    .then((reason) => finish(scope, id, reason))
    .catch((error: unknown) => {
      const { logger } = scope.engine.environment
      logger.warn('a session that is deleted could not be erased yet', { session: id, error: String(error) })
    })
}

async function reasonOf(scope: Scope, id: SessionId): Promise<string> {
  for await (const { data } of readEvents(scope, { subject: id, types: [DELETED], limit: 1 }))
    return (data as { readonly reason?: string } | undefined)?.reason ?? WHY
  return WHY
}
