// Ids and times of events that a caller chose: for an import, or for a retry that another process may send. The id is an idempotency key.

import { hex } from '../../model/bytes.ts'
import { canonical } from '../../model/canonical.ts'
import { refuse } from '../../model/errors.ts'
import type { EventDraft, EventRecord, Receipt } from '../../model/event.ts'
import { type EventId, idTime, toId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import { invalidOption } from '../../model/options.ts'
import { decodePayload } from '../reading/decode-event.ts'
import { findById } from '../reading/find-event.ts'
import type { Scope } from '../wiring/scope.ts'

/** The scope of the receipts that make an id unique while its first append is still on its way. */
export const ID_SCOPE = 'append by id'

/** Checks the id and the time that a caller chose. An event with an id has a time from the start, because its receipt names it. */
export function callerIdentity(
  scope: Scope,
  given: string | undefined,
  at: Date | number | undefined,
): { readonly id?: EventId; readonly at?: number } {
  const time = at === undefined ? undefined : takeTime(at)
  if (time !== undefined) checkAhead(scope, 'at', 'a time', time)
  if (given === undefined) return time === undefined ? {} : { at: time }
  const id = toId<'event'>(given)
  checkAhead(scope, 'id', 'a ULID of a time', idTime(id))
  return { id, at: time ?? scope.engine.environment.clock.now() }
}

function takeTime(given: Date | number): number {
  const at: unknown = given instanceof Date ? given.getTime() : given
  if (typeof at === 'number' && Number.isSafeInteger(at) && at >= 0) return at
  throw invalidOption('at', 'a Date or Unix milliseconds', given)
}

function checkAhead({ engine }: Scope, option: string, what: string, time: number): void {
  if (time <= engine.lane.storeTime() + limits.clockAheadMs) return
  throw invalidOption(
    option,
    `${what} at most ${limits.clockAheadMs / 60_000} minutes ahead of the store's clock`,
    new Date(time).toISOString(),
  )
}

/**
 * Returns the receipt of the event that has the id of this draft, if the two are the same. Another event under the id is ID_REUSED. The time
 * counts only if the caller gave it; the actor does not count, as with keys.
 */
export async function findWritten(scope: Scope, draft: EventDraft, timed: boolean): Promise<Receipt | undefined> {
  const { tenant } = scope
  const record = await findById(scope, draft.id)
  if (!record) return undefined
  if (!isRetry(scope, record, draft, timed))
    throw refuse('ID_REUSED', { id: draft.id, seq: record.seq, erased: record.payload === undefined })
  return { id: record.id, seq: record.seq, hash: hex(record.hash), tenant }
}

function isRetry({ tenant }: Scope, record: EventRecord, draft: EventDraft, timed: boolean): boolean {
  if (record.payload === undefined || (timed && record.at !== draft.at)) return false
  for (const member of ['type', 'session', 'run', 'subject', 'cause', 'class', 'schema'] as const)
    if (record[member] !== draft[member]) return false
  return canonical(decodePayload(tenant, record.seq, record.payload)) === canonical(JSON.parse(draft.payload))
}
