// Collections of vectors and the documents in them.

import type { Json } from './data.ts'
import type { Id } from './ids.ts'

/** How the nearness of two vectors is measured. It is fixed when the collection is created. */
export type Metric = 'cosine' | 'dot' | 'euclidean'

export const METRICS: readonly Metric[] = ['cosine', 'dot', 'euclidean']

export type Metadata = Readonly<Record<string, Json>>

/** The model that made a vector. */
export interface EmbedderMark {
  readonly id: string
  readonly dimensions: number
  readonly version: string
}

export interface VectorCollectionRow {
  readonly id: Id<'collection'>
  /** A dropped collection has given its name away; its documents are being deleted. */
  readonly state: 'live' | 'dropped'
  /** The payload of the first event; absent if it was erased. */
  readonly name?: string
  readonly dimensions?: number
  readonly metric?: Metric
  /** The metadata fields that filters may name. Absent: all. */
  readonly fields?: readonly string[]
  readonly createdAt: number
}

export interface VectorRow {
  readonly id: Id<'vector'>
  /** The members below are the payload of the last event; they are absent if it was erased. */
  readonly collection?: Id<'collection'>
  /** The caller's id of the document. */
  readonly key?: string
  /** Little-endian float32 numbers in base64. */
  readonly vector?: string
  readonly content?: string
  readonly metadata?: Metadata
  readonly embedder?: EmbedderMark
  /** Why the store could not embed the text. There is no vector then. */
  readonly failed?: { readonly why: string }
}
