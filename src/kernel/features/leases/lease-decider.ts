// Taking and releasing a lease are events, so the fence grows with every holder and survives a rebuild. Renewals are not.

import { refuse } from '../../../model/errors.ts'
import type { LeaseEnd, LeaseRow } from '../../../model/lease.ts'
import { decider, fact, type HappenedWith } from '../../writing/decider.ts'

export type Holder = Pick<LeaseRow, 'owner' | 'incarnation' | 'mark'>

export type LeaseCommand =
  | ({
      readonly verb: 'take'
      readonly until: number
      readonly ttlMs: number
      /** The holder has let the lease expire, or is provably gone. */
      readonly free: boolean
      /** Absent for the first holder. */
      readonly previous?: LeaseEnd | undefined
      /** Details for the error. */
      readonly held: Readonly<Record<string, unknown>>
    } & Holder)
  | {
      readonly verb: 'release'
      readonly incarnation: string
      readonly fence: number
      /** How many calls the tape answered in the attempt that ends with the lease. */
      readonly replayed?: number | undefined
    }
  /** The session or run has ended, so its holder loses the lease. */
  | { readonly verb: 'end' }
  /** The session or run was removed. */
  | { readonly verb: 'forget' }

export const lease = decider<LeaseRow, LeaseCommand>({
  table: 'leases',
  // A release also moves the fence, so that the old holder can no longer write.
  grants: ['lease.taken', 'lease.released'],

  decide: {
    take: (row, { owner, incarnation, mark, until, ttlMs, free, previous, held }) => {
      if (row?.state === 'held' && !free) throw refuse('RUN_HELD', held)
      return [fact('lease.taken', { owner, incarnation, ...(mark && { mark }), until, ttlMs, ...(previous && { previous }) })]
    },
    release: (row, { incarnation, fence, replayed }) =>
      row?.state === 'held' && row.incarnation === incarnation
        ? [fact('lease.released', { fence, ...(replayed !== undefined && { replayed }) })]
        : [],
    end: (row) => (row?.state === 'held' ? [fact('lease.released', {})] : []),
    forget: (row) => (row ? [fact('lease.forgotten', {})] : []),
  },

  evolve: {
    'lease.taken': (_, e: HappenedWith<Partial<LeaseRow> & { readonly previous?: LeaseEnd }>) => {
      const { previous: _previous, ...granted } = e.data ?? {}
      return { owner: '', incarnation: '', until: 0, ...granted, state: 'held' }
    },
    'lease.released': (row, e) => row && { ...row, state: 'released', lastFence: e.data?.fence as number | undefined },
    'lease.forgotten': () => undefined,
  },
})
