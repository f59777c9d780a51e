// A permit comes with a decision, and a later decision about the same replaces it. It decides until it expires or is revoked.

import type { PermitRow } from '../../../model/approval.ts'
import { refuse } from '../../../model/errors.ts'
import { decider, fact } from '../../writing/decider.ts'

export type Granted = Pick<
  PermitRow,
  'decision' | 'digest' | 'subjectType' | 'subject' | 'session' | 'until' | 'approval' | 'by' | 'note' | 'risk'
>

export type PermitCommand =
  | { readonly verb: 'grant'; readonly set: Granted }
  | { readonly verb: 'revoke'; readonly id: string; readonly tenant: string; readonly by?: string; readonly reason?: string }

export const permit = decider<PermitRow, PermitCommand>({
  table: 'permits',

  decide: {
    grant: (_, { set }) => [fact('permit.granted', set)],
    revoke: (row, { verb: _, id, tenant, ...why }) => {
      if (!row) throw refuse('PERMIT_UNKNOWN', { id, tenant })
      return row.state === 'active' ? [fact('permit.revoked', why)] : []
    },
  },

  evolve: {
    // The newest grant counts. An erased grant permits nothing.
    'permit.granted': (_, e) => ({
      decision: 'deny',
      subject: '',
      ...(e.data as Partial<PermitRow> | undefined),
      id: e.subject as PermitRow['id'],
      state: e.data ? 'active' : 'revoked',
      grantedAt: e.at,
    }),
    'permit.revoked': (row, e) => {
      if (!row) return row
      const { by, reason } = (e.data ?? {}) as { by?: string; reason?: string }
      return { ...row, state: 'revoked', revokedAt: e.at, revokedBy: by, reason }
    },
  },
})
