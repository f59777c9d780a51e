// Taking a lease and giving it back are facts, so the fence grows with every holder and survives everything. How long it is held is not.

import { refuse } from '../../model/errors.ts'
import type { LeaseRow } from '../../model/lease.ts'
import { decider, fact } from '../decider.ts'

export type Holder = Pick<LeaseRow, 'owner' | 'incarnation' | 'mark'>

export type LeaseCommand =
  | ({
      readonly verb: 'take'
      readonly until: number
      /** Whoever holds it has let it run out, or is provably gone. */
      readonly free: boolean
      /** For the refusal. */
      readonly held: Readonly<Record<string, unknown>>
    } & Holder)
  | { readonly verb: 'release'; readonly incarnation: string }
  /** What it was for has ended: whoever holds it has lost it. */
  | { readonly verb: 'end' }
  /** What it was for is gone. */
  | { readonly verb: 'forget' }

export const lease = decider<LeaseRow, LeaseCommand>({
  table: 'leases',
  // Giving back grants it to nobody: from then on the old fence writes nothing either.
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
