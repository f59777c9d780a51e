// An inbox item is offered, claimed by a run, and completed with it. A released item is pending again, and an ended item never changes.
// The claim names the run, so a run that lost its claim to another run cannot complete the item.

import { canonical } from '../../../model/canonical.ts'
import { refuse } from '../../../model/errors.ts'
import type { RunId, SessionId } from '../../../model/ids.ts'
import type { InboxItemClaim, InboxItemId, InboxRow } from '../../../model/inbox.ts'
import { decider, fact, type Happened, type HappenedWith } from '../../writing/decider.ts'

export type OfferedSet = Pick<InboxRow, 'session' | 'kind' | 'delivery' | 'join' | 'merge' | 'key' | 'payload' | 'at' | 'delay'>

export type InboxCommand =
  | { readonly verb: 'offer'; readonly id: InboxItemId; readonly set: OfferedSet }
  /** `from` is the claim that is taken over. Absent when the item is free. */
  | { readonly verb: 'claim'; readonly id: InboxItemId; readonly claim: InboxItemClaim; readonly from?: InboxItemClaim | undefined }
  | { readonly verb: 'complete'; readonly id: InboxItemId; readonly claim: InboxItemClaim['id']; readonly run: RunId }
  | { readonly verb: 'release'; readonly id: InboxItemId; readonly claim: InboxItemClaim['id']; readonly run: RunId }
  | { readonly verb: 'cancel'; readonly id: InboxItemId }
  | { readonly verb: 'prune' }

const isOver = (row: InboxRow): boolean => row.state === 'completed' || row.state === 'cancelled'

const isHolder = (row: InboxRow | undefined, claim: InboxItemClaim['id'], run: RunId): boolean =>
  row?.state === 'claimed' && (row.claim?.id === claim || row.claim?.id === ERASED_CLAIM) && row.claim.run === run

// The header of an erased claim still names the run, which keeps the item until it ends.
const ERASED_CLAIM = '' as InboxItemClaim['id']
const erasedClaim = ({ run }: Happened): InboxItemClaim | undefined => run && { id: ERASED_CLAIM, run, fence: Number.MAX_SAFE_INTEGER }

const sameHolder = (a: InboxItemClaim | undefined, b: InboxItemClaim | undefined): boolean =>
  a?.id === b?.id && a?.run === b?.run && a?.fence === b?.fence

const AS_GIVEN = ['kind', 'delivery', 'join', 'merge', 'delay'] as const

/** Whether a key is used again for the same item. The time at which it is due follows from the delay. */
const isSameOffer = (row: InboxRow, set: OfferedSet): boolean =>
  AS_GIVEN.every((name) => row[name] === set[name]) && canonical(row.payload ?? {}) === canonical(set.payload ?? {})

export const inbox = decider<InboxRow, InboxCommand>({
  table: 'inbox',

  decide: {
    offer: (row, { id, set }) => {
      if (!row) return [fact('batch.offered', set)]
      if (!isSameOffer(row, set)) throw refuse('KEY_REUSED', { batch: id, state: row.state, key: row.key ?? '' })
      return []
    },
    claim: (row, { id, claim, from }) => {
      const free = row && !isOver(row) && (from ? sameHolder(row.claim, from) : !row.claim)
      if (!free) throw refuse('CONFLICT', { table: 'inbox', id, tries: 1 })
      return [fact('batch.claimed', { ...claim })]
    },
    complete: (row, { id, claim, run }) => {
      if (isHolder(row, claim, run)) return [fact('batch.completed', { claim })]
      // The commit of a turn completed it already, under this claim.
      if (row?.state === 'completed' && row.claim?.id === claim && row.claim.run === run) return []
      throw refuse('INBOX_CLAIM_LOST', { claim, run, batch: id, holder: row?.claim?.run ?? '' })
    },
    release: (row, { claim, run }) => (isHolder(row, claim, run) ? [fact('batch.released', { claim })] : []),
    cancel: (row, { id }) => {
      if (row?.state !== 'pending') throw refuse('CONFLICT', { table: 'inbox', id, tries: 1 })
      return [fact('batch.cancelled', {})]
    },
    prune: (row) => (row && isOver(row) ? [fact('batch.pruned', {})] : []),
  },

  // An erased fact still moves the state. Only its payload is gone.
  evolve: {
    'batch.offered': (_, e) => ({
      kind: 'turn',
      delivery: 'afterTurn',
      join: false,
      ...(e.data as Partial<InboxRow> | undefined),
      id: e.subject as InboxItemId,
      session: e.session as SessionId,
      state: 'pending',
      attempt: 0,
      offeredAt: e.at,
    }),
    'batch.claimed': (row, e: HappenedWith<InboxItemClaim>) =>
      row && { ...row, state: 'claimed', attempt: row.attempt + 1, claim: e.data ?? erasedClaim(e) },
    'batch.released': (row) => row && { ...row, state: 'pending', claim: undefined },
    'batch.completed': (row, e) => row && { ...row, state: 'completed', endedAt: e.at },
    'batch.cancelled': (row, e) => row && { ...row, state: 'cancelled', endedAt: e.at },
    // The journal keeps what is gone from the rows.
    'batch.pruned': () => undefined,
  },
})
