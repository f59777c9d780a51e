// The hash preimages, byte for byte: docs/reference/journal-format.md in code. Test vectors made by another implementation freeze them.

import { ByteWriter, utf8 } from './bytes.ts'
import type { EventHeader } from './event.ts'

export type Sha256<Digest extends Uint8Array = Uint8Array> = (bytes: Uint8Array) => Digest

export const GENESIS: Uint8Array = new Uint8Array(32)

const PAYLOAD = utf8('inkfast/1/payload\0')
const EVENT = utf8('inkfast/1/event\0')
const LINK = utf8('inkfast/1/link\0')
const KEY = utf8('inkfast/1/key\0')
const BODY = utf8('inkfast/1/body\0')
const RECEIPT = utf8('inkfast/1/receipt\0')
const KEY_LENGTH = 16

const writer = new ByteWriter()

/** `commit_i`: binds an event to its payload; stays when the payload and its salt are erased. */
export function payloadDigest(sha256: Sha256, salt: Uint8Array, payload: string | Uint8Array): Uint8Array {
  writer.start(PAYLOAD).bytes(salt)
  return sha256((typeof payload === 'string' ? writer.text(payload) : writer.bytes(payload)).done())
}

/** `event_i`: covers everything about an event except its place, so it is computed before the order is decided. */
export function eventDigest(sha256: Sha256, journal: string, e: EventHeader, digest: Uint8Array): Uint8Array {
  writer.start(EVENT).prefixed(journal).id(e.id).u64(e.at).prefixed(e.type).u32(e.schema).u8(e.class)
  writer.prefixed(e.actor).id(e.session).id(e.run).id(e.subject).id(e.cause)
  writer.bytes(e.key ?? ZERO_KEY)
  return sha256(writer.bytes(digest).done())
}

const ZERO_KEY = new Uint8Array(KEY_LENGTH)

/** `h_i`: the event in its place, chained to all events before it. */
export function linkHash<Digest extends Uint8Array>(sha256: Sha256<Digest>, previous: Uint8Array, seq: number, event: Uint8Array): Digest {
  return sha256(writer.start(LINK).bytes(previous).u64(seq).bytes(event).done())
}

/** The form of a caller's key in the header: it identifies the key without revealing it. */
export function keyDigest(sha256: Sha256, journal: string, scope: string, key: string): Uint8Array {
  return sha256(writer.start(KEY).prefixed(journal).prefixed(scope).text(key).done()).slice(0, KEY_LENGTH)
}

/**
 * Digest of the command body, compared when a key is used again. It is salted with the first event's salt, so erasing that payload erases
 * it too.
 */
export function bodyDigest(sha256: Sha256, salt: Uint8Array, canonicalBody: string): Uint8Array {
  return sha256(writer.start(BODY).bytes(salt).text(canonicalBody).done())
}

/** The row that a backend keeps for an idempotency key. */
export interface KeyReceipt {
  /** `keyDigest` of the caller's key. */
  readonly key: Uint8Array
  /** The first event of the commit. */
  readonly seq: number
  readonly count: number
  /** `bodyDigest` of the command. */
  readonly body: Uint8Array
  /** Store time of the commit. */
  readonly at: number
}

/** Covers every column of a receipt, so that a changed byte is noticed. */
export function receiptDigest(sha256: Sha256, journal: string, { key, seq, count, body, at }: KeyReceipt): Uint8Array {
  return sha256(writer.start(RECEIPT).prefixed(journal).bytes(key).u64(seq).u64(count).bytes(body).u64(at).done()).slice(0, KEY_LENGTH)
}
