// Finds one event, by its id or by the idempotency key that it was appended under.

import { keyDigest } from '../model/chain.ts'
import type { Event, EventRecord } from '../model/event.ts'
import { type EventId, optionalId, type SessionId, toId } from '../model/ids.ts'
import { checkKey, checkKnown, optionsOf } from '../model/options.ts'
import type { PageQuery } from '../ports/journal.ts'
import { decodeEvent } from './decode-event.ts'
import { telling } from './draft.ts'
import { checkOpen, type Scope } from './scope.ts'

/** Names an event by its idempotency key. */
export interface EventKey {
  readonly key: string
  /** The id of the session that the event was appended to. Without it, the key is one of `appendAll`. */
  readonly session?: string
}

/** The scopes in which keys of appends are unique. */
export const keyScope = (session: SessionId | undefined): string => (session === undefined ? 'appendAll' : `append/${session}`)

export async function findEvent(scope: Scope, wanted: string | EventKey): Promise<Event | undefined> {
  checkOpen(scope.engine)
  const record = await findRecord(
    scope,
    telling(scope, () => queryOf(scope, wanted)),
  )
  return record && decodeEvent(scope.tenant, record)
}

function queryOf({ engine, tenant }: Scope, wanted: string | EventKey): Pick<PageQuery, 'id' | 'key'> {
  if (typeof wanted !== 'object' || wanted === null) return { id: toId<'event'>(wanted) }
  const { key, session, ...unknown } = optionsOf(wanted, 'event')
  checkKnown(unknown, 'event()')
  checkKey(key)
  return { key: keyDigest(engine.environment.digest.sha256, tenant, keyScope(optionalId<'session'>(session)), key) }
}

export const findById = (scope: Scope, id: EventId): Promise<EventRecord | undefined> => findRecord(scope, { id })

/** A key that was used again after its receipt was swept has several events. The oldest one is found, so that the answer never changes. */
async function findRecord({ engine, tenant }: Scope, query: Pick<PageQuery, 'id' | 'key'>): Promise<EventRecord | undefined> {
  const { events } = await engine.backend.journal.page(tenant, { ...query, from: 0, limit: 1 })
  return events[0]
}
