// Makes a value into an event for the journal: checks, masks, fixes its exact text, and digests it. Nothing here waits.

import { utf8Length } from '../../model/bytes.ts'
import { canonical } from '../../model/canonical.ts'
import { eventDigest, keyDigest, payloadDigest } from '../../model/chain.ts'
import { type Json, takeData } from '../../model/data.ts'
import { InkError, refuse } from '../../model/errors.ts'
import { DURABLE, type EventClass, type EventDraft, INLINE } from '../../model/event.ts'
import { declare, referencesOf } from '../../model/event-payload.ts'
import type { EventId, Id, RunId, SessionId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import { checkKey, invalidOption } from '../../model/options.ts'
import type { CommitKey } from '../../ports/commit.ts'
import type { Scope } from '../wiring/scope.ts'
import { noteMasked } from './mask-notice.ts'

export interface DraftHeader {
  readonly type: string
  readonly class?: EventClass
  readonly schema?: number
  readonly session?: SessionId | undefined
  readonly run?: RunId | undefined
  readonly subject?: Id | undefined
  readonly cause?: EventId | undefined
  readonly key?: Uint8Array | undefined
  /** The id of the event. The default is a new one. */
  readonly id?: EventId | undefined
  /** The time of the event. The default is the clock's. */
  readonly at?: number | undefined
  /** Declared references, which become part of the payload. Blobs in the payload are found by themselves. */
  readonly refs?: readonly string[] | undefined
}

/** Checks data and masks secrets. The result is hashed, indexed and compared. `readBack` names data that a program reads back. */
export function admit(scope: Scope, data: unknown, readBack?: string): Json {
  const given = taken(scope, data)
  const masked = mask(scope, given)
  if (masked !== given && readBack !== undefined) noteMasked(scope.engine, readBack, given, masked)
  return masked
}

export interface Admitted {
  readonly data: Json
  /** The exact text that will be hashed. */
  readonly payload: string
  /** The data is too large for an event. */
  readonly large?: boolean
}

interface AdmitOptions {
  /** Stores the data as it is: nothing is masked. */
  readonly whole?: boolean | undefined
  /** Returns data that is too large instead of refusing it. */
  readonly large?: boolean | undefined
}

/** Checks data, masks secrets, and fixes its text. Masks are longer than short secrets, so the limit counts what the caller sent. */
export function admitPayload(scope: Scope, data: unknown, { whole, large }: AdmitOptions = {}): Admitted {
  const sent = taken(scope, data)
  const masked = whole ? sent : mask(scope, sent)
  const payload = JSON.stringify(masked)
  const excess = excessOf(scope, payload, masked === sent ? payload : JSON.stringify(sent))
  if (!excess) return { data: masked, payload }
  if (!large) throw refuse('DATA_TOO_LARGE', { ...excess })
  return { data: masked, payload, large }
}

/** The text of data that the kernel made from masked values. */
export function knownPayload(scope: Scope, data: Json): Admitted {
  const payload = JSON.stringify(data)
  const excess = excessOf(scope, payload, payload)
  if (excess) throw refuse('DATA_TOO_LARGE', { ...excess })
  return { data, payload }
}

/** Checks that data made from masked values fits into an event. */
export function checkSize(scope: Scope, data: object): void {
  const payload = JSON.stringify(data)
  const excess = excessOf(scope, payload, payload)
  if (excess) throw refuse('DATA_TOO_LARGE', { ...excess })
}

interface Excess {
  readonly bytes: number
  readonly limit: number
  readonly masked?: true
}

function excessOf({ engine }: Scope, payload: string, sent: string): Excess | undefined {
  const [limit, most] = [engine.payloadBytes, engine.payloadBytes * limits.maskedTimes]
  if (isLonger(sent, limit)) return { bytes: utf8Length(sent), limit }
  if (payload !== sent && isLonger(payload, most)) return { bytes: utf8Length(payload), limit: most, masked: true }
  return undefined
}

/** Most texts are so short that their bytes need not be counted. */
const isLonger = (text: string, limit: number): boolean => text.length * 3 > limit && utf8Length(text) > limit

const taken = (scope: Scope, data: unknown): Json => telling(scope, () => takeData(data))

/** Returns the same reference if there is nothing to mask. */
const mask = ({ engine }: Scope, data: Json): Json => (engine.redactor ? engine.redactor.value(data) : data) as Json

/** Whether the option `redact` of a call asks for data that is stored as it is. */
export function isWhole(redact: boolean | undefined): boolean {
  if (redact !== undefined && typeof redact !== 'boolean') throw invalidOption('redact', 'true or false', redact)
  return redact === false
}

/** Masks secrets in the details of a refusal, which may repeat what the caller gave. */
export function telling<T>(scope: Scope, check: () => T): T {
  try {
    return check()
  } catch (error) {
    const { redactor } = scope.engine
    throw redactor && error instanceof InkError ? refuse(error.code, redactor.value(error.details) as typeof error.details) : error
  }
}

const NO_REFS: readonly string[] = []

export function draftEvent(scope: Scope, header: DraftHeader, data: string): EventDraft {
  const { engine, tenant, actor } = scope
  const { sha256 } = engine.environment.digest
  const salt = engine.newSalt()
  const { schema, payload } = declare(header.schema ?? INLINE, data, header.refs ?? NO_REFS)
  const digest = payloadDigest(sha256, salt, payload)
  const refs = referencesOf(schema, payload)
  // One object is completed in place, because every event passes here.
  const draft = {
    id: header.id ?? engine.newId<'event'>(),
    at: header.at ?? engine.environment.clock.now(),
    type: header.type,
    schema,
    class: header.class ?? DURABLE,
    actor,
    session: header.session,
    run: header.run,
    subject: header.subject,
    cause: header.cause,
    key: header.key,
    payload,
    salt,
    digest,
    event: digest,
    refs: refs.length > 0 ? refs : undefined,
  }
  draft.event = eventDigest(sha256, tenant, draft, digest)
  return draft
}

/** The caller's idempotency key in its scope (verb and object), with the body that a repetition must match. */
export function commitKey(scope: Scope, within: string, key: string, body: unknown): CommitKey {
  checkKey(key)
  return { digest: keyDigest(scope.engine.environment.digest.sha256, scope.tenant, within, key), body: canonical(body) }
}
