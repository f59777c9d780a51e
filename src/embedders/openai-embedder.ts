// Embeddings from a server that speaks the OpenAI protocol: `POST /v1/embeddings`. Retries with backoff, and a circuit breaker. The key appears in no
// message and no log.

import { limits } from '../model/limits.ts'
import { checkKnown, invalidOption } from '../model/options.ts'
import { type Duration, milliseconds } from '../model/time.ts'
import type { Embedder } from '../ports/embedder.ts'
import type { Environment } from '../ports/environment.ts'
import { checkBatch, checkDimensions, checkNames } from './check-embedder.ts'

export interface OpenAiEmbedder {
  readonly kind: 'openai'
  /** Address of the server, with or without `/v1`. */
  readonly baseUrl: string | URL
  readonly model: string
  /** Sent as a bearer token. Never logged. */
  readonly key?: string
  /** Asks the model for vectors of this size. By default the first answer shows the size. */
  readonly dimensions?: number
  /** Counts as another model when it changes; `1` by default. */
  readonly version?: string
  /** Texts in one request; 64 by default. */
  readonly batch?: number
  /** The longest time for one batch, with its retries; 30 seconds by default. */
  readonly timeout?: Duration
  /** Attempts for one batch; 3 by default. */
  readonly attempts?: number
}

const ATTEMPTS = 3
const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 10_000
/** Failed batches in a row after which requests stop for a while. */
const BREAKS_AFTER = 5
const BREAK_MS = 30_000

class Refused extends Error {
  readonly again: boolean
  readonly afterMs: number | undefined

  constructor(message: string, again: boolean, afterMs?: number) {
    super(message)
    this.again = again
    this.afterMs = afterMs
  }
}

export function openAiEmbedder(given: OpenAiEmbedder, { clock, timer }: Pick<Environment, 'clock' | 'timer'>): Embedder {
  const {
    kind: _,
    baseUrl,
    model,
    key,
    dimensions,
    version = '1',
    batch = limits.embedBatch,
    timeout,
    attempts = ATTEMPTS,
    ...unknown
  } = given
  checkKnown(unknown, 'the embedder openai')
  checkNames(model, version)
  checkBatch(batch)
  if (dimensions !== undefined) checkDimensions(dimensions)
  if (key !== undefined && (typeof key !== 'string' || !/^[\x21-\x7e]+$/.test(key)))
    throw invalidOption('embedder.key', 'a text without spaces')
  if (!Number.isInteger(attempts) || attempts < 1 || attempts > 10)
    throw invalidOption('embedder.attempts', 'an integer from 1 to 10', attempts)
  const url = addressOf(baseUrl)
  const hide = (text: string): string => (key ? text.replaceAll(key, '[key]') : text)
  const breaker = { failures: 0, until: 0 }
  let size = dimensions

  async function request(texts: readonly string[], signal: globalThis.AbortSignal): Promise<readonly unknown[]> {
    let answer: Response
    let said: string
    try {
      answer = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(key && { authorization: `Bearer ${key}` }) },
        body: JSON.stringify({ model, input: texts, encoding_format: 'float', ...(dimensions !== undefined && { dimensions }) }),
        signal,
        redirect: 'error',
      })
      said = await answer.text()
    } catch (error) {
      signal.throwIfAborted()
      const cause = (error as { cause?: { code?: unknown; message?: unknown } }).cause
      throw new Refused(`the server cannot be reached (${hide(String(cause?.code ?? cause?.message ?? error))})`, true)
    }
    if (!answer.ok) throw refusal(answer, said)
    return inOrder(listIn(said), texts.length)
  }

  // The key is hidden before the text is cut, or a part of it would stay.
  function refusal({ status, headers }: Response, said: string): Refused {
    const after = Number(headers.get('retry-after'))
    const again = status === 408 || status === 429 || status >= 500
    return new Refused(`the server answered ${status} ${hide(said).slice(0, 200)}`.trim(), again, after > 0 ? after * 1000 : undefined)
  }

  async function withRetries(texts: readonly string[], signal: globalThis.AbortSignal): Promise<readonly unknown[]> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await request(texts, signal)
      } catch (error) {
        if (!(error instanceof Refused) || !error.again || attempt >= attempts) throw error
        await timer.after(Math.min(error.afterMs ?? FIRST_PAUSE_MS * 2 ** (attempt - 1), LONGEST_PAUSE_MS), signal)
      }
    }
  }

  return {
    id: model,
    version,
    network: true,
    batch,
    timeoutMs: timeout === undefined ? limits.embedTimeoutMs : milliseconds(timeout),
    get dimensions() {
      return size
    },
    async embed(texts, signal) {
      if (clock.monotonic() < breaker.until) throw new Error(`requests are paused after ${breaker.failures} failures in a row`)
      try {
        const vectors = await withRetries(texts, signal as globalThis.AbortSignal)
        breaker.failures = 0
        size ??= sizeOf(vectors)
        return vectors
      } catch (error) {
        // A caller that gives up says nothing about the server.
        if ((signal.reason as { readonly code?: unknown } | undefined)?.code === 'ABORTED') throw error
        // After the pause one batch is tried again; its failure starts the next pause.
        if (++breaker.failures >= BREAKS_AFTER) breaker.until = clock.monotonic() + BREAK_MS
        throw error
      }
    },
    close: async () => {},
  }
}

function addressOf(baseUrl: string | URL): URL {
  let url: URL
  try {
    url = new URL(baseUrl)
  } catch {
    throw invalidOption('embedder.baseUrl', 'an http: or https: URL')
  }
  if (!/^https?:$/.test(url.protocol)) throw invalidOption('embedder.baseUrl', 'an http: or https: URL')
  if (url.username || url.password) throw invalidOption('embedder.baseUrl', 'a URL without a password; pass the key as embedder.key')
  const path = url.pathname.replace(/\/+$/, '')
  url.pathname = path.endsWith('/v1') ? `${path}/embeddings` : `${path}/v1/embeddings`
  return url
}

function listIn(said: string): readonly unknown[] {
  try {
    const { data } = JSON.parse(said) as { readonly data?: unknown }
    if (Array.isArray(data)) return data
  } catch {}
  throw new Refused('the server answered without a list of embeddings', false)
}

/** The size of the vectors of an answer, if all are vectors of one size. */
function sizeOf(vectors: readonly unknown[]): number | undefined {
  const [first] = vectors
  const areVectors = vectors.every((one) => Array.isArray(one) && one.length === (first as readonly unknown[]).length)
  return areVectors && Array.isArray(first) && first.length > 0 ? first.length : undefined
}

/** The protocol allows any order; `index` says which text an embedding belongs to. */
function inOrder(data: readonly unknown[], count: number): readonly unknown[] {
  const vectors: unknown[] = Array.from({ length: Math.max(count, data.length) })
  for (const [i, entry] of data.entries()) {
    const { index, embedding } = (entry ?? {}) as { readonly index?: unknown; readonly embedding?: unknown }
    vectors[typeof index === 'number' && Number.isInteger(index) && index >= 0 && index < count ? index : i] = embedding
  }
  return vectors
}
