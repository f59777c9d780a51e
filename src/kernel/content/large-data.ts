// Data that is too large for an event: a blob holds it, and the payload of the event is the reference to that blob.

import type { Event } from '../../model/event.ts'
import { invalidOption } from '../../model/options.ts'
import type { Scope } from '../wiring/scope.ts'
import { putJson } from './blobs.ts'
import { load } from './json-or-blob.ts'
import { blobsIn } from './references.ts'

/** Whether the option `large` of an append allows a blob. */
export function mayUseBlob(large: unknown): boolean {
  if (large !== undefined && large !== 'blob') throw invalidOption('large', "'blob'", large)
  return large === 'blob'
}

interface LargeEvent {
  readonly payload: string
  readonly large?: boolean | undefined
  readonly refs?: readonly string[] | undefined
}

/** Stores the text of large data, whose secrets are masked. A crash before the event is written leaves a blob that nothing names. */
export async function moveToBlob<T extends LargeEvent>(scope: Scope, event: T): Promise<T> {
  if (!event.large) return event
  const { digest, bytes } = await putJson(scope, event.payload)
  // Garbage collection reads the event, and not the blob, so blobs that the data names are references of the event.
  const refs = [...new Set([...(event.refs ?? []), ...blobsIn(event.payload)])]
  return { ...event, data: { digest, bytes }, payload: JSON.stringify({ digest, bytes }), refs }
}

/** Reads the data of an event, from its blob if it has one. */
export async function dataOf<Data>(scope: Scope, event: Event<Data>): Promise<Data | undefined> {
  if (typeof event !== 'object' || event === null) throw invalidOption('event', 'an event', event)
  return event.blob ? ((await load(scope, { blob: event.blob })) as Data) : event.data
}
