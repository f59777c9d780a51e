// An approval is a question that holds a run until someone answers, or until it is too late to ask.

import type { ApprovalRow, ApprovalState } from '../../model/approval.ts'
import type { Json } from '../../model/data.ts'
import { refuse } from '../../model/errors.ts'
import { decider, fact } from '../decider.ts'

export type Decision = 'approve' | 'deny'

export type ApprovalCommand =
  | ({ readonly verb: 'request' } & Pick<ApprovalRow, 'kind' | 'subject' | 'data' | 'blob' | 'run' | 'session' | 'expires'>)
  | {
      readonly verb: 'decide'
      readonly id: string
      readonly tenant: string
      /** What the store's clock said. */
      readonly now: number
      readonly state: Extract<ApprovalState, 'approved' | 'denied' | 'answered'>
      readonly by?: string | undefined
      readonly note?: string | undefined
      readonly value?: Json | undefined
    }
  | { readonly verb: 'expire'; readonly id: string }
  | { readonly verb: 'withdraw' }

const late = (row: ApprovalRow, now: number): boolean => row.expires !== undefined && row.expires <= now

export const approval = decider<ApprovalRow, ApprovalCommand>({
  table: 'approvals',

  decide: {
    request: (row, { verb: _, ...ask }) => (row ? [] : [fact('approval.requested', ask)]),
    decide: (row, { verb: _, id, tenant, now, ...answer }) => {
      if (!row) throw refuse('APPROVAL_UNKNOWN', { id, tenant })
      if (row.state !== 'pending') throw refuse('APPROVAL_CLOSED', { id, state: row.state })
      // Expiry wins over a late answer.
      if (late(row, now)) return { facts: [fact('approval.expired', {})], refusal: refuse('APPROVAL_CLOSED', { id, state: 'expired' }) }
      return [fact('approval.decided', answer)]
    },
    // Whoever waited has looked at the clock of the store. An answer that came in time counts, and is looked at.
    expire: (row, { id }) => {
      if (row?.state !== 'pending') throw refuse('CONFLICT', { table: 'approvals', id, tries: 1 })
      return [fact('approval.expired', {})]
    },
    withdraw: (row) => (row?.state === 'pending' ? [fact('approval.withdrawn', {})] : []),
  },

  evolve: {
    'approval.requested': (_, e) => ({
      kind: 'approval',
      subject: '',
      ...(e.data as Partial<ApprovalRow> | undefined),
      id: e.subject as ApprovalRow['id'],
      state: 'pending',
      askedAt: e.at,
    }),
    'approval.decided': (row, e) => {
      if (!row) return row
      const { by, note, value, state } = (e.data ?? {}) as { by?: string; note?: string; value?: Json; state?: ApprovalState }
      return { ...row, state: state ?? 'answered', decidedBy: by, note, value, decidedAt: e.at }
    },
    'approval.expired': (row, e) => row && { ...row, state: 'expired', decidedAt: e.at },
    'approval.withdrawn': (row, e) => row && { ...row, state: 'withdrawn', decidedAt: e.at },
  },
})
