// The part of a commit that offers an item to the inbox of a session.

import type { SessionId } from '../../../model/ids.ts'
import type { InboxDelivery, InboxItemId, InboxKind, InboxRow } from '../../../model/inbox.ts'
import type { Stored } from '../../../model/run.ts'
import { isUnmasked } from '../../content/json-or-blob.ts'
import { derivedId } from '../../naming/derived-id.ts'
import type { Scope } from '../../wiring/scope.ts'
import { type Part, part } from '../../writing/execute.ts'
import { inbox } from './inbox-decider.ts'

export interface OfferedPart {
  readonly session: SessionId
  /** Idempotency key: with the same payload and options it returns the same item, also an ended one. Anything else is refused. */
  readonly key?: string | undefined
  readonly payload: Stored
  readonly delivery: InboxDelivery
  readonly kind: InboxKind
  /** Whether the item may come together with its neighbours. The default is true. */
  readonly join?: boolean | undefined
  readonly merge?: string | undefined
  /** When the item becomes due, in store time, and the delay that it follows from. */
  readonly at?: number | undefined
  readonly delayMs?: number | undefined
}

/** Writes nothing when the same item exists already. */
export function offerInboxPart(
  scope: Scope,
  offered: OfferedPart,
  about: Pick<Part<InboxRow>, 'run' | 'cause' | 'seen'> = {},
): Part<InboxRow> {
  const { session, key, payload, delivery, kind, join = true, merge, at, delayMs = 0 } = offered
  const id = inboxItemId(scope, session, key)
  const set = {
    session,
    kind,
    delivery,
    join,
    payload,
    ...(merge !== undefined && { merge }),
    ...(key !== undefined && { key }),
    ...(at !== undefined && { at }),
    ...(delayMs > 0 && { delay: delayMs }),
  }
  return part(inbox, id, { verb: 'offer', id, set }, { session, ...about, whole: isUnmasked(payload) })
}

/** The id follows from the key, if there is one. The key is taken as long as the row exists. */
export const inboxItemId = (scope: Scope, session: SessionId, key: string | undefined): InboxItemId =>
  key === undefined ? scope.engine.newId<'inbox-item'>() : derivedId<'inbox-item'>(scope, `inbox/${session}\n${key}`)
