// Finds one event, by its id or by the idempotency key that it was appended under.

import { keyDigest } from '../../model/chain.ts'
import type { Event, EventRecord } from '../../model/event.ts'
import { type EventId, type SessionId, toId } from '../../model/ids.ts'
import { checkKey, checkKnown, filterOf } from '../../model/options.ts'
import type { PageQuery } from '../../ports/journal.ts'
import { sessionToRead } from '../session/session-named.ts'
import { checkOpen, type Scope } from '../wiring/scope.ts'
import { telling } from '../writing/draft.ts'
import { decodeEvent } from './decode-event.ts'

/** Names an event by its idempotency key. */
export interface EventKey {
  readonly key: string
  /** The key or the id of the session that the event was appended to. Without it, the key is one of `appendAll`. */
  readonly session?: string
}

/** The scopes in which keys of appends are unique. */
export const keyScope = (session: SessionId | undefined): string => (session === undefined ? 'appendAll' : `append/${session}`)

export async function findEvent(scope: Scope, wanted: string | EventKey): Promise<Event | undefined> {
  checkOpen(scope.engine)
  const record = await findRecord(scope, await queryOf(scope, wanted))
  return record && decodeEvent(scope.tenant, record)
}

async function queryOf(scope: Scope, wanted: string | EventKey): Promise<Pick<PageQuery, 'id' | 'key'>> {
  if (typeof wanted !== 'object' || wanted === null) return { id: telling(scope, () => toId<'event'>(wanted)) }
  const { key, session, ...unknown } = filterOf(wanted, 'event')
  checkKnown(unknown, 'event()')
  checkKey(key)
  const within = keyScope(session === undefined ? undefined : await sessionToRead(scope, session))
  return { key: keyDigest(scope.engine.environment.digest.sha256, scope.tenant, within, key) }
}

export const findById = (scope: Scope, id: EventId): Promise<EventRecord | undefined> => findRecord(scope, { id })

/** A key that was used again after its receipt was swept has several events. The oldest one is found, so that the answer never changes. */
async function findRecord({ engine, tenant }: Scope, query: Pick<PageQuery, 'id' | 'key'>): Promise<EventRecord | undefined> {
  const { events } = await engine.backend.journal.page(tenant, { ...query, from: 0, limit: 1 })
  return events[0]
}
