// Deletes a session in steps. The first commit marks it deleted and offers an item to the clock; then each feature cleans up, and the payloads
// are erased. After a crash in between, the item makes any node finish the rest.

import type { Id, SessionId } from '../../../model/ids.ts'
import { limits } from '../../../model/limits.ts'
import type { Deletion } from '../../features.ts'
import { derived } from '../../naming/names.ts'
import { type EraseReport, eraseSession } from '../../proof/erase.ts'
import { readEvents } from '../../reading/read-events.ts'
import { storeNow } from '../../time/store-time.ts'
import type { Scope } from '../../wiring/scope.ts'
import { isConflict } from '../../writing/commit-outcome.ts'
import { part, plan, readRow } from '../../writing/execute.ts'
import { offerPart } from '../work/offer.ts'
import type { ClockHandler } from '../work/scheduler.ts'
import { schedulerOf } from '../work/scheduler.ts'
import { work } from '../work/work-decider.ts'
import { session as decider } from './session-decider.ts'

/** `processes`: those that the session had handles on, and those that it leaves without any. */
export interface DeleteReport extends EraseReport, Deletion {}

/** The scheduler's queue of deletions to finish. */
export const DELETIONS_CLOCK = 'clock/deletions'

const DELETED = 'session.deleted'
const WHY = 'its session was deleted'

const clockItem = (scope: Scope, id: SessionId): Id<'work'> => derived<'work'>(scope, 'session/deletion', id)

/** Deleting again continues where it stopped, and reports what was left to erase. */
export async function deleteSession(scope: Scope, id: SessionId, reason: string): Promise<DeleteReport> {
  // This node also finishes deletions that a crash left behind.
  schedulerOf(scope.engine).start()
  const seen = await readRow(scope, 'sessions', id)
  if (seen.body?.state !== 'deleted') {
    const at = (await storeNow(scope)) + limits.deletionGraceMs
    const deleting = part(decider, id, { verb: 'delete', id, reason }, { session: id, seen })
    // The item does not belong to the session: it must outlive the session's events.
    const rest = offerPart(clockItem(scope, id), { queue: DELETIONS_CLOCK, at, origin: { kind: 'clock', id } })
    const { rows } = await plan(scope, [deleting, rest])
    scope.engine.sessions.set(scope.tenant, id, { revision: rows[0].revision, state: 'deleted' })
  }
  return finish(scope, id, reason)
}

async function finish(scope: Scope, id: SessionId, reason: string): Promise<DeleteReport> {
  const cleaned = await scope.engine.features.sessionDeleted(scope, id, WHY)
  const report = await eraseSession(scope, id, reason, [DELETED])
  await plan(scope, [part(work, clockItem(scope, id), { verb: 'complete' })])
  return { ...report, ...(cleaned as Deletion) }
}

/** Called by the scheduler. Erasing goes on in the background, so a large session does not hold up other items. */
export const finishByClock: ClockHandler = async (scope, { id: item, row, revision, now }) => {
  const id = row.origin?.id as SessionId
  // The node that moves the item finishes the deletion; other nodes find it moved. It comes up again if that node dies too.
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
