// The content of an entry: small JSON stands in the event, other JSON is a value, and bytes are a blob.

import { utf8Length } from '../../model/bytes.ts'
import { isInOrder } from '../../model/canonical.ts'
import { type Json, takeExact } from '../../model/data.ts'
import { limits } from '../../model/limits.ts'
import { invalidOption } from '../../model/options.ts'
import type { StateContent } from '../../model/state.ts'
import { ValuePart } from '../../model/value-part.ts'
import { getBlob, putFresh, textGuards } from '../blobs.ts'
import { telling } from '../draft.ts'
import { blobsIn } from '../references.ts'
import { conflictOrGone, retryConflicts } from '../retry-conflicts.ts'
import type { Scope } from '../scope.ts'
import { partsIn } from '../values/parts.ts'
import { type CommitShare, withValue } from '../values/staged.ts'
import { readPart, readValue } from '../values/values.ts'

export type Share = Pick<CommitShare, 'nodes' | 'guards'> & Partial<Pick<CommitShare, 'time'>>

const NOTHING: Share = { nodes: [], guards: [] }

/** Calls `commit` with the content as it will be stored, and with what the commit must carry for it. */
export async function withContent<T>(
  scope: Scope,
  given: unknown,
  redact: boolean,
  commit: (content: StateContent, share: Share) => Promise<T>,
): Promise<T> {
  if (given instanceof Uint8Array) return commit({ blob: await putFresh(scope, new Uint8Array(given)) }, NOTHING)
  const taken = telling(scope, () => takeExact(given))
  if (redact && partsIn(taken).length > 0) throw invalidOption('redact', 'false where parts stand, because they are stored already', redact)
  const value = (redact && scope.engine.redactor ? scope.engine.redactor.value(taken) : taken) as Json
  if (fitsEvent(value)) return isInOrder(value) ? commit({ value }, NOTHING) : withText(scope, JSON.stringify(value), commit)
  return withValue(scope, value, ({ ref, ...share }) => commit({ ref }, share))
}

/** A blob that the text refers to may go between being looked for and the commit. */
function withText<T>(scope: Scope, text: string, commit: (content: StateContent, share: Share) => Promise<T>): Promise<T> {
  return retryConflicts(scope, conflictOrGone(), async () => commit({ text }, { nodes: [], guards: await textGuards(scope, text) }))
}

/** Lazily: a list or an object of several nodes is left as a part. */
export async function readContent(scope: Scope, content: StateContent, lazy: boolean): Promise<unknown> {
  if ('value' in content) return content.value
  if ('text' in content) return JSON.parse(content.text)
  if ('blob' in content) return getBlob(scope, content.blob)
  return lazy ? readPart(scope, content.ref) : readValue(scope, content.ref)
}

/** Whether an event keeps the value exactly. Lone surrogates, minus zero and deep values it would refuse or change. */
function fitsEvent(value: Json): boolean {
  return isPlain(value, 0) && utf8Length(JSON.stringify(value)) <= limits.stateInlineBytes
}

/** What an entry refers to. */
export function referencesOf(content: StateContent): readonly string[] {
  if ('ref' in content) return [content.ref]
  if ('blob' in content) return [`blob:${content.blob.digest}`]
  return 'text' in content ? blobsIn(content.text) : []
}

function isPlain(value: Json, depth: number): boolean {
  if (typeof value === 'string') return value.isWellFormed()
  if (typeof value === 'number') return !Object.is(value, -0)
  if (value === null || typeof value !== 'object') return true
  if (value instanceof ValuePart) return false
  if (depth + 4 > limits.dataDepth) return false
  if (Array.isArray(value)) return value.every((item) => isPlain(item as Json, depth + 1))
  return Object.entries(value).every(([key, item]) => key.isWellFormed() && isPlain(item as Json, depth + 1))
}
