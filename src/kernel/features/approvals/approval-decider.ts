// An approval is asked once and decided once: by a person who may, by a permit, or by the clock.

import type { ApprovalDelivery, ApprovalRow, ApprovalState, PermitId } from '../../../model/approval.ts'
import type { Json } from '../../../model/data.ts'
import { refuse } from '../../../model/errors.ts'
import { limits } from '../../../model/limits.ts'
import { decider, fact, type HappenedWith } from '../../writing/decider.ts'

export type Asking = Pick<
  ApprovalRow,
  | 'kind'
  | 'subjectType'
  | 'subject'
  | 'data'
  | 'blob'
  | 'holds'
  | 'told'
  | 'digest'
  | 'run'
  | 'session'
  | 'key'
  | 'risk'
  | 'deciders'
  | 'expires'
>

export interface Decided {
  readonly state: Extract<ApprovalState, 'approved' | 'denied' | 'answered'>
  readonly by?: string | undefined
  readonly note?: string | undefined
  readonly value?: Json | undefined
  readonly permit?: PermitId | undefined
  readonly grants?: PermitId | undefined
}

export type ApprovalCommand =
  /** `decided` is set when a permit decides at once. */
  | { readonly verb: 'request'; readonly asking: Asking; readonly decided?: Decided | undefined }
  | {
      readonly verb: 'decide'
      readonly id: string
      readonly tenant: string
      /** The time by the store's clock. */
      readonly now: number
      /** The digest of what the decider saw, if the caller gave it. */
      readonly digest?: string | undefined
      readonly decided: Decided
    }
  | { readonly verb: 'expire'; readonly id: string }
  | { readonly verb: 'withdraw'; readonly by?: string; readonly note?: string }
  | { readonly verb: 'deliver'; readonly id: string; readonly tenant: string; readonly channel: string; readonly ref?: string }
  | { readonly verb: 'see'; readonly id: string; readonly tenant: string; readonly by: string }

export const isLate = ({ expires }: Pick<ApprovalRow, 'expires'>, now: number): boolean => expires !== undefined && expires <= now

export const approval = decider<ApprovalRow, ApprovalCommand>({
  table: 'approvals',
  names: ({ key }) => (key === undefined ? [] : [['approval', key]]),
  keeps: () => ({}),

  decide: {
    request: (row, { asking, decided }) => {
      if (row) return []
      return [fact('approval.requested', asking), ...(decided ? [fact('approval.decided', { ...decided })] : [])]
    },
    decide: (row, { id, tenant, now, digest, decided }) => {
      const { state, deciders, digest: asked } = there(row, id, tenant)
      if (state !== 'pending') throw refuse('APPROVAL_CLOSED', { id, state })
      if (deciders && (decided.by === undefined || !deciders.includes(decided.by)))
        throw refuse('APPROVAL_FORBIDDEN', { id, by: decided.by, deciders })
      // An erased question can only be denied, because its content is unknown.
      if (digest === undefined ? asked === undefined && decided.state === 'approved' : digest !== asked)
        throw refuse('APPROVAL_OTHER', { id, asked, digest })
      // Expiry wins over a late answer.
      if (row && isLate(row, now))
        return { facts: [fact('approval.expired', {})], refusal: refuse('APPROVAL_CLOSED', { id, state: 'expired' }) }
      return [fact('approval.decided', { ...decided })]
    },
    // The waiting run has looked at the store's clock. An answer that came in time still counts: the run reads it.
    expire: (row, { id }) => {
      if (row?.state !== 'pending') throw refuse('CONFLICT', { table: 'approvals', id, tries: 1 })
      return [fact('approval.expired', {})]
    },
    withdraw: (row, { verb: _, ...why }) => (row?.state === 'pending' ? [fact('approval.withdrawn', why)] : []),
    deliver: (row, { id, tenant, channel, ref }) => {
      const { deliveries = [] } = there(row, id, tenant)
      const known = deliveries.some((one) => one.channel === channel && one.ref === ref)
      // The row keeps a limited number of notes. Beyond that, a delivery is not recorded.
      return known || deliveries.length >= limits.approvalNotes
        ? []
        : [fact('approval.delivered', { channel, ...(ref !== undefined && { ref }) })]
    },
    see: (row, { id, tenant, by }) => {
      const { seen = [] } = there(row, id, tenant)
      return seen.length >= limits.approvalNotes || seen.some((one) => one.by === by) ? [] : [fact('approval.seen', { by })]
    },
  },

  evolve: {
    'approval.requested': (_, e) => ({
      kind: 'approval',
      subject: '',
      ...(e.data as Partial<ApprovalRow> | undefined),
      id: e.subject as ApprovalRow['id'],
      // The header is never erased, so the run that waits is still found.
      ...(e.run && { run: e.run }),
      ...(e.session && { session: e.session }),
      ...(e.actor !== '' && { askedBy: e.actor }),
      state: 'pending',
      askedAt: e.at,
    }),
    'approval.decided': (row, e: HappenedWith<Partial<Decided>>) => {
      if (!row) return row
      const { by, state = 'answered', ...rest } = e.data ?? {}
      return { ...row, ...rest, state, decidedBy: by, decidedAt: e.at }
    },
    'approval.expired': (row, e) => row && { ...row, state: 'expired', decidedAt: e.at },
    'approval.withdrawn': (row, e: HappenedWith<{ readonly by?: string; readonly note?: string }>) => {
      if (!row) return row
      const { by, note } = e.data ?? {}
      return { ...row, state: 'withdrawn', decidedAt: e.at, decidedBy: by, note }
    },
    'approval.delivered': (row, e: HappenedWith<ApprovalDelivery>) => row && { ...row, deliveries: noted(row.deliveries, e) },
    'approval.seen': (row, e: HappenedWith<Seen>) => row && { ...row, seen: noted(row.seen, e) },
  },
})

function there(row: ApprovalRow | undefined, id: string, tenant: string): ApprovalRow {
  if (!row) throw refuse('APPROVAL_UNKNOWN', { id, tenant })
  return row
}

/** Keeps the first notes up to a limit, so that the row stays small. */
function noted<T extends ApprovalDelivery | Seen>(before: readonly T[] = [], e: HappenedWith<T>): readonly T[] {
  return e.data === undefined || before.length >= limits.approvalNotes ? before : [...before, { ...e.data, at: e.at }]
}

type Seen = NonNullable<ApprovalRow['seen']>[number]
