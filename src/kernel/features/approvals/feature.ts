// Approvals: questions to people, asked by a run or from outside, decided once, and permits for more than one.

import { refuse } from '../../../model/errors.ts'
import { optionsOf } from '../../../model/options.ts'
import type { Feature } from '../../feature.ts'
import type { BranchHandle } from '../runs/program/branch.ts'
import type { Within } from '../runs/program/branch-calls.ts'
import { approval } from './approval-decider.ts'
import { withdrawOfSession, withdrawParts } from './approvals.ts'
import type { AskOptions } from './asking.ts'
import { APPROVALS_CLOCK, expireByClock } from './clock.ts'
import { permit } from './permit-decider.ts'
import { question } from './question.ts'
import { type Approvals, approvalsOf } from './surface.ts'

export interface ApprovalStore {
  readonly approvals: Approvals
}

export interface ApprovalRun {
  /** Asks a person. Returns undefined if the question expires unanswered. */
  ask<T = unknown>(question: string, data?: unknown, options?: Within & AskOptions): Promise<T | undefined>
  /** Waits until a person approves. Throws APPROVAL_DENIED if it is denied or expires. */
  approval(subject: string, data?: unknown, options?: Within & AskOptions): Promise<void>
}

export const approvals: Feature<ApprovalStore, object, ApprovalRun> = {
  name: 'approvals',
  deciders: [approval, permit],
  refs: 'data and answers are JSON or { digest, bytes }',
  onForked: 'an answer to the source must not let its tool run again in the fork',
  clocks: { [APPROVALS_CLOCK]: expireByClock },
  onSessionDeleted: withdrawOfSession,
  keptWithoutSession: { permits: 'a permit records a decision that somebody made; it matches nothing once its session is gone' },
  onWaitsLeft: withdrawParts,
  store: (scope) => ({ approvals: approvalsOf(scope) }),
  run: { ask, approval: approve },
}

async function ask<T>(branch: BranchHandle, asked: string, data?: unknown, options?: Within & AskOptions): Promise<T | undefined> {
  const { value } = await question(branch, 'ask', asked, data, optionsOf(options, 'ask'))
  return value as T | undefined
}

async function approve(branch: BranchHandle, subject: string, data?: unknown, options?: Within & AskOptions): Promise<void> {
  const { state, by } = await question(branch, 'approval', subject, data, optionsOf(options, 'approval'))
  if (state !== 'approved') throw refuse('APPROVAL_DENIED', { subject, run: branch.open.id, state, ...(by !== undefined && { by }) })
}
