// Permits: standing answers, found by what is asked and where. Listed and revoked here.

import {
  type ApprovalRow,
  type Decision,
  PERMIT_STATES,
  type PermitId,
  type PermitRow,
  type PermitState,
  RISKS,
  type Risk,
} from '../../../model/approval.ts'
import { takeDigest } from '../../../model/blob.ts'
import { type SessionId, toId } from '../../../model/ids.ts'
import { checkKnown, filterOf, optionsOf } from '../../../model/options.ts'
import { decodeBody } from '../../../model/rows.ts'
import type { Guard } from '../../../ports/commit.ts'
import { derivedId } from '../../naming/derived-id.ts'
import { listMatching } from '../../reading/list-matching.ts'
import { checkState, type Page, type PageOptions } from '../../reading/list-rows.ts'
import { sessionToRead } from '../../session/session-named.ts'
import { storeNow } from '../../time/store-time.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { telling } from '../../writing/draft.ts'
import { plan } from '../../writing/execute.ts'
import { type Part, part } from '../../writing/part.ts'
import { retryConflicts } from '../../writing/retry-conflicts.ts'
import type { Asking, Decided } from './approval-decider.ts'
import { takeBy, takeNote } from './asking.ts'
import { type Granted, permit } from './permit-decider.ts'

export interface PermitListOptions extends PageOptions {
  readonly state?: PermitState
  /** Only permits of the session with this key or id. */
  readonly session?: string
  /** Only permits that decide this digest. */
  readonly digest?: string
}

/** The reach is part of the id, so that a question finds its permit by id, and a new permit replaces the old one. */
export const permitId = (scope: Scope, digest: string, session: SessionId | undefined): PermitId =>
  derivedId<'permit'>(scope, `permit/${digest}/${session ?? ''}`)

export const grantPart = (scope: Scope, digest: string, set: Granted, about: Pick<Part, 'session' | 'run'>): Part =>
  part(permit, permitId(scope, digest, set.session), { verb: 'grant', set }, about)

interface Standing {
  readonly decided: Decided
  /** Refuses the commit if the permit has changed since it was read. */
  readonly guard: Guard
}

/** Asks with the newest permit that decides this, if there is one. Asks again when that permit has changed in between. */
export const withPermit = <T>(scope: Scope, asking: Asking, ask: (standing: Standing | undefined) => Promise<T>): Promise<T> =>
  retryConflicts(scope, ['permits'], async () => ask(asking.kind === 'approval' ? await permitFor(scope, asking) : undefined))

export async function permitFor(scope: Scope, asking: Asking): Promise<Standing | undefined> {
  const { digest, session } = asking
  if (digest === undefined) return undefined
  const ids = [permitId(scope, digest, undefined), ...(session ? [permitId(scope, digest, session)] : [])]
  const stored = await Promise.all(ids.map((id) => scope.engine.backend.rows.get(scope.tenant, 'permits', id)))
  const found = stored
    .filter((row) => row !== undefined)
    .map(({ id, revision, body }) => ({ revision, row: decodeBody(body, { id }) }))
    .filter(({ row }) => row.state === 'active' && covers(row, asking))
    .sort((a, b) => b.revision - a.revision)
  if (found.length === 0) return undefined
  const timed = found.some(({ row }) => row.until !== undefined)
  const now = timed ? await storeNow(scope) : 0
  const newest = found.find(({ row }) => row.until === undefined || row.until > now)
  if (!newest) return undefined
  const { row, revision } = newest
  const { id, by, decision } = row
  return {
    decided: { state: STATE[decision], value: decision, permit: id, ...(by !== undefined && { by }) },
    guard: { kind: 'row', table: 'permits', id, revision },
  }
}

export const STATE: Readonly<Record<Decision, Decided['state']>> = { approve: 'approved', deny: 'denied' }

const rank = (risk: Risk | undefined): number => (risk === undefined ? -1 : RISKS.indexOf(risk))

/** The giver of the permit may decide this question too, and did not approve something less risky. */
const covers = ({ by, decision, risk }: PermitRow, asked: Pick<ApprovalRow, 'deciders' | 'risk'>): boolean =>
  (asked.deciders === undefined || (by !== undefined && asked.deciders.includes(by))) &&
  (decision === 'deny' || rank(asked.risk) <= rank(risk))

export async function listPermits(scope: Scope, options?: PermitListOptions): Promise<Page<PermitRow>> {
  const { state, session: named, digest: about, ...page } = filterOf(options, 'approvals.permits.list')
  checkState(state, PERMIT_STATES, 'permit')
  const digest = about === undefined ? undefined : takeDigest(about)
  const session = named === undefined ? undefined : await sessionToRead(scope, named)
  const [index, first] = digest !== undefined ? ['byDigest', digest] : ['bySession', session]
  const narrow = first !== undefined && state !== undefined
  // A permit whose time is over decides nothing.
  const now = state === 'active' ? await storeNow(scope) : 0
  const matches = (row: PermitRow) =>
    (state === undefined || (row.state === state && (row.until ?? Infinity) > now)) &&
    (session === undefined || row.session === session) &&
    (digest === undefined || row.digest === digest)
  return listMatching(
    scope,
    'permits',
    narrow ? { index, equals: [first, state], matches } : { index: 'byBorn', equals: [], matches },
    page,
  )
}

export interface RevokeOptions {
  readonly by?: string
  readonly reason?: string
}

/** Revokes a permit: people are asked again. Revoking twice counts once. */
export async function revokePermit(scope: Scope, given: string, options?: RevokeOptions): Promise<PermitRow> {
  checkOpen(scope.engine)
  const { by, reason, ...unknown } = optionsOf(options, 'revoke')
  checkKnown(unknown, 'a revocation')
  const who = takeBy(scope, by)
  const why = takeNote(reason, 'reason')
  const id = telling(scope, () => toId<'permit'>(given))
  const command = {
    verb: 'revoke',
    id,
    tenant: scope.tenant,
    ...(who !== undefined && { by: who }),
    ...(why !== undefined && { reason: why }),
  } as const
  const { rows } = await plan(scope, [part(permit, id, command)])
  return rows[0].body as PermitRow
}
