// Reads approvals: for people, and for the run that asked.

import type { ApprovalId, ApprovalRow } from '../../../model/approval.ts'
import { refuse } from '../../../model/errors.ts'
import { type SessionId, toId } from '../../../model/ids.ts'
import { filterOf } from '../../../model/options.ts'
import type { RunRow } from '../../../model/run.ts'
import { listMatching } from '../../reading/list-matching.ts'
import type { Page, PageOptions } from '../../reading/list-rows.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { telling } from '../../writing/draft.ts'
import { type Part, part, plan, readRow } from '../../writing/execute.ts'
import type { Ended } from '../runs/program/wait.ts'
import type { RunWriter } from '../runs/writing/run-writer.ts'
import { approval } from './approval-decider.ts'
import { aboutOf, doneParts } from './clock.ts'
import { type ApprovalFilter, splitFilter, takeFilter } from './filter.ts'

export interface ApprovalListOptions extends PageOptions, ApprovalFilter {}

/** Lists by the index that narrows most, and filters the rest row by row. */
export async function listApprovals(scope: Scope, options?: ApprovalListOptions): Promise<Page<ApprovalRow>> {
  checkOpen(scope.engine)
  const { filter, rest } = splitFilter(filterOf(options, 'approvals.list'))
  const { asked: _, ...where } = await takeFilter(scope, filter)
  return listMatching(scope, 'approvals', where, rest)
}

export async function getApproval(scope: Scope, given: string): Promise<ApprovalRow | undefined> {
  checkOpen(scope.engine)
  return readApproval(
    scope,
    telling(scope, () => toId<'approval'>(given)),
  )
}

export async function readApproval(scope: Scope, id: ApprovalId): Promise<ApprovalRow | undefined> {
  return (await readRow(scope, 'approvals', id)).body
}

/** Withdraws the questions of these waits, because the run no longer waits for them. */
export const withdrawParts = (scope: Scope, waits: RunRow['waits'], about: Pick<Part, 'session' | 'run'>): readonly Part[] =>
  waits
    .filter(({ kind, on }) => (kind === 'ask' || kind === 'approval') && on !== undefined)
    .flatMap(({ on, until }) => [
      part(approval, on as ApprovalId, { verb: 'withdraw' }, about),
      ...doneParts(scope, on as ApprovalId, until),
    ])

/** Withdraws the questions of a deleted session. The questions of its runs were withdrawn with the runs. */
export async function withdrawOfSession(scope: Scope, session: SessionId): Promise<void> {
  for (let cursor: string | undefined; ; ) {
    const page = await listApprovals(scope, { state: 'pending', session, ...(cursor !== undefined && { cursor }) })
    for (const row of page.items)
      await plan(scope, [part(approval, row.id, { verb: 'withdraw' }, aboutOf(row)), ...doneParts(scope, row.id, row.expires)])
    if (page.cursor === undefined) return
    cursor = page.cursor
  }
}

/** The answer for the run that asked, and the parts that are written together with the end of the wait. */
export async function answered(open: RunWriter, id: ApprovalId, late: boolean, digest: string): Promise<Ended | undefined> {
  const { scope, row: run, id: runId } = open
  const row = await readApproval(scope, id)
  if (!row) throw refuse('APPROVAL_UNKNOWN', { id, tenant: scope.tenant })
  checkAsked(open, row.subject, row.digest, digest)
  if (row.state === 'pending') {
    if (!late) return undefined
    const expire = part(approval, id, { verb: 'expire', id }, { session: run.session, run: runId })
    return { outcome: { state: 'expired', digest }, parts: [expire, ...doneParts(scope, id, row.expires)] }
  }
  const { state, decidedBy, value } = row
  return { outcome: { state, digest, ...(decidedBy !== undefined && { by: decidedBy }), ...(value !== undefined && { value }) } }
}

/** Checks that the decision is about what the program asks for now. Otherwise nothing of it is done. */
export function checkAsked(open: RunWriter, subject: string, asked: string | undefined, digest: string): void {
  if (asked === undefined || asked === digest) return
  throw open.diverged(`- recorded: '${subject}' with the digest ${asked}\n+ asked for: the same with other arguments, digest ${digest}`)
}
