// Decides a question once, by a person who may, about exactly what was asked. The decision may also give a permit for next time.

import type { ApprovalRow, Decision } from '../../../model/approval.ts'
import { takeDigest } from '../../../model/blob.ts'
import { refuse } from '../../../model/errors.ts'
import { toId } from '../../../model/ids.ts'
import { checkKnown, invalidOption, optionsOf } from '../../../model/options.ts'
import { type Duration, milliseconds } from '../../../model/time.ts'
import { storeNow } from '../../time/store-time.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { admit, telling } from '../../writing/draft.ts'
import { type Part, part, plan } from '../../writing/execute.ts'
import { wakePart } from '../runs/program/signal.ts'
import { approval, isLate } from './approval-decider.ts'
import { readApproval } from './approvals.ts'
import { takeBy, takeNote } from './asking.ts'
import { aboutOf, doneParts } from './clock.ts'
import type { Granted } from './permit-decider.ts'
import { grantPart, permitId, STATE } from './permits.ts'

export interface DecideOptions {
  readonly decision?: Decision
  /** The value that `ask` returns. The default is the decision itself. */
  readonly value?: unknown
  /** The actor who decided: an opaque id. The default is the actor of the store. */
  readonly by?: string
  readonly note?: string
  /** The digest of what the decider was shown. If something else was asked, the decision is refused. */
  readonly digest?: string
  /** The reach: this question (the default), all with the same digest in its session, or all with the same digest for a duration. */
  readonly scope?: 'once' | 'session' | { readonly for: Duration }
}

/** The first answer counts. A late answer records that it was too late. The same commit wakes the waiting run. */
export async function decideApproval(scope: Scope, given: string, options: DecideOptions): Promise<ApprovalRow> {
  checkOpen(scope.engine)
  const { decision, value, by, note, digest: named, scope: reach = 'once', ...unknown } = optionsOf(options, 'decide')
  checkKnown(unknown, 'a decision')
  if (decision !== undefined && decision !== 'approve' && decision !== 'deny')
    throw invalidOption('decision', "'approve' or 'deny'", decision)
  if (decision === undefined && value === undefined)
    throw refuse('OPTION_INVALID', { option: 'decision', why: "pass 'approve', 'deny' or a value" })
  const digest = named === undefined ? undefined : takeDigest(named)
  const who = takeBy(scope, by)
  const why = takeNote(note)
  const ms = takeReach(reach)
  const id = telling(scope, () => toId<'approval'>(given))
  const [before, now] = await Promise.all([readApproval(scope, id), storeNow(scope)])
  if (before?.kind === 'approval' && decision === undefined)
    throw invalidOption('decision', "'approve' or 'deny' for an approval", decision)
  const about = before ? aboutOf(before) : {}
  const said = { ...(who !== undefined && { by: who }), ...(why !== undefined && { note: why }) }
  const grant = reach !== 'once' && before ? grantOf(scope, before, decision, reach, now, ms, said) : undefined
  const decided = {
    state: decision === undefined ? ('answered' as const) : STATE[decision],
    value: value === undefined ? (decision as Decision) : admit(scope, value, 'the answer to a question'),
    ...said,
    ...(grant && { grants: grant.id }),
  }
  const { rows } = await plan(scope, [
    part(approval, id, { verb: 'decide', id, tenant: scope.tenant, now, digest, decided }, about),
    ...(before?.run ? [wakePart(scope, before.run, before.session)] : []),
    ...doneParts(scope, id, before?.expires),
    // A late answer gives no permit.
    ...(grant && before && !isLate(before, now) ? [grant.part] : []),
  ])
  return rows[0].body as ApprovalRow
}

/** The duration of a permit, if one is given. */
function takeReach(reach: NonNullable<DecideOptions['scope']>): number | undefined {
  if (reach === 'once' || reach === 'session') return undefined
  if (typeof reach !== 'object' || reach === null || Object.keys(reach).join() !== 'for')
    throw invalidOption('scope', "'once', 'session' or { for: '1h' }", reach)
  const ms = milliseconds(reach.for)
  if (ms <= 0) throw invalidOption('scope.for', 'a duration > 0', reach.for)
  return ms
}

function grantOf(
  scope: Scope,
  row: ApprovalRow,
  decision: Decision | undefined,
  reach: Exclude<NonNullable<DecideOptions['scope']>, 'once'>,
  now: number,
  ms: number | undefined,
  said: { readonly by?: string; readonly note?: string },
): { readonly id: ReturnType<typeof permitId>; readonly part: Part } | undefined {
  if (row.kind !== 'approval' || decision === undefined)
    throw refuse('OPTION_INVALID', { option: 'scope', why: 'only approvals can be decided for longer; a question is answered each time' })
  if (reach === 'session' && !row.session)
    throw refuse('OPTION_INVALID', { option: 'scope', why: "this approval has no session, so 'session' cannot be used" })
  const { digest, subjectType, subject, risk, session } = row
  // An erased question cannot be asked again, so it gives no permit.
  if (digest === undefined) return undefined
  const set: Granted = {
    decision,
    digest,
    subject,
    approval: row.id,
    ...said,
    ...(subjectType !== undefined && { subjectType }),
    ...(risk !== undefined && { risk }),
    ...(reach === 'session' ? { session } : { until: now + (ms as number) }),
  }
  return { id: permitId(scope, digest, set.session), part: grantPart(scope, digest, set, aboutOf(row)) }
}

export interface WithdrawOptions {
  readonly by?: string
  readonly note?: string
}

/** Withdraws a question that is no longer needed. */
export async function withdrawApproval(scope: Scope, given: string, options?: WithdrawOptions): Promise<ApprovalRow> {
  checkOpen(scope.engine)
  const { by, note, ...unknown } = optionsOf(options, 'withdraw')
  checkKnown(unknown, 'a withdrawal')
  const who = takeBy(scope, by)
  const why = takeNote(note)
  const id = telling(scope, () => toId<'approval'>(given))
  const before = await readApproval(scope, id)
  if (!before) throw refuse('APPROVAL_UNKNOWN', { id, tenant: scope.tenant })
  if (before.state !== 'pending') throw refuse('APPROVAL_CLOSED', { id, state: before.state })
  const command = { verb: 'withdraw', ...(who !== undefined && { by: who }), ...(why !== undefined && { note: why }) } as const
  const { rows } = await plan(scope, [
    part(approval, id, command, aboutOf(before)),
    ...(before.run ? [wakePart(scope, before.run, before.session)] : []),
    ...doneParts(scope, id, before.expires),
  ])
  const row = rows[0].body as ApprovalRow
  // Another caller decided first.
  if (row.state !== 'withdrawn') throw refuse('APPROVAL_CLOSED', { id, state: row.state })
  return row
}
