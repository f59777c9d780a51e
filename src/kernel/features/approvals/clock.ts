// Expires questions whose run is not executing, and questions from outside. A clock item is offered together with the question, and
// completed with the decision.

import type { ApprovalId, ApprovalRow } from '../../../model/approval.ts'
import { limits } from '../../../model/limits.ts'
import { derived } from '../../naming/names.ts'
import type { Scope } from '../../wiring/scope.ts'
import { isConflict } from '../../writing/commit-outcome.ts'
import { NOT_THERE, type Part, part, plan, readRow } from '../../writing/execute.ts'
import { offerPart } from '../work/offer.ts'
import type { ClockHandler } from '../work/scheduler.ts'
import { schedulerOf } from '../work/scheduler.ts'
import { work } from '../work/work-decider.ts'
import { type Asking, approval } from './approval-decider.ts'

/** The queue in which the scheduler finds questions that expire. */
export const APPROVALS_CLOCK = 'clock/approvals'

const clockItem = (scope: Scope, id: ApprovalId) => derived<'work'>(scope, 'approval/clock', id)

/**
 * When the scheduler expires a question. A waiting run expires its question itself, in one commit with its next step, and the grace period
 * leaves it time for that. The scheduler acts only if no node executes the run.
 */
export const overAt = ({ expires, run }: Pick<ApprovalRow, 'expires' | 'run'>): number | undefined =>
  expires === undefined ? undefined : run ? expires + limits.approvalGraceMs : expires

/** The clock item, for the commit that asks. */
export function clockParts(scope: Scope, id: ApprovalId, asking: Asking): readonly Part[] {
  const at = overAt(asking)
  if (at === undefined) return []
  schedulerOf(scope.engine).start()
  return [offerPart(clockItem(scope, id), { queue: APPROVALS_CLOCK, at, origin: { kind: 'clock', id } }, { seen: NOT_THERE })]
}

/** Completes the clock item, for the commit that ends the question. */
export const doneParts = (scope: Scope, id: ApprovalId, expires: number | undefined): readonly Part[] =>
  expires === undefined ? [] : [part(work, clockItem(scope, id), { verb: 'complete' })]

export const aboutOf = ({ session, run }: Pick<ApprovalRow, 'session' | 'run'>): Pick<Part, 'session' | 'run'> => ({
  ...(session && { session }),
  ...(run && { run }),
})

/** Expires a question for a caller that has seen its time pass. Returns false when another writer was first. */
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

/** Expires a question for the scheduler. The run that asked has an item of its own for the same time, or a holder that is woken. */
export const expireByClock: ClockHandler = async (scope, { id: item, row }) => {
  const { body: asked } = await readRow(scope, 'approvals', row.origin?.id ?? '')
  if (asked?.state !== 'pending') await plan(scope, [part(work, item, { verb: 'complete' })])
  else if (!(await expireApproval(scope, asked))) schedulerOf(scope.engine).look()
}
