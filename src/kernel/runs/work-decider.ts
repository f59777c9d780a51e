// The queue's core: offered, claimed, given back, put to sleep, woken, completed. The seq of a claim is its fence.

import { refuse } from '../../model/errors.ts'
import type { RunId } from '../../model/ids.ts'
import type { WorkRow } from '../../model/work.ts'
import { decider, fact } from '../decider.ts'
import type { Holder } from './lease-decider.ts'

export type WorkCommand =
  | { readonly verb: 'offer'; readonly queue: string; readonly at: number; readonly run?: RunId }
  /** `free`: its last holder has let the claim run out. `now` is what the store's clock said when that was looked at. */
  | ({ readonly verb: 'claim'; readonly now: number; readonly until: number; readonly free: boolean } & Holder)
  /** Back into the queue, due at `at`. */
  | { readonly verb: 'release'; readonly at: number }
  /** Until `at`, or until somebody wakes it. */
  | { readonly verb: 'park'; readonly at?: number | undefined }
  | { readonly verb: 'wake' }
  | { readonly verb: 'complete' }

// Before everything else that is due.
const AT_ONCE = 0

export const work = decider<WorkRow, WorkCommand>({
  table: 'work',
  grants: ['work.claimed'],

  decide: {
    offer: (row, { queue, at, run }) => (row ? [] : [fact('work.offered', { queue, at, ...(run && { run }) })]),
    claim: (row, { owner, mark, now, until, free }) => {
      const due = row && row.at !== undefined && (row.state === 'claimed' ? free : row.at <= now)
      if (!due) throw refuse('CONFLICT', { table: 'work', id: row?.queue ?? '', tries: 1 })
      return [
        fact('work.claimed', {
          owner,
          ...(mark && { mark }),
          until,
          attempt: row.attempt + 1,
          strikes: row.state === 'claimed' ? row.strikes + 1 : 0,
        }),
      ]
    },
    release: (row, { at }) => (row?.state === 'claimed' ? [fact('work.released', { at })] : []),
    park: (row, { at }) => (row?.state === 'claimed' ? [fact('work.parked', at === undefined ? {} : { at })] : []),
    // A fact even where it is claimed: so it is guarded, and cannot pass by somebody who is about to put the item to sleep.
    wake: (row) => (row ? [fact('work.woken', {})] : []),
    complete: (row) => (row ? [fact('work.completed', {})] : []),
  },

  evolve: {
    'work.offered': (_, e) => ({ queue: '', attempt: 0, strikes: 0, ...(e.data as Partial<WorkRow> | undefined), state: 'ready' }),
    'work.claimed': (row, e) => {
      if (!row) return row
      const { until, ...claim } = (e.data ?? {}) as { until?: number } & Partial<WorkRow>
      return { ...row, ...claim, state: 'claimed', at: until }
    },
    'work.released': (row, e) => row && { ...row, state: 'ready', at: e.data?.at as number | undefined, owner: undefined, mark: undefined },
    'work.parked': (row, e) => row && { ...row, state: 'asleep', at: e.data?.at as number | undefined, owner: undefined, mark: undefined },
    'work.woken': (row) => (row && row.state !== 'claimed' ? { ...row, state: 'ready', at: AT_ONCE } : row),
    // Done is gone: its run says how it ended.
    'work.completed': () => undefined,
  },
})
