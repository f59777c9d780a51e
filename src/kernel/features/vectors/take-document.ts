// Checks documents and vectors that a caller gave, before anything is written.

import { isObject, takeData } from '../../../model/data.ts'
import { refuse } from '../../../model/errors.ts'
import { limits } from '../../../model/limits.ts'
import { checkKey, checkKnown, invalidOption, optionsOf } from '../../../model/options.ts'
import type { Metadata, Metric } from '../../../model/vector.ts'
import type { Scope } from '../../wiring/scope.ts'
import { telling } from '../../writing/draft.ts'

/** A list of numbers. They are stored as float32. */
export type Vector = readonly number[] | Float32Array

export interface VectorDocument {
  readonly id: string
  /** Without it, the store's embedder embeds the content. */
  readonly vector?: Vector
  /** The text that the vector stands for. */
  readonly content?: string
  readonly metadata?: object
}

export interface TakenDocument {
  readonly key: string
  readonly vector: Float32Array | undefined
  readonly content?: string
  readonly metadata?: Metadata
}

/** Checks the size and the numbers of a vector, and rounds them to float32. */
export function takeVector(given: unknown, dimensions: number, metric: Metric, of: string): Float32Array<ArrayBuffer> {
  const isList = Array.isArray(given) || given instanceof Float32Array || given instanceof Float64Array
  if (!isList) throw refuse('VECTOR_INVALID', { of, why: `expected a list of ${dimensions} numbers` })
  if (given.length !== dimensions) throw refuse('VECTOR_INVALID', { of, why: `expected ${dimensions} numbers, got ${given.length}` })
  const vector = new Float32Array(dimensions)
  let isZero = true
  for (let i = 0; i < dimensions; i++) {
    const value: unknown = given[i]
    const rounded = typeof value === 'number' ? Math.fround(value) : Number.NaN
    if (!Number.isFinite(rounded)) throw refuse('VECTOR_INVALID', { of, why: `the number at ${i} is ${shown(value)}` })
    vector[i] = rounded
    if (rounded !== 0) isZero = false
  }
  if (isZero && metric === 'cosine') throw refuse('VECTOR_INVALID', { of, why: 'a vector of zeros has no direction, which cosine needs' })
  return vector
}

const shown = (value: unknown): string => {
  if (typeof value !== 'number') return `a ${value === null ? 'null' : typeof value}`
  return Number.isFinite(value) ? `${value}, beyond float32` : String(value)
}

/** Checks one document of an upsert. `whole` leaves secrets in its text and metadata. */
export function takeDocument(
  scope: Scope,
  given: unknown,
  { dimensions, metric }: { readonly dimensions: number; readonly metric: Metric },
  whole: boolean,
): TakenDocument {
  const { id, vector, content, metadata, ...unknown } = optionsOf(given as VectorDocument | undefined, 'document')
  checkKnown(unknown, 'a document')
  checkKey(id)
  const of = `document '${id.slice(0, 80)}'`
  if (content !== undefined && typeof content !== 'string') throw invalidOption('content', 'a text', content)
  if (vector === undefined && content === undefined)
    throw refuse('VECTOR_INVALID', { of, why: 'it is missing, and there is no content to embed' })
  if (vector === undefined && content === '') throw refuse('VECTOR_INVALID', { of, why: 'the content to embed is empty' })
  const taken = telling(scope, () => takeData({ content, metadata })) as { content?: string; metadata?: Metadata }
  if (taken.metadata !== undefined && !isObject(taken.metadata)) throw invalidOption('metadata', 'an object', metadata)
  const masked = (whole || !scope.engine.redactor ? taken : scope.engine.redactor.value(taken)) as typeof taken
  const size = JSON.stringify(masked.metadata ?? null).length
  if (size > limits.metadataBytes) throw refuse('DATA_TOO_LARGE', { bytes: size, limit: limits.metadataBytes })
  return { key: id, vector: vector === undefined ? undefined : takeVector(vector, dimensions, metric, of), ...masked }
}
