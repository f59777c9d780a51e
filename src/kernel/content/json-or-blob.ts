// Stores JSON in the event if it is small, and in a blob that the event names if it is large.

import { utf8Length } from '../../model/bytes.ts'
import type { Json } from '../../model/data.ts'
import { takeData } from '../../model/data.ts'
import { InkError, refuse } from '../../model/errors.ts'
import { limits } from '../../model/limits.ts'
import type { ErrorData, RunState, Stored } from '../../model/run.ts'
import type { FiringId } from '../../model/trigger.ts'
import type { WriteTime } from '../measuring/write-time.ts'
import type { Scope } from '../wiring/scope.ts'
import { admit, isWhole } from '../writing/draft.ts'
import { readRow } from '../writing/execute.ts'
import { getJson, putJson } from './blobs.ts'
import { blobRefsIn } from './references.ts'

/** `undefined` is stored as `{}`; null is a value. `time` belongs to the write that follows. A promise only if a blob is written. */
export function store(
  scope: Scope,
  value: unknown,
  about: Readonly<Record<string, unknown>>,
  whole = false,
  time?: WriteTime,
): Stored | Promise<Stored> {
  if (value === undefined) return {}
  time?.waited()
  const admitted = checked(scope, value, about, whole)
  const text = JSON.stringify(admitted)
  const small = text.length * 3 <= limits.inlineBytes || utf8Length(text) <= limits.inlineBytes
  time?.masked()
  return small ? { value: admitted } : storeInBlob(scope, text, time)
}

async function storeInBlob(scope: Scope, text: string, time: WriteTime | undefined): Promise<Stored> {
  const { digest, bytes } = await putJson(scope, text)
  time?.stored()
  const holds = blobRefsIn(text)
  return { blob: { digest, bytes }, ...(holds.length > 0 && { holds }) }
}

/** Stores a value that is offered. It is marked if it is stored unmasked, so that events that repeat it do not mask it either. */
export async function storeOffered(
  scope: Scope,
  value: unknown,
  of: string,
  redact: boolean | undefined,
  time?: WriteTime,
): Promise<Stored> {
  const whole = isWhole(redact)
  const stored = await store(scope, value, { of }, whole, time)
  return whole && stored.value !== undefined ? { ...stored, whole } : stored
}

/** Whether the writer of a stored value wanted it unmasked. */
export const isUnmasked = (stored: Stored | undefined): boolean => stored !== undefined && Object.hasOwn(stored, 'whole')

/** Checks a value as `store` would, and returns what would be stored. */
export function checkValue(scope: Scope, value: unknown, about: Readonly<Record<string, unknown>>): Json | undefined {
  return value === undefined ? undefined : checked(scope, value, about, false)
}

function checked(scope: Scope, value: unknown, about: Readonly<Record<string, unknown>>, whole: boolean): Json {
  try {
    return whole ? takeData(value) : admit(scope, value, about.of as string | undefined)
  } catch (error) {
    // The error names the result of a run, or else the data that the caller gave.
    if (error instanceof InkError && error.code === 'DATA_INVALID' && about.run)
      throw refuse('RESULT_INVALID', { ...about, why: `${error.details.why} at ${error.details.path}` }, error)
    throw error
  }
}

/** Whether the value is in the event, so that nothing is read. */
export const isInline = (stored: Stored | undefined): boolean => stored?.blob === undefined && stored?.firing === undefined

export async function load(scope: Scope, stored: Stored | undefined): Promise<unknown> {
  if (stored?.firing) return { ...(stored.value as object), payload: await firedPayload(scope, stored.firing) }
  if (stored?.blob) return getJson(scope, stored.blob)
  return stored?.value
}

/** The payload of a firing, for its deliveries. */
export async function firedPayload(scope: Scope, id: FiringId): Promise<unknown> {
  const { body: row } = await readRow(scope, 'firings', id)
  if (!row?.payload) throw refuse('FIRING_ERASED', { firing: id })
  return load(scope, row.payload)
}

/** The end of another run, as a wait for it records it. */
export interface StoredValue {
  readonly state: RunState
  readonly value?: Stored
  readonly error?: ErrorData
}
