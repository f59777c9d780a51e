// Chooses the embedder that the option `embedder` of `open` asks for. Nothing is loaded or connected before the first text.

import { refuse } from '../model/errors.ts'
import { limits } from '../model/limits.ts'
import { checkKnown, invalidOption, ownMembers } from '../model/options.ts'
import { type Duration, milliseconds } from '../model/time.ts'
import type { Embedder } from '../ports/embedder.ts'
import type { Environment } from '../ports/environment.ts'
import { HASH_DIMENSIONS, HASH_ID, hashEmbedding } from '../vectors/math/hash-embedding.ts'
import { checkBatch, checkDimensions, checkNames } from './check-embedder.ts'
import { localEmbedder } from './local-embedder.ts'
import { type OpenAiEmbedder, openAiEmbedder } from './openai-embedder.ts'

/** Your own model: a function from texts to vectors, one for each text. */
export interface EmbedFunction {
  readonly id: string
  readonly dimensions: number
  /** Changes whenever the same text would get another vector. */
  readonly version: string
  readonly embed: (
    texts: readonly string[],
    options: { readonly signal: AbortSignal },
  ) => Promise<readonly (readonly number[] | Float32Array)[]> | readonly (readonly number[] | Float32Array)[]
  /** Says that it needs a network, so that an air-gapped store refuses it. */
  readonly network?: boolean
  /** Texts at a time; 64 by default. */
  readonly batch?: number
  /** The longest time for one batch; 30 seconds by default. */
  readonly timeout?: Duration
}

/** `hash`: deterministic, built in, 64 dimensions. `local`: a small English model from the optional packages `@energetic-ai/*`. */
export type EmbedderOption = 'hash' | 'local' | { readonly kind: 'hash' | 'local' } | OpenAiEmbedder | EmbedFunction

export function chooseEmbedder(given: EmbedderOption, environment: Environment): Embedder {
  if (typeof given === 'string') return builtIn(given, {})
  if (typeof given !== 'object' || given === null) throw invalidOption('embedder', EXPECTED, given)
  const members = ownMembers(given)
  if ('embed' in members) return fromFunction(members as EmbedFunction)
  const { kind, ...rest } = members as { readonly kind?: unknown }
  return kind === 'openai' ? openAiEmbedder(members as OpenAiEmbedder, environment) : builtIn(kind, rest)
}

const EXPECTED = "'hash', 'local', { kind: 'openai', … } or { id, dimensions, version, embed }"

function builtIn(kind: unknown, unknown: object): Embedder {
  checkKnown(unknown, `the embedder ${String(kind).slice(0, 40)}`)
  if (kind === 'hash') return hash
  if (kind === 'local') return localEmbedder()
  throw invalidOption('embedder', EXPECTED, kind)
}

const hash: Embedder = {
  id: HASH_ID,
  version: '1',
  dimensions: HASH_DIMENSIONS,
  network: false,
  batch: limits.embedBatch,
  timeoutMs: limits.embedTimeoutMs,
  embed: async (texts) => texts.map(hashEmbedding),
  close: async () => {},
}

function fromFunction(given: EmbedFunction): Embedder {
  const { id, dimensions, version, embed, network = false, batch = limits.embedBatch, timeout, ...unknown } = given
  checkKnown(unknown, 'an embedder')
  if (typeof embed !== 'function') throw invalidOption('embedder.embed', 'a function', embed)
  if (typeof network !== 'boolean') throw invalidOption('embedder.network', 'true or false', network)
  checkNames(id, version)
  checkDimensions(dimensions)
  checkBatch(batch)
  return {
    ...{ id, version, dimensions, network, batch },
    timeoutMs: timeout === undefined ? limits.embedTimeoutMs : milliseconds(timeout),
    embed: async (texts, signal) => embed(texts, { signal: signal as globalThis.AbortSignal }),
    close: async () => {},
  }
}

/** An air-gapped store has no embedder that needs a network. */
export function checkAirGap(embedder: Embedder | undefined): void {
  if (embedder?.network) throw refuse('OPTION_INVALID', { option: 'airGapped', why: `the embedder ${embedder.id} needs the network` })
}
