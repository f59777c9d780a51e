// Turns a stored record into the event that a reader gets.

import type { BlobRef } from '../../model/blob.ts'
import { fromUtf8, hex } from '../../model/bytes.ts'
import { refuse } from '../../model/errors.ts'
import { type Event, type EventRecord, TRANSIENT } from '../../model/event.ts'
import { openPayload } from '../../model/event-payload.ts'
import type { TenantId } from '../../model/ids.ts'
import { asGiven } from '../content/references.ts'

export function decodeEvent(tenant: TenantId, e: EventRecord): Event {
  const opened = e.payload === undefined ? undefined : openPayload(e.schema, decodePayload(tenant, e.seq, e.payload))
  if (e.payload !== undefined && opened === undefined)
    throw refuse('JOURNAL_BROKEN', { tenant, seq: e.seq, reason: 'the payload has not the form that its header names' })
  return {
    seq: e.seq,
    id: e.id,
    tenant,
    type: e.type,
    data: opened?.data,
    ...(opened?.blob !== undefined && { blob: opened.blob as BlobRef }),
    ...(opened && opened.refs.length > 0 && { refs: opened.refs.map(asGiven) }),
    at: e.at,
    ...(e.actor !== '' && { actor: e.actor }),
    ...(e.session && { session: e.session }),
    ...(e.run && { run: e.run }),
    ...(e.subject && { subject: e.subject }),
    ...(e.cause && { cause: e.cause }),
    schema: e.schema,
    ...(e.class === TRANSIENT && { transient: true as const }),
    ...(e.payload === undefined && { erased: true as const }),
    hash: hex(e.hash),
  }
}

export function decodePayload(tenant: TenantId, seq: number, payload: Uint8Array): unknown {
  try {
    return JSON.parse(fromUtf8(payload))
  } catch (cause) {
    throw refuse('JOURNAL_BROKEN', { tenant, seq, reason: 'the payload is not the JSON that was written' }, cause)
  }
}
