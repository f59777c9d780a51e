// Questions that run out although nobody waits for them: an item of the clock is offered with the question, and is done with the decision.

import type { ApprovalId, ApprovalRow } from '../../model/approval.ts'
import { limits } from '../../model/limits.ts'
import { NOT_THERE, type Part, part, plan, readRow } from '../execute.ts'
import { derived } from '../names.ts'
import { isConflict } from '../outcome.ts'
import type { Scope } from '../scope.ts'
import { offerPart } from '../work/offer.ts'
import type { ClockHandler } from '../work/scheduler.ts'
import { work } from '../work/work-decider.ts'
import { type Asking, approval } from './approval-decider.ts'

/** Where the scheduler finds them. */
export const APPROVALS_CLOCK = 'clock/approvals'

const clockItem = (scope: Scope, id: ApprovalId) => derived<'work'>(scope, 'approval/clock', id)

/**
 * When somebody else than whoever asked says that its time is over. A run that waits for the answer sees it for itself, and says so together with what it
 * does then; so it is left some time to do so, and only where nobody runs it the clock steps in.
 */
export const overAt = ({ expires, run }: Pick<ApprovalRow, 'expires' | 'run'>): number | undefined =>
  expires === undefined ? undefined : run ? expires + limits.approvalGraceMs : expires

/** Goes into the commit that asks. */
export function clockParts(scope: Scope, id: ApprovalId, asking: Asking): readonly Part[] {
  const at = overAt(asking)
  if (at === undefined) return []
  scope.engine.scheduler.start()
  return [offerPart(clockItem(scope, id), { queue: APPROVALS_CLOCK, at, origin: { kind: 'clock', id } }, { seen: NOT_THERE })]
}

/** Goes into the commit that ends it. */
export const doneParts = (scope: Scope, id: ApprovalId, expires: number | undefined): readonly Part[] =>
  expires === undefined ? [] : [part(work, clockItem(scope, id), { verb: 'complete' })]

export const aboutOf = ({ session, run }: Pick<ApprovalRow, 'session' | 'run'>): Pick<Part, 'session' | 'run'> => ({
  ...(session && { session }),
  ...(run && { run }),
})

/** For whoever has seen that its time is over. False when somebody was first. */
export async function expireApproval(scope: Scope, row: ApprovalRow): Promise<boolean> {
  const { id, expires } = row
  try {
    await plan(scope, [part(approval, id, { verb: 'expire', id }, aboutOf(row)), ...doneParts(scope, id, expires ?? 0)])
    return true
  } catch (error) {
    if (!isConflict(error, 'approvals')) throw error
    return false
  }
}

/** For the scheduler. The run that asked has its own item for the same time, or is held by somebody who hears of it. */
export const expireByClock: ClockHandler = async (scope, { id: item, row }) => {
  const { body: asked } = await readRow(scope, 'approvals', row.origin?.id ?? '')
  if (asked?.state !== 'pending') await plan(scope, [part(work, item, { verb: 'complete' })])
  else if (!(await expireApproval(scope, asked))) scope.engine.scheduler.look()
}
