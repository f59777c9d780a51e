// The content of an entry: small JSON stands in the event, other JSON is a value, and bytes are a blob.

import { utf8Length } from '../../../model/bytes.ts'
import { isInOrder } from '../../../model/canonical.ts'
import { type Json, takeExact } from '../../../model/data.ts'
import { limits } from '../../../model/limits.ts'
import { invalidOption } from '../../../model/options.ts'
import type { StateContent } from '../../../model/state.ts'
import { ValuePart } from '../../../model/value-part.ts'
import { getBlob, putFresh } from '../../content/blobs.ts'
import { blobsIn, guardsOn } from '../../content/references.ts'
import type { Scope } from '../../wiring/scope.ts'
import { telling } from '../../writing/draft.ts'
import { partsIn } from '../values/parts.ts'
import { type CommitShare, withValues } from '../values/staged.ts'
import { readPart, readValue } from '../values/values.ts'

export type Share = Pick<CommitShare, 'nodes' | 'guards'> & Partial<Pick<CommitShare, 'time'>>

const NOTHING: Share = { nodes: [], guards: [] }

/** What a caller sets. */
export interface GivenContent {
  readonly value: unknown
  readonly redact: boolean
}

/** How a content is stored: in the event, as text in it, as a value, or as a blob. */
type Kept = { readonly value: Json } | { readonly text: string } | { readonly large: Json } | { readonly bytes: Uint8Array }

/**
 * Calls `commit` with the contents as they will be stored, and with what the commit must carry for them. All are taken before the first wait, and
 * `ready` may still refuse before anything is stored.
 */
export async function withContents<T>(
  scope: Scope,
  given: readonly GivenContent[],
  ready: () => Promise<void>,
  commit: (contents: readonly StateContent[], share: Share) => Promise<T>,
): Promise<T> {
  const kept = given.map((one) => keep(scope, one))
  await ready()
  const blobs = new Map<Kept, StateContent>()
  for (const one of kept) if ('bytes' in one) blobs.set(one, { blob: await putFresh(scope, one.bytes) })
  // References in the event are found there.
  const found = kept.flatMap((one) => ('text' in one ? guardsOn(JSON.parse(one.text)) : 'large' in one ? guardsOn(one.large) : []))
  const large = kept.flatMap((one) => ('large' in one ? [one.large] : []))
  const finish = async (refs: readonly string[], share: Share): Promise<T> => {
    const left = [...refs]
    const contents = kept.map((one): StateContent => {
      if ('large' in one) return { ref: left.shift() as string }
      return 'bytes' in one ? (blobs.get(one) as StateContent) : one
    })
    return commit(contents, found.length === 0 ? share : { ...share, guards: [...share.guards, ...found] })
  }
  if (large.length > 0) return withValues(scope, large, ({ refs, ...share }) => finish(refs, share))
  return finish([], NOTHING)
}

function keep(scope: Scope, { value: given, redact }: GivenContent): Kept {
  if (given instanceof Uint8Array) return { bytes: new Uint8Array(given) }
  const taken = telling(scope, () => takeExact(given))
  if (redact && partsIn(taken).length > 0) throw invalidOption('redact', 'false where parts stand, because they are stored already', redact)
  const value = (redact && scope.engine.redactor ? scope.engine.redactor.value(taken) : taken) as Json
  if (!fitsEvent(value)) return { large: value }
  return isInOrder(value) ? { value } : { text: JSON.stringify(value) }
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
