// Taking and releasing a lease are events, so the fence grows with every holder and survives a rebuild. Renewals are not.

import { refuse } from '../../model/errors.ts'
import type { LeaseRow } from '../../model/lease.ts'
import { decider, fact } from '../decider.ts'

export type Holder = Pick<LeaseRow, 'owner' | 'incarnation' | 'mark'>

export type LeaseCommand =
  | ({
      readonly verb: 'take'
      readonly until: number
      /** The holder has let the lease expire, or is provably gone. */
      readonly free: boolean
      /** Details for the error. */
      readonly held: Readonly<Record<string, unknown>>
    } & Holder)
  | { readonly verb: 'release'; readonly incarnation: string }
  /** The session or run has ended, so its holder loses the lease. */
  | { readonly verb: 'end' }
  /** The session or run was removed. */
  | { readonly verb: 'forget' }

export const lease = decider<LeaseRow, LeaseCommand>({
  table: 'leases',
  // A release also moves the fence, so that the old holder can no longer write.
  grants: ['lease.taken', 'lease.released'],

  decide: {
    take: (row, { owner, incarnation, mark, until, free, held }) => {
      if (row?.state === 'held' && !free) throw refuse('RUN_HELD', held)
      return [fact('lease.taken', { owner, incarnation, ...(mark && { mark }), until })]
    },
    release: (row, { incarnation }) => (row?.state === 'held' && row.incarnation === incarnation ? [fact('lease.released', {})] : []),
    end: (row) => (row?.state === 'held' ? [fact('lease.released', {})] : []),
    forget: (row) => (row ? [fact('lease.forgotten', {})] : []),
  },

  evolve: {
    'lease.taken': (_, e) => ({ owner: '', incarnation: '', until: 0, ...(e.data as Partial<LeaseRow> | undefined), state: 'held' }),
    'lease.released': (row) => row && { ...row, state: 'released' },
    'lease.forgotten': () => undefined,
  },
})
