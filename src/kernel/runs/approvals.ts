// Approvals as people see them: what is pending, and deciding it once.

import type { ApprovalId, ApprovalRow, ApprovalState } from '../../model/approval.ts'
import { refuse } from '../../model/errors.ts'
import { type Id, toId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import { optionsOf } from '../../model/options.ts'
import { type Body, decodeBody } from '../../model/rows.ts'
import type { RunRow } from '../../model/run.ts'
import { admit, telling } from '../draft.ts'
import { type Part, part, plan } from '../execute.ts'
import { checkOpen, type Scope } from '../scope.ts'
import { approval, type Decision } from './approval-decider.ts'
import type { OpenRun } from './open-run.ts'
import { wakePart } from './signal.ts'
import type { Ended } from './wait.ts'

const STATES: readonly ApprovalState[] = ['pending', 'approved', 'denied', 'answered', 'expired', 'withdrawn']

export interface ApprovalListOptions {
  readonly state?: ApprovalState
  /** The newest so many, newest first. The default is 50. */
  readonly last?: number
  readonly cursor?: string
}

export interface DecideOptions {
  readonly decision?: Decision
  /** What an `ask` comes back with; without it, the decision itself. */
  readonly value?: unknown
  /** Who decided: an opaque id. */
  readonly by?: string
  readonly note?: string
}

export async function listApprovals(
  scope: Scope,
  options: ApprovalListOptions = {},
): Promise<{ readonly items: readonly ApprovalRow[]; readonly cursor?: string }> {
  checkOpen(scope.engine)
  const { state, last = 50, cursor } = optionsOf(options, 'list')
  if (!Number.isInteger(last) || last < 1 || last > limits.listRows)
    throw refuse('RANGE_INVALID', { why: `ask for 1 to ${limits.listRows} approvals` })
  if (state !== undefined && !STATES.includes(state)) throw refuse('RANGE_INVALID', { why: `there is no approval state '${state}'` })
  const page = await scope.engine.backend.rows.list(scope.tenant, 'approvals', {
    index: state === undefined ? 'byBorn' : 'byState',
    equals: state === undefined ? [] : [state],
    limit: last,
    backwards: true,
    ...(cursor !== undefined && { cursor }),
  })
  return {
    items: page.rows.map((row) => decodeBody<ApprovalRow & Body>(row.body)),
    ...(page.cursor !== undefined && { cursor: page.cursor }),
  }
}

export async function getApproval(scope: Scope, given: string): Promise<ApprovalRow | undefined> {
  checkOpen(scope.engine)
  const id = telling(scope, () => toId<'approval'>(given))
  const row = await scope.engine.backend.rows.get(scope.tenant, 'approvals', id)
  return row && decodeBody<ApprovalRow & Body>(row.body)
}

/** The first answer counts; one that comes too late writes that it was too late. The run that waits is woken by the same commit. */
export async function decideApproval(scope: Scope, given: string, options: DecideOptions): Promise<ApprovalRow> {
  checkOpen(scope.engine)
  const { decision, value, by, note } = optionsOf(options, 'decide')
  const wrong = (option: string, why: string) => refuse('OPTION_INVALID', { option, why })
  if (decision !== undefined && decision !== 'approve' && decision !== 'deny') throw wrong('decision', "it is 'approve' or 'deny'")
  if (decision === undefined && value === undefined) throw wrong('decision', 'say approve or deny, or give a value')
  for (const [name, text] of Object.entries({ by, note }))
    if (text !== undefined && (typeof text !== 'string' || text.length > limits.reasonChars))
      throw wrong(name, `it is a text of at most ${limits.reasonChars} characters`)
  const id = telling(scope, () => toId<'approval'>(given)) as ApprovalId
  const [before, { now }] = await Promise.all([getApproval(scope, id), scope.engine.backend.leases.read(scope.tenant, [])])
  const answer = value === undefined ? (decision as Decision) : admit(scope, value)
  const state = decision === 'approve' ? 'approved' : decision === 'deny' ? 'denied' : 'answered'
  if (before?.kind === 'approval' && state === 'answered') throw wrong('decision', 'an approval is approved or denied')
  const about = { ...(before?.session && { session: before.session }), ...(before?.run && { run: before.run }) }
  const command = {
    verb: 'decide',
    id,
    tenant: scope.tenant,
    now,
    state,
    value: answer,
    ...(by !== undefined && { by }),
    ...(note !== undefined && { note }),
  } as const
  const parts = [part(approval, id, command, about), ...(before?.run ? [wakePart(scope, before.run, before.session)] : [])]
  const { rows } = await plan(scope, parts)
  return rows[0]?.body as unknown as ApprovalRow
}

/** Nobody waits for an answer any more. */
export const withdrawParts = (waits: RunRow['waits'], about: Pick<Part, 'session' | 'run'>): readonly Part[] =>
  waits
    .filter(({ kind, on }) => (kind === 'ask' || kind === 'approval') && on !== undefined)
    .map(({ on }) => part(approval, on as Id, { verb: 'withdraw' }, about))

/** For the run that asked. */
export async function answered({ scope, row: run, id: runId }: OpenRun, id: Id, late: boolean): Promise<Ended | undefined> {
  const stored = await scope.engine.backend.rows.get(scope.tenant, 'approvals', id)
  const row = stored && decodeBody<ApprovalRow & Body>(stored.body)
  if (!row) throw refuse('APPROVAL_UNKNOWN', { id, tenant: scope.tenant })
  if (row.state === 'pending') {
    if (!late) return undefined
    const expire = part(approval, id, { verb: 'expire', id }, { session: run.session, run: runId })
    return { outcome: { state: 'expired' }, parts: [expire] }
  }
  const { state, decidedBy, value } = row
  return { outcome: { state, ...(decidedBy !== undefined && { by: decidedBy }), ...(value !== undefined && { value }) } }
}
