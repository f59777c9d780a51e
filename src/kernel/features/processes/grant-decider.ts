// A grant: a session gets a handle on a process, and loses it again.

import type { GrantRow } from '../../../model/process.ts'
import { decider, fact } from '../../writing/decider.ts'

export type GrantCommand =
  | { readonly verb: 'give'; readonly set: Pick<GrantRow, 'session' | 'process' | 'kind' | 'label'> }
  | { readonly verb: 'revoke'; readonly why: 'revoked' | 'transferred' | 'sessionDeleted' | 'pruned' }

export const grant = decider<GrantRow, GrantCommand>({
  table: 'grants',

  decide: {
    give: (row, { set }) => (row && row.kind === set.kind && row.label === set.label ? [] : [fact('grant.given', { ...set })]),
    revoke: (row, { why }) => (row ? [fact('grant.revoked', { why })] : []),
  },

  evolve: {
    'grant.given': (row, e) => {
      const { session, process: of, kind, label } = (e.data ?? {}) as Partial<GrantRow>
      // An erased grant says nothing. The row before it stays, or an empty row shows that there was a grant.
      if (session === undefined || of === undefined)
        return row ?? { session: '' as GrantRow['session'], process: '' as GrantRow['process'], grantedAt: e.at }
      return { session, process: of, kind, label, grantedAt: e.at }
    },
    'grant.revoked': () => undefined,
  },
})
