// Embeds the texts of items, and finds out which of them cannot be embedded.

import { InkError } from '../../../model/errors.ts'
import type { EmbedderMark } from '../../../model/vector.ts'
import type { Scope } from '../../wiring/scope.ts'
import { type Embedded, embedderOf, embedTexts } from '../vectors/embed.ts'
import type { SeenItem } from './item-vectors.ts'

export interface Failure {
  readonly failed: string
  /** The embedder does not answer at all. */
  readonly away?: boolean
}

/** A text that every model embeds. It shows how large vectors are, and whether an embedder is away or refuses a text. */
const PROBE = 'Is the embedder there?'

/** If texts fail together, halves of them are tried, until the texts are alone that cannot be embedded. */
export async function embedItems(
  scope: Scope,
  items: readonly SeenItem[],
  signal: AbortSignal | undefined,
): Promise<readonly (Embedded | Failure)[]> {
  try {
    return await embedTexts(
      scope,
      items.map(({ row }) => row.text as string),
      { signal },
    )
  } catch (error) {
    const failed = whyOf(error)
    if (items.length === 1) return [{ failed }]
    // Asking for each of the others would only take time.
    if (typeof (await probe(scope, signal)) === 'string') return items.map(() => ({ failed, away: true }))
    const half = items.length >> 1
    const first = await embedItems(scope, items.slice(0, half), signal)
    return [...first, ...(await embedItems(scope, items.slice(half), signal))]
  }
}

/** The model and the size of its vectors. A text is why the embedder cannot tell. */
export async function markOf(scope: Scope, signal: AbortSignal | undefined): Promise<EmbedderMark | string> {
  const { id, version, dimensions } = embedderOf(scope) as NonNullable<ReturnType<typeof embedderOf>>
  return dimensions === undefined ? probe(scope, signal) : { id, version, dimensions }
}

async function probe(scope: Scope, signal: AbortSignal | undefined): Promise<EmbedderMark | string> {
  try {
    const [embedded] = await embedTexts(scope, [PROBE], { signal })
    return (embedded as Embedded).embedder
  } catch (error) {
    return whyOf(error)
  }
}

/** The reason without its sentence about what to do. Only failures of the embedder leave an item pending. */
function whyOf(error: unknown): string {
  if (error instanceof InkError && error.code === 'EMBEDDER_FAILED') return String(error.details.why)
  throw error
}
