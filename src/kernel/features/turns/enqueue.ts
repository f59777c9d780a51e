// Items that a turn offers in its commit: to the inbox of its session, or to a queue.

import type { Json } from '../../../model/data.ts'
import { takeData } from '../../../model/data.ts'
import type { SessionId } from '../../../model/ids.ts'
import { DELIVERIES, INBOX_KINDS, type InboxDelivery, type InboxKind } from '../../../model/inbox.ts'
import { checkKnown, invalidOption, optionsOf } from '../../../model/options.ts'
import { type Duration, milliseconds } from '../../../model/time.ts'
import { storeOffered } from '../../content/json-or-blob.ts'
import { maskKey, takeName } from '../../naming/names.ts'
import { storeNow } from '../../time/store-time.ts'
import type { Scope } from '../../wiring/scope.ts'
import { telling } from '../../writing/draft.ts'
import { NOT_THERE, type Part } from '../../writing/execute.ts'
import { offerInboxPart } from '../inputs/offer-inbox-item.ts'
import { itemId, offerPart, takeOffer, takeQueue } from '../work/offer.ts'

export interface EnqueueOptions {
  readonly payload: unknown
  /** Offers a work item to this queue. By default the item goes to the inbox of the session. */
  readonly queue?: string
  /** For an inbox item. The default is `afterTurn`. */
  readonly delivery?: InboxDelivery
  /** For an inbox item. The default is `turn`. */
  readonly kind?: InboxKind
  /** Idempotency key of an inbox item. */
  readonly key?: string
  /** Only inbox items with the same text come together. */
  readonly merge?: string
  /** Priority of a work item. */
  readonly priority?: number
  /** Delay before the item becomes due. */
  readonly delay?: Duration
}

export interface Enqueued extends Omit<EnqueueOptions, 'payload' | 'delay'> {
  readonly payload: Json
  readonly delayMs: number
  /** To compare with the receipt of a turn. */
  readonly raw: Json
}

export function takeEnqueued(scope: Scope, given: EnqueueOptions): Enqueued {
  const { payload, queue, delivery = 'afterTurn', kind = 'turn', key, merge, priority, delay, ...unknown } = optionsOf(given, 'enqueue')
  checkKnown(unknown, 'an item')
  if (!DELIVERIES.includes(delivery)) throw invalidOption('delivery', "'boundary' or 'afterTurn'", delivery)
  if (!INBOX_KINDS.includes(kind)) throw invalidOption('kind', "'turn' or 'command'", kind)
  if (queue !== undefined && (key !== undefined || merge !== undefined))
    throw invalidOption('key', 'no key and no merge text for a queue: the turn is written once')
  if (queue === undefined && priority !== undefined) throw invalidOption('priority', 'no priority for an inbox item', priority)
  const data = telling(scope, () => takeData(payload))
  const about = {
    ...(queue !== undefined && { queue: takeQueue(scope, queue) }),
    delivery,
    kind,
    ...(key !== undefined && { key: maskKey(scope, key) }),
    ...(merge !== undefined && { merge: takeName(scope, merge, 'a merge key') }),
    ...(priority !== undefined && { priority }),
  }
  const delayMs = delay === undefined ? 0 : milliseconds(delay)
  return { ...about, payload: data, delayMs, raw: { ...about, payload: data, delayMs } as unknown as Json }
}

export async function enqueueParts(scope: Scope, session: SessionId, items: readonly Enqueued[]): Promise<readonly Part[]> {
  const parts: Part[] = []
  for (const { payload, queue, delivery = 'afterTurn', kind = 'turn', key, merge, priority, delayMs } of items) {
    const stored = await storeOffered(
      scope,
      payload,
      queue === undefined ? 'an item of the inbox' : `an item of the queue '${queue}'`,
      undefined,
    )
    const now = await storeNow(scope, delayMs > 0)
    if (queue === undefined) {
      const at = delayMs > 0 ? now + delayMs : undefined
      const about = key === undefined ? { seen: NOT_THERE } : {}
      parts.push(offerInboxPart(scope, { session, key, payload: stored, delivery, kind, merge, at, delayMs }, about))
    } else {
      const { delayMs: _, notBefore: __, ...taken } = takeOffer(scope, queue, priority === undefined ? {} : { priority })
      const offered = { ...taken, queue, at: now + delayMs, payload: stored }
      parts.push(offerPart(itemId(scope, queue, undefined), offered, { seen: NOT_THERE }))
    }
  }
  return parts
}
