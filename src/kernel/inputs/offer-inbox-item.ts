// Offering an item to the inbox of a session: the part of a commit that does it, for everything that has something to tell a session.

import type { SessionId } from '../../model/ids.ts'
import type { InboxDelivery, InboxItemId, InboxKind, InboxRow } from '../../model/inbox.ts'
import type { Stored } from '../../model/run.ts'
import { derivedId } from '../derived-id.ts'
import { type Part, part } from '../execute.ts'
import type { Scope } from '../scope.ts'
import { inbox } from './inbox-decider.ts'

export interface OfferedPart {
  readonly session: SessionId
  /** The same key and the same payload: the same item, also when it is over. Another payload with it is refused. */
  readonly key?: string | undefined
  readonly payload: Stored
  readonly delivery: InboxDelivery
  readonly kind: InboxKind
  /** May come together with those beside it. It may, unless said. */
  readonly join?: boolean | undefined
  readonly merge?: string | undefined
  /** Not before then, in store time. */
  readonly at?: number | undefined
}

/** Nothing is written by it where the same item is there already. */
export function offerInboxPart(
  scope: Scope,
  offered: OfferedPart,
  about: Pick<Part<InboxRow>, 'run' | 'cause' | 'seen'> = {},
): Part<InboxRow> {
  const { session, key, payload, delivery, kind, join = true, merge, at } = offered
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
  }
  return part(inbox, id, { verb: 'offer', id, set }, { session, ...about })
}

/** Where a key is given, the id follows from it: as long as the row is there, the key is its own. */
export const inboxItemId = (scope: Scope, session: SessionId, key: string | undefined): InboxItemId =>
  key === undefined ? scope.engine.newId<'batch'>() : derivedId<'batch'>(scope, `inbox/${session}\n${key}`)
