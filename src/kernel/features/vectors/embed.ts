// Embeds texts with the embedder of the store: in batches, with a deadline, and with every vector checked. A vector of zeros is a failure, never a result.

import { InkError, refuse } from '../../../model/errors.ts'
import type { EmbedderMark, Metric } from '../../../model/vector.ts'
import type { Embedder } from '../../../ports/embedder.ts'
import { enginePart } from '../../wiring/per-engine.ts'
import { checkOpen, type Engine, type Scope } from '../../wiring/scope.ts'
import { type TakenDocument, takeVector } from './take-document.ts'

export interface Embedded {
  readonly vector: Float32Array
  readonly embedder: EmbedderMark
}

export interface EmbedOptions {
  /** The longest time for one batch, if it is shorter than the embedder's own. */
  readonly timeoutMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** The embedder of the store, if it was opened with one. */
export const embedderOf = ({ engine }: Pick<Scope, 'engine'>): Embedder | undefined => engine.options.embedder

const ending = enginePart(() => new AbortController())

/** Gives up what is being embedded, because the store closes. */
export async function closeEmbedder(engine: Engine): Promise<void> {
  ending(engine).abort()
  await engine.options.embedder?.close()
}

/** Embeds texts in order. Rejects with EMBEDDER_FAILED, which says why; nothing is stored. */
export async function embedTexts(scope: Scope, texts: readonly string[], options: EmbedOptions = {}): Promise<readonly Embedded[]> {
  checkOpen(scope.engine)
  const embedder = embedderOf(scope)
  if (!embedder) throw refuse('EMBEDDER_MISSING')
  const embedded: Embedded[] = []
  for (let at = 0; at < texts.length; at += embedder.batch) {
    const batch = texts.slice(at, at + embedder.batch)
    for (const vector of await embedBatch(scope, embedder, batch, options))
      embedded.push({ vector, embedder: { id: embedder.id, dimensions: vector.length, version: embedder.version } })
  }
  return embedded
}

/** Embeds the content of documents that came without a vector. */
export async function withVectors(
  scope: Scope,
  documents: readonly TakenDocument[],
  { dimensions, metric }: { readonly dimensions: number; readonly metric: Metric },
  signal?: AbortSignal,
): Promise<readonly (TakenDocument & { readonly vector: Float32Array; readonly embedder?: EmbedderMark })[]> {
  const bare = documents.filter(({ vector }) => vector === undefined)
  const embedded =
    bare.length === 0
      ? []
      : await embedTexts(
          scope,
          bare.map(({ content }) => content as string),
          { signal },
        )
  const made = new Map(bare.map((document, i) => [document, embedded[i] as Embedded]))
  return documents.map((document) => {
    const { vector, embedder } = made.get(document) ?? { vector: document.vector as Float32Array, embedder: undefined }
    if (!embedder) return { ...document, vector }
    return { ...document, vector: takeVector(vector, dimensions, metric, `document '${document.key.slice(0, 80)}'`), embedder }
  })
}

async function embedBatch(
  scope: Scope,
  embedder: Embedder,
  texts: readonly string[],
  { timeoutMs: most = embedder.timeoutMs, signal }: EmbedOptions,
): Promise<readonly Float32Array[]> {
  const closing = ending(scope.engine).signal
  const givenUp = () => {
    if (signal?.aborted) throw refuse('ABORTED')
    if (closing.aborted) throw refuse('STORE_CLOSED')
  }
  givenUp()
  const timeoutMs = Math.min(most, embedder.timeoutMs)
  const over = new AbortController()
  const abort = () => over.abort(refuse('ABORTED'))
  for (const other of [signal, closing]) other?.addEventListener('abort', abort, { once: true })
  const late = scope.engine.environment.timer.idly(timeoutMs, over.signal).then(
    () => {
      throw failed(scope, embedder, `it did not answer within ${timeoutMs} ms`)
    },
    () => Promise.reject(over.signal.reason),
  )
  try {
    const answer = await Promise.race([embedder.embed(texts, over.signal), late])
    givenUp()
    return taken(scope, embedder, texts, answer)
  } catch (error) {
    givenUp()
    throw error instanceof InkError && error.code === 'EMBEDDER_FAILED' ? error : failed(scope, embedder, reasonOf(error))
  } finally {
    for (const other of [signal, closing]) other?.removeEventListener('abort', abort)
    late.catch(() => {})
    over.abort()
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).slice(0, 500)

/** The reason may repeat what a server said, so secrets in it are masked. */
const failed = ({ engine }: Scope, { id }: Embedder, why: string): InkError =>
  refuse('EMBEDDER_FAILED', { embedder: id, why: engine.redactor?.text(why) ?? why })

function taken(scope: Scope, embedder: Embedder, texts: readonly string[], answer: unknown): readonly Float32Array[] {
  if (!Array.isArray(answer)) throw failed(scope, embedder, 'it did not return a list of vectors')
  if (answer.length !== texts.length) throw failed(scope, embedder, `it returned ${answer.length} vectors for ${texts.length} texts`)
  const first: unknown = answer[0]
  const dimensions = embedder.dimensions ?? (first as ArrayLike<unknown> | undefined)?.length ?? 0
  return answer.map((vector, i) => {
    try {
      // Cosine is the strictest metric: it refuses a vector of zeros.
      return takeVector(vector, dimensions, 'cosine', `text ${i}`)
    } catch (error) {
      throw failed(
        scope,
        embedder,
        error instanceof InkError ? `the vector of text ${i} cannot be used: ${error.details.why}` : String(error),
      )
    }
  })
}
