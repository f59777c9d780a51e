// Turns a stored record into the event that a reader gets.

import type { BlobRef } from '../model/blob.ts'
import { fromUtf8, hex } from '../model/bytes.ts'
import { refuse } from '../model/errors.ts'
import { type Event, type EventRecord, IN_BLOB, TRANSIENT } from '../model/event.ts'
import type { TenantId } from '../model/ids.ts'

export function decodeEvent(tenant: TenantId, e: EventRecord): Event {
  const content = e.payload === undefined ? undefined : decodePayload(tenant, e.seq, e.payload)
  const inBlob = e.schema === IN_BLOB && content !== undefined
  return {
    seq: e.seq,
    id: e.id,
    tenant,
    type: e.type,
    data: inBlob ? undefined : content,
    ...(inBlob && { blob: content as BlobRef }),
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
