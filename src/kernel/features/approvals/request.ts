// Asks outside of a run. The question is written once for each key, and any caller may wait for the answer.

import type { ApprovalRow } from '../../../model/approval.ts'
import { canonical } from '../../../model/canonical.ts'
import { refuse } from '../../../model/errors.ts'
import { toId } from '../../../model/ids.ts'
import { limits } from '../../../model/limits.ts'
import { checkKnown, optionsOf } from '../../../model/options.ts'
import { type Duration, milliseconds } from '../../../model/time.ts'
import { checkValue, store } from '../../content/json-or-blob.ts'
import { nameHolder } from '../../naming/erased-names.ts'
import { maskKey } from '../../naming/names.ts'
import { stopIfAsked } from '../../reading/abortable.ts'
import { Bell } from '../../reading/read-events.ts'
import { storeNow } from '../../time/store-time.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { telling } from '../../writing/draft.ts'
import { NOT_THERE, part } from '../../writing/part.ts'
import { type Build, transact } from '../../writing/transact.ts'
import { theSession } from '../sessions/find-session.ts'
import { schedulerOf } from '../work/scheduler.ts'
import { type Asking, approval } from './approval-decider.ts'
import { readApproval } from './approvals.ts'
import { type AskOptions, takeAsking } from './asking.ts'
import { aboutOf, clockParts, expireApproval, overAt } from './clock.ts'
import { permitFor } from './permits.ts'

export interface RequestOptions extends AskOptions {
  readonly subject: string
  /** The exact arguments. */
  readonly data?: unknown
  /** How long the question stays open. */
  readonly within?: Duration
  /** The key or id of the session that the question belongs to. */
  readonly session?: string
  /** Idempotency key: the same key with the same question returns it; with another question it is refused. */
  readonly key?: string
}

export async function requestApproval(scope: Scope, options: RequestOptions): Promise<ApprovalRow> {
  checkOpen(scope.engine)
  const { subject, data, within, session: named, key: given, ...rest } = optionsOf(options, 'request')
  const of = { of: 'the question' }
  const admitted = checkValue(scope, data, of)
  const taken = takeAsking(scope, subject, admitted, rest)
  const ms = within === undefined ? undefined : milliseconds(within)
  const key = given === undefined ? undefined : maskKey(scope, given)
  const session = named === undefined ? undefined : (await theSession(scope, named)).id
  const asking: Asking = { kind: 'approval', ...taken, ...(session && { session }), ...(key !== undefined && { key }) }
  const build: Build<ApprovalRow> = async (scope) => {
    const known = key === undefined ? undefined : await approvalByKey(scope, key)
    if (known) return { committed: () => same(known, asking) }
    const { value, blob } = await store(scope, admitted, of)
    const expires = ms === undefined ? undefined : (await storeNow(scope)) + ms
    const full = { ...asking, ...(blob ? { blob } : value !== undefined && { data: value }), ...(expires !== undefined && { expires }) }
    const standing = await permitFor(scope, full)
    const id = scope.engine.newId<'approval'>()
    const ask = part(approval, id, { verb: 'request', asking: full, decided: standing?.decided }, { ...aboutOf(full), seen: NOT_THERE })
    return {
      parts: [ask, ...(standing ? [] : clockParts(scope, id, full))],
      guards: standing ? [standing.guard] : [],
      committed: ([row]) => {
        if (expires !== undefined) schedulerOf(scope.engine).look()
        return row?.body as ApprovalRow
      },
    }
  }
  return transact(scope, build, session ? { open: session } : {})
}

async function approvalByKey(scope: Scope, key: string): Promise<ApprovalRow | undefined> {
  const id = await nameHolder<'approval'>(scope, 'approval', key)
  return id && readApproval(scope, id)
}

/** The members that must be equal when a key comes again. The expiry of the first one stays. */
const whatIsAsked = ({ digest, session, deciders, risk }: Asking): string => canonical({ digest, session, deciders, risk })

function same(row: ApprovalRow, asking: Asking): ApprovalRow {
  if (whatIsAsked(row) === whatIsAsked(asking)) return row
  throw refuse('KEY_REUSED', { approval: row.id, state: row.state, key: row.key, ...(row.subject === '' && { erased: true }) })
}

/** Waits until the question is decided, expired or withdrawn. */
export async function waitForApproval(scope: Scope, given: string, options?: { readonly signal?: AbortSignal }): Promise<ApprovalRow> {
  checkOpen(scope.engine)
  const { signal, ...unknown } = optionsOf(options, 'wait')
  checkKnown(unknown, 'a wait')
  const id = telling(scope, () => toId<'approval'>(given))
  const bell = new Bell(scope, [signal, scope.engine.closing])
  try {
    for (;;) {
      bell.reset()
      stopIfAsked(scope, signal)
      const row = await readApproval(scope, id)
      if (!row) throw refuse('APPROVAL_UNKNOWN', { id, tenant: scope.tenant })
      if (row.state !== 'pending') return row
      const over = overAt(row)
      const left = over === undefined ? Infinity : over - (await storeNow(scope))
      if (left <= 0) await expireApproval(scope, row)
      else await bell.rung(left === Infinity ? left : Math.min(left, limits.leaseRenewMs))
    }
  } finally {
    bell.close()
  }
}
