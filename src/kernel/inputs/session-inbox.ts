// The inbox of a session: batches of work are offered to it, and its runs take them up.

import { type SessionId, toId } from '../../model/ids.ts'
import {
  BATCH_KINDS,
  BATCH_STATES,
  DELIVERIES,
  type InboxDelivery,
  type InboxItemId,
  type InboxKind,
  type InboxRow,
  type InboxState,
} from '../../model/inbox.ts'
import { checkKnown, invalidOption, optionsOf } from '../../model/options.ts'
import { decodeBody } from '../../model/rows.ts'
import { type Duration, milliseconds } from '../../model/time.ts'
import { admit, telling } from '../draft.ts'
import { NOT_THERE, part, plan, readRow } from '../execute.ts'
import { load, store } from '../json-or-blob.ts'
import { maskKey, takeName } from '../names.ts'
import { retryConflicts } from '../retry-conflicts.ts'
import { checkOpen, type Scope } from '../scope.ts'
import { storeNow } from '../store-time.ts'
import { inbox } from './inbox-decider.ts'
import { type Listing, listed, type PruneOptions, pruneOver } from './lists.ts'
import { offerInboxPart } from './offer-inbox-item.ts'

export interface InboxOfferOptions {
  /** At the earliest safe place, also within a turn, or only once the turn is over. */
  readonly delivery: InboxDelivery
  /** Work for a turn, or a command to the session, which nothing overtakes. */
  readonly kind: InboxKind
  /** Whether it may come together with those beside it. It may, unless said. */
  readonly join?: boolean
  /** Only those with the same one come together. */
  readonly merge?: string
  /** The same key and the same payload: the same item, also when it is over. Another payload with it is refused. */
  readonly key?: string
  /** Not before so long from now. */
  readonly delay?: Duration
}

/** An inbox item as people see it. */
export interface InboxItem extends Omit<InboxRow, 'payload'> {
  readonly payload: unknown
}

export interface OfferedInboxItem extends InboxItem {
  /** It was there before, under its key. */
  readonly repeated: boolean
}

/** `held`: a run has it in hand. */
export type InboxCancelWord = 'cancelled' | 'held' | 'alreadyCompleted' | 'alreadyCancelled' | 'notFound'

export interface InboxCancelOutcome {
  readonly id: InboxItemId
  readonly outcome: InboxCancelWord
}

export interface SessionInbox {
  offer(payload: unknown, options: InboxOfferOptions): Promise<OfferedInboxItem>
  /** The newest first, unless `first` is given. */
  list(options?: Listing<InboxState>): Promise<{ readonly items: readonly InboxItem[]; readonly cursor?: string }>
  get(id: string): Promise<InboxItem | undefined>
  /** Takes it out, where no run has it in hand. */
  cancel(id: string): Promise<InboxCancelOutcome>
  /** Forgets what is completed or cancelled; its keys are free again. The answer is how many. */
  prune(options?: PruneOptions): Promise<number>
}

export function sessionInbox(scope: Scope, session: SessionId): SessionInbox {
  return {
    offer: (payload, options) => offerBatch(scope, session, payload, options),
    list: async (options) => {
      const { rows, cursor } = await listed(scope, 'inbox', session, BATCH_STATES, options)
      const items = await Promise.all(rows.map(({ body }) => toBatch(scope, decodeBody(body))))
      return { items, ...(cursor !== undefined && { cursor }) }
    },
    get: async (given) => {
      const row = await readBatch(scope, session, given)
      return row && toBatch(scope, row)
    },
    cancel: (given) => cancelBatch(scope, session, given),
    prune: (options) => pruneOver(scope, 'inbox', session, ['completed', 'cancelled'], inbox, options),
  }
}

async function offerBatch(scope: Scope, session: SessionId, payload: unknown, options: InboxOfferOptions): Promise<OfferedInboxItem> {
  checkOpen(scope.engine)
  const { delivery, kind, join = true, merge, key, delay, ...unknown } = optionsOf(options, 'offer')
  checkKnown(unknown, 'a batch')
  if (!DELIVERIES.includes(delivery)) throw invalidOption('delivery', "'boundary' or 'afterTurn'", delivery)
  if (!BATCH_KINDS.includes(kind)) throw invalidOption('kind', "'turn' or 'command'", kind)
  if (typeof join !== 'boolean') throw invalidOption('join', 'true or false', join)
  const delayMs = delay === undefined ? 0 : milliseconds(delay)
  const named = key === undefined ? undefined : maskKey(scope, key)
  const together = merge === undefined ? undefined : takeName(scope, merge, 'a merge key')
  const admitted = payload === undefined ? undefined : admit(scope, payload)
  const stored = await store(scope, admitted, { of: 'the batch' })
  const at = delayMs > 0 ? (await storeNow(scope)) + delayMs : undefined
  const offered = { session, key: named, payload: stored, delivery, kind, join, merge: together, at }
  const { rows, receipts } = await plan(scope, [offerInboxPart(scope, offered, named === undefined ? { seen: NOT_THERE } : {})], {
    open: session,
  })
  return { ...(await toBatch(scope, rows[0].body as InboxRow)), repeated: receipts.length === 0 }
}

async function readBatch(scope: Scope, session: SessionId, given: string): Promise<InboxRow | undefined> {
  checkOpen(scope.engine)
  const id = telling(scope, () => toId<'batch'>(given))
  const { body: row } = await readRow(scope, 'inbox', id)
  return row?.session === session ? row : undefined
}

const WORDS: Readonly<Record<InboxState, InboxCancelWord>> = {
  pending: 'cancelled',
  claimed: 'held',
  completed: 'alreadyCompleted',
  cancelled: 'alreadyCancelled',
}

/** The conflict: a run claimed the item or released it. */
const cancelBatch = (scope: Scope, session: SessionId, given: string): Promise<InboxCancelOutcome> =>
  retryConflicts(scope, ['inbox'], async () => {
    const row = await readBatch(scope, session, given)
    if (!row) return { id: given as InboxItemId, outcome: 'notFound' }
    const { id, state } = row
    if (state === 'pending') await plan(scope, [part(inbox, id, { verb: 'cancel', id }, { session })])
    return { id, outcome: WORDS[state] }
  })

async function toBatch(scope: Scope, row: InboxRow): Promise<InboxItem> {
  return { ...row, payload: await load(scope, row.payload) }
}
