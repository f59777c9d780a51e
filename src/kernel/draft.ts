// Makes a value into an event for the journal: checks, masks, fixes its exact text, and digests it. Nothing here waits.

import { utf8Length } from '../model/bytes.ts'
import { canonical } from '../model/canonical.ts'
import { eventDigest, keyDigest, payloadDigest } from '../model/chain.ts'
import { type Json, takeData } from '../model/data.ts'
import { InkError, refuse } from '../model/errors.ts'
import { DURABLE, type EventClass, type EventDraft } from '../model/event.ts'
import type { EventId, Id, RunId, SessionId } from '../model/ids.ts'
import { limits } from '../model/limits.ts'
import { checkKey, invalidOption } from '../model/options.ts'
import type { CommitKey } from '../ports/commit.ts'
import { blobsIn } from './references.ts'
import type { Scope } from './scope.ts'

export interface DraftHeader {
  readonly type: string
  readonly class?: EventClass
  readonly session?: SessionId | undefined
  readonly run?: RunId | undefined
  readonly subject?: Id | undefined
  readonly cause?: EventId | undefined
  readonly key?: Uint8Array | undefined
  /** The id of the event. The default is a new one. */
  readonly id?: EventId | undefined
  /** The time of the event. The default is the clock's. */
  readonly at?: number | undefined
  /** Values and blobs that the event refers to, beside the blobs in its payload. */
  readonly refs?: readonly string[] | undefined
}

/** Checks data and masks secrets. The result is hashed, indexed and compared. */
export const admit = (scope: Scope, data: unknown): Json => mask(scope, taken(scope, data))

/** Checks data, masks secrets unless it is stored whole, and fixes the exact text that will be hashed. */
export function admitPayload(scope: Scope, data: unknown, whole = false): { readonly data: Json; readonly payload: string } {
  const sent = taken(scope, data)
  const masked = whole ? sent : mask(scope, sent)
  return { data: masked, payload: payloadOf(scope, masked, sent) }
}

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

/** The exact text that will be hashed, within its limits. Masks are longer than short secrets, so the limit counts what the caller sent. */
export function payloadOf({ engine }: Scope, masked: Json, sent: Json = masked): string {
  const payload = JSON.stringify(masked)
  checkBytes(masked === sent ? payload : JSON.stringify(sent), engine.payloadBytes)
  if (masked !== sent) checkBytes(payload, engine.payloadBytes * limits.maskedTimes, { masked: true })
  return payload
}

function checkBytes(text: string, limit: number, more: { readonly masked?: true } = {}): void {
  if (text.length * 3 <= limit) return
  const bytes = utf8Length(text)
  if (bytes > limit) throw refuse('DATA_TOO_LARGE', { bytes, limit, ...more })
}

export function draftEvent(scope: Scope, header: DraftHeader, payload: string): EventDraft {
  const { engine, tenant, actor } = scope
  const { sha256 } = engine.environment.digest
  const salt = engine.newSalt()
  const digest = payloadDigest(sha256, salt, payload)
  const found = blobsIn(payload)
  const refs = header.refs ? [...header.refs, ...found] : found
  // One object is completed in place, because every event passes here.
  const draft = {
    id: header.id ?? engine.newId<'event'>(),
    at: header.at ?? engine.environment.clock.now(),
    type: header.type,
    schema: 1,
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
