// An event is one fact in a tenant's journal. A draft has everything but its place, a record is what a backend keeps, an event is what a
// reader gets.

import type { BlobRef } from './blob.ts'
import { refuse } from './errors.ts'
import type { EventId, Id, RunId, SessionId, TenantId } from './ids.ts'
import { limits } from './limits.ts'
import { quoted } from './options.ts'

export const DURABLE = 0
/** Retention may erase it. */
export const TRANSIENT = 1
export type EventClass = typeof DURABLE | typeof TRANSIENT

/** The payload is the data. */
export const INLINE = 1
/** The payload is a reference to the blob that holds the data. */
export const IN_BLOB = 2
/** The payload is `{ refs, data }`: the declared references, and the data. */
export const INLINE_WITH_REFS = 3
/** The payload is `{ refs, digest, bytes }`: the declared references, and the reference to the blob that holds the data. */
export const IN_BLOB_WITH_REFS = 4

/** The header is never erased, so it contains no names and no free text. */
export interface EventHeader {
  readonly id: EventId
  /** The appender's clock in Unix milliseconds. It may step back; seq is the order. */
  readonly at: number
  readonly type: string
  /** The form of the payload: INLINE, IN_BLOB, or one of them with declared references. */
  readonly schema: number
  readonly class: EventClass
  /** Empty if no actor is named. */
  readonly actor: string
  readonly session?: SessionId | undefined
  readonly run?: RunId | undefined
  /** The row this fact is about, so that rows can be folded after payloads are erased. */
  readonly subject?: Id | undefined
  readonly cause?: EventId | undefined
  /** The first 16 bytes of the digest of the caller's key. */
  readonly key?: Uint8Array | undefined
}

export interface EventDraft extends EventHeader {
  /** The exact JSON text. */
  readonly payload: string
  readonly salt: Uint8Array
  /** `commit_i`. */
  readonly digest: Uint8Array
  /** `event_i`, computed outside any lock. */
  readonly event: Uint8Array
  /**
   * Values and blobs that the payload refers to: refs of values, or `blob:` and a digest. They follow from the payload, which is hashed:
   * `referencesOf` in event-payload.ts.
   */
  readonly refs?: readonly string[] | undefined
}

export interface EventRecord extends EventHeader {
  readonly seq: number
  /** UTF-8 as stored; `undefined` when erased. */
  readonly payload: Uint8Array | undefined
  readonly salt: Uint8Array | undefined
  readonly digest: Uint8Array
  readonly hash: Uint8Array
}

export interface Event<Data = unknown, Type extends string = string> {
  readonly seq: number
  readonly id: EventId
  readonly tenant: TenantId
  readonly type: Type
  /** `undefined` when the payload was erased, and when a blob holds the data: `store.data(event)` reads both kinds. */
  readonly data: Data | undefined
  /** The blob that holds the data, which was too large for the event. */
  readonly blob?: BlobRef
  /** The references that the append declared: refs of values, and digests of blobs. */
  readonly refs?: readonly string[]
  readonly at: number
  readonly actor?: string
  readonly session?: SessionId
  readonly run?: RunId
  readonly subject?: Id
  readonly cause?: EventId
  readonly schema: number
  readonly transient?: true
  readonly erased?: true
  /** `h_i` in hex. */
  readonly hash: string
}

/** Proof of a commit. Its holder can check later that the journal is unchanged up to here. */
export interface Receipt {
  readonly id: EventId
  readonly seq: number
  readonly hash: string
  readonly tenant: TenantId
}

/** The reason of a backend that refuses a key whose stored receipt does not match its digest. */
export const damagedReceipt = (seq: number): string =>
  `the stored receipt of this idempotency key is damaged (it names seq ${seq}); inkfast verify lists damaged receipts`

const TYPE = /^[a-z][a-z0-9_-]*(\.[a-z0-9_-]+)+$/
const ACTOR = new RegExp(`^[\\x21-\\x7e]{1,${limits.actorChars}}$`)

export function checkType(type: unknown): asserts type is string {
  if (typeof type !== 'string' || type.length > limits.typeBytes || !TYPE.test(type))
    throw refuse('TYPE_INVALID', { type: quoted(type).slice(0, 80) })
}

/** Opaque ids of actors and owners have one form. */
export const isActor = (actor: unknown): actor is string => typeof actor === 'string' && ACTOR.test(actor)

export function checkActor(actor: unknown): asserts actor is string {
  if (!isActor(actor)) throw refuse('ACTOR_INVALID', { found: typeof actor === 'string' ? `${actor.length} characters` : typeof actor })
}

/** A type (`plan.changed`) or everything under a prefix (`plan.*`, `*`), in the form that every backend compares the same way. */
export interface TypePattern {
  readonly text: string
  readonly prefix: boolean
}

export function typePattern(pattern: string): TypePattern {
  if (typeof pattern !== 'string') throw refuse('TYPE_INVALID', { type: quoted(pattern).slice(0, 80) })
  if (pattern === '*') return { text: '', prefix: true }
  if (pattern.endsWith('.*') && TYPE.test(`${pattern.slice(0, -1)}x`)) return { text: pattern.slice(0, -1), prefix: true }
  checkType(pattern)
  return { text: pattern, prefix: false }
}

export const matchesType = (type: string, patterns: readonly TypePattern[]): boolean =>
  patterns.some((p) => (p.prefix ? type.startsWith(p.text) : type === p.text))
