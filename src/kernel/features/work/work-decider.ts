// A work item: offered, claimed, released, parked, woken, completed; failed and retried, dead and redriven. The seq of a claim is its fence.

import { canonical } from '../../../model/canonical.ts'
import { refuse } from '../../../model/errors.ts'
import type { ErrorData } from '../../../model/run.ts'
import { restMs, type WorkRow } from '../../../model/work.ts'
import { decider, type Fact, fact } from '../../writing/decider.ts'
import type { Holder } from '../leases/lease-decider.ts'

export type Offered = Pick<
  WorkRow,
  'queue' | 'run' | 'priority' | 'group' | 'series' | 'key' | 'payload' | 'attempts' | 'backoff' | 'origin'
> & {
  readonly at: number
}

export type WorkCommand =
  | ({ readonly verb: 'offer' } & Offered)
  /** `free`: the last claim has expired. `now` is the store time at which that was checked. */
  | ({ readonly verb: 'claim'; readonly now: number; readonly until: number; readonly free: boolean } & Holder)
  /** Back into the queue, due at `at`. `unused`: the handler never began, and the attempt does not count. */
  | { readonly verb: 'release'; readonly at: number; readonly unused?: boolean; readonly by?: ClaimFence }
  /** The item sleeps until `at`, or until it is woken. */
  | { readonly verb: 'park'; readonly at?: number | undefined }
  | { readonly verb: 'wake' }
  /** Moves the due time, or removes it, if nobody holds the item. */
  | { readonly verb: 'move'; readonly at: number | undefined }
  /** `by` is the claim. It is refused with FENCE_LOST if a newer claim exists. */
  | { readonly verb: 'complete'; readonly by?: ClaimFence }
  /** Retried after a backoff, unless no attempts are left or the failure is final. `at` or `restMs` replace the item's own backoff. */
  | {
      readonly verb: 'fail'
      readonly by?: ClaimFence
      readonly now: number
      readonly error: ErrorData
      readonly final?: boolean
      readonly restMs?: number | undefined
      readonly at?: number | undefined
    }
  /** The item becomes a dead letter: out of the queue, kept for a person. */
  | { readonly verb: 'bury'; readonly error: ErrorData }
  /** A dead letter is offered again: at the end of its group, with all its attempts. */
  | { readonly verb: 'redrive'; readonly id: string; readonly at: number }
  /** With `id`, a caller named the item, and is refused if it is gone already. */
  | { readonly verb: 'cancel'; readonly reason: string; readonly id?: string }

/** A claim: the item and its fence. */
interface ClaimFence {
  readonly id: string
  readonly fence: number
}

const lost = ({ id, fence }: ClaimFence) => refuse('FENCE_LOST', { table: 'work', id, fence, found: 0 })

// A woken item is due before all others.
const AT_ONCE = 0

export const work = decider<WorkRow, WorkCommand>({
  table: 'work',
  // Settling moves the fence: from then on the old holder can neither write nor renew.
  grants: ['work.claimed', 'work.released', 'work.failed', 'work.died'],

  decide: {
    offer: (row, { verb: _, ...offered }) => {
      if (!row) return [fact('work.offered', offered)]
      if (canonical(row.payload ?? {}) !== canonical(offered.payload ?? {})) throw refuse('KEY_REUSED', { queue: row.queue, key: row.key })
      return []
    },
    claim: (row, { owner, mark, now, until, free }) => {
      const due = row && row.at !== undefined && (row.state === 'claimed' ? free : row.state !== 'dead' && row.at <= now)
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
    release: (row, { at, unused, by }) => {
      if (by && row?.state !== 'claimed') throw lost(by)
      if (row?.state !== 'claimed') return []
      if (!unused && isSpent(row)) return [fact('work.died', { error: { name: 'GivenBack', message: 'given back at the last attempt' } })]
      return [fact('work.released', { at, ...(unused && { attempt: row.attempt - 1 }) })]
    },
    park: (row, { at }) => (row?.state === 'claimed' ? [fact('work.parked', at === undefined ? {} : { at })] : []),
    // A claimed item is woken by a fact too. The fact moves its revision, so that a worker that is about to park the item is refused.
    wake: (row) => (row ? [fact('work.woken', {})] : []),
    move: (row, { at }) => {
      if (!row || row.state === 'claimed' || row.state === 'dead')
        throw refuse('CONFLICT', { table: 'work', id: row?.queue ?? '', tries: 1 })
      return row.at === at ? [] : [fact('work.moved', at === undefined ? {} : { at })]
    },
    complete: (row, { by }) => {
      if (by && row?.state !== 'claimed') throw lost(by)
      return row ? [fact('work.completed', {})] : []
    },
    fail: (row, { now, error, final, restMs: rest, at, by }) => {
      if (by && row?.state !== 'claimed') throw lost(by)
      if (row?.state !== 'claimed') return []
      if (final || isSpent(row)) return [fact('work.died', { error })]
      return [fact('work.failed', { error, at: at ?? now + (rest ?? (row.backoff ? restMs(row.backoff, row.attempt) : 0)) })]
    },
    bury: (row, { error }) => (row && row.state !== 'dead' ? [fact('work.died', { error })] : []),
    redrive: (row, { id, at }) => {
      if (!row) throw refuse('WORK_UNKNOWN', { item: id })
      if (row.state !== 'dead') throw refuse('WORK_NOT_DEAD', { item: id, queue: row.queue, state: row.state })
      return [fact('work.redriven', {}), offeredAnew(row, at)]
    },
    cancel: (row, { reason, id }) => {
      if (row) return [fact('work.cancelled', { reason })]
      if (id !== undefined) throw refuse('WORK_UNKNOWN', { item: id })
      return []
    },
  },

  evolve: {
    'work.offered': (_, e) => ({
      queue: '',
      attempt: 0,
      strikes: 0,
      ...(e.data as Partial<WorkRow> | undefined),
      state: 'ready',
      offeredAt: e.at,
    }),
    'work.claimed': (row, e) => {
      if (!row) return row
      const { until, ...claim } = (e.data ?? {}) as { until?: number } & Partial<WorkRow>
      // An erased claim has no end that is known: the next worker may take the item.
      return { ...row, ...claim, state: 'claimed', at: until ?? AT_ONCE }
    },
    'work.released': (row, e) => {
      if (!row) return row
      const { at = AT_ONCE, attempt = row.attempt } = (e.data ?? {}) as Partial<WorkRow>
      return { ...unheld(row), state: 'ready', at, attempt }
    },
    'work.parked': (row, e) => row && { ...unheld(row), state: 'asleep', at: e.data?.at as number | undefined },
    'work.woken': (row) => (row && (row.state === 'ready' || row.state === 'asleep') ? { ...row, state: 'ready', at: AT_ONCE } : row),
    'work.moved': (row, e) => {
      // An erased time makes the item due at once.
      const at = e.data ? (e.data.at as number | undefined) : AT_ONCE
      return row && { ...row, state: at === undefined ? 'asleep' : 'ready', at }
    },
    'work.failed': (row, e) => {
      if (!row) return row
      const { at, error } = (e.data ?? {}) as Partial<WorkRow>
      return { ...unheld(row), state: 'ready', at: at ?? AT_ONCE, error }
    },
    'work.died': (row, e) => {
      if (!row) return row
      return { ...unheld(row), state: 'dead', at: undefined, error: e.data?.error as ErrorData | undefined, diedAt: e.at }
    },
    // The journal keeps what is gone from the rows.
    'work.redriven': () => undefined,
    'work.completed': () => undefined,
    'work.cancelled': () => undefined,
  },
})

/** Whether all attempts are used up. */
export const isSpent = ({ attempt, attempts }: WorkRow): boolean => attempts !== undefined && attempt >= attempts

const unheld = (row: WorkRow): WorkRow => ({ ...row, owner: undefined, mark: undefined })

function offeredAnew({ queue, run, priority, group, series, key, payload, attempts, backoff, origin }: WorkRow, at: number): Fact {
  const kept = { queue, run, priority, group, series, key, payload, attempts, backoff, origin }
  return fact('work.offered', { ...Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined)), at })
}
