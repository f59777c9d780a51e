// The public API of a session's inbox: callers offer work items to it, and its runs claim them.

import { type SessionId, toId } from '../../../model/ids.ts'
import {
  DELIVERIES,
  INBOX_KINDS,
  INBOX_STATES,
  type InboxDelivery,
  type InboxItemId,
  type InboxKind,
  type InboxRow,
  type InboxState,
} from '../../../model/inbox.ts'
import { checkKnown, invalidOption, optionsOf } from '../../../model/options.ts'
import { decodeBody } from '../../../model/rows.ts'
import { type Duration, milliseconds } from '../../../model/time.ts'
import { load, storeOffered } from '../../content/json-or-blob.ts'
import { WriteTime } from '../../measuring/write-time.ts'
import { maskKey, takeName } from '../../naming/names.ts'
import { checkThere } from '../../session/refuse-deleted.ts'
import { storeNow } from '../../time/store-time.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { telling } from '../../writing/draft.ts'
import { NOT_THERE, part, plan, readRow } from '../../writing/execute.ts'
import { retryConflicts } from '../../writing/retry-conflicts.ts'
import { inbox } from './inbox-decider.ts'
import { type Listing, listed, type PruneOptions, pruneOver } from './lists.ts'
import { offerInboxPart } from './offer-inbox-item.ts'

export interface InboxOfferOptions {
  /** `boundary`: at the next safe place, also within a turn. `afterTurn`: only between turns. */
  readonly delivery: InboxDelivery
  /** Work for a turn, or a command to the session. Nothing overtakes a command. */
  readonly kind: InboxKind
  /** Whether the item may come together with its neighbours. The default is true. */
  readonly join?: boolean
  /** Only items with the same text come together. */
  readonly merge?: string
  /** Idempotency key: with the same payload and options it returns the same item, also an ended one. Anything else is refused. */
  readonly key?: string
  /** Delay before the item becomes due. */
  readonly delay?: Duration
  /** `false` stores the payload without masking secrets. */
  readonly redact?: boolean
}

/** An inbox item with its payload. */
export interface InboxItem extends Omit<InboxRow, 'payload'> {
  readonly payload: unknown
}

export interface OfferedInboxItem extends InboxItem {
  /** The key was used before: this is the first item again. */
  readonly repeated: boolean
}

/** `held`: a run has claimed it. */
export type InboxCancelWord = 'cancelled' | 'held' | 'alreadyCompleted' | 'alreadyCancelled' | 'notFound'

export interface InboxCancelOutcome {
  readonly id: InboxItemId
  readonly outcome: InboxCancelWord
}

export interface SessionInbox {
  offer(payload: unknown, options: InboxOfferOptions): Promise<OfferedInboxItem>
  /** Lists items, newest first unless `first` is given. */
  list(options?: Listing<InboxState>): Promise<{ readonly items: readonly InboxItem[]; readonly cursor?: string }>
  get(id: string): Promise<InboxItem | undefined>
  /** Cancels an item that no run has claimed. */
  cancel(id: string): Promise<InboxCancelOutcome>
  /** Removes completed and cancelled items, and frees their keys. Returns how many. */
  prune(options?: PruneOptions): Promise<number>
}

export function sessionInbox(scope: Scope, session: SessionId): SessionInbox {
  return {
    offer: (payload, options) => offerBatch(scope, session, payload, options),
    list: async (options) => {
      const { rows, cursor } = await listed(scope, 'inbox', session, INBOX_STATES, options)
      const items = await Promise.all(rows.map((row) => toBatch(scope, decodeBody(row.body, row))))
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
  const { delivery, kind, join = true, merge, key, delay, redact, ...unknown } = optionsOf(options, 'offer')
  checkKnown(unknown, 'an inbox item')
  if (!DELIVERIES.includes(delivery)) throw invalidOption('delivery', "'boundary' or 'afterTurn'", delivery)
  if (!INBOX_KINDS.includes(kind)) throw invalidOption('kind', "'turn' or 'command'", kind)
  if (typeof join !== 'boolean') throw invalidOption('join', 'true or false', join)
  const delayMs = delay === undefined ? 0 : milliseconds(delay)
  const named = key === undefined ? undefined : maskKey(scope, key)
  const together = merge === undefined ? undefined : takeName(scope, merge, 'a merge key')
  const time = new WriteTime(scope.engine.environment.clock)
  const stored = await storeOffered(scope, payload, 'an item of the inbox', redact, time)
  const at = delayMs > 0 ? (await storeNow(scope)) + delayMs : undefined
  const offered = { session, key: named, payload: stored, delivery, kind, join, merge: together, at, delayMs }
  const { rows, receipts } = await plan(scope, [offerInboxPart(scope, offered, named === undefined ? { seen: NOT_THERE } : {})], {
    open: session,
    time,
  })
  return { ...(await toBatch(scope, rows[0].body as InboxRow)), repeated: receipts.length === 0 }
}

async function readBatch(scope: Scope, session: SessionId, given: string): Promise<InboxRow | undefined> {
  checkOpen(scope.engine)
  const id = telling(scope, () => toId<'inbox-item'>(given))
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
    if (!row) {
      await checkThere(scope, session)
      return { id: given as InboxItemId, outcome: 'notFound' }
    }
    const { id, state } = row
    if (state === 'pending') await plan(scope, [part(inbox, id, { verb: 'cancel', id }, { session })])
    return { id, outcome: WORDS[state] }
  })

async function toBatch(scope: Scope, row: InboxRow): Promise<InboxItem> {
  return { ...row, payload: await load(scope, row.payload) }
}
