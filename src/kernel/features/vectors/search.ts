// Exact search by reading every document of the collection. It defines the results; the matrix in memory only finds the same ones sooner.

import { decodeFloats } from '../../../model/float32.ts'
import type { Metadata } from '../../../model/vector.ts'
import { Best, scorer } from '../../../vectors/math/score.ts'
import { abortable } from '../../reading/abortable.ts'
import { type ArrayPage, arrayPage } from '../../reading/list-rows.ts'
import type { Matcher } from '../../reading/metadata-filter.ts'
import { TimeSlice } from '../../time/time-slice.ts'
import type { Scope } from '../../wiring/scope.ts'
import { documentPages, type LiveVector } from './documents.ts'
import type { FoundCollection } from './find-collection.ts'

export interface SearchHit {
  readonly id: string
  /** Larger is nearer, for every metric. */
  readonly score: number
  /** 1 − cosine, minus the dot product, or the euclidean distance. Smaller is nearer. */
  readonly distance: number
  readonly content?: string
  readonly metadata?: Metadata
}

/** The nearest documents, best first; equal scores are ordered by id. */
export type SearchResult = ArrayPage<SearchHit> & {
  /** Documents that passed the filter and were compared with the query. */
  readonly examined: number
}

export interface Search {
  readonly query: Float32Array
  readonly top: number
  readonly matches: Matcher | undefined
  readonly minScore: number
  readonly signal?: AbortSignal | undefined
}

export async function scanSearch(
  scope: Scope,
  of: FoundCollection,
  { query, top, matches, minScore, signal }: Search,
): Promise<SearchResult> {
  const score = scorer(of.metric, query)
  const best = new Best<SearchHit & { readonly key: string }>(top)
  const slice = new TimeSlice(scope.engine.environment)
  let examined = 0
  for await (const page of abortable(scope, documentPages(scope, of.id), signal)) {
    for (const row of page) {
      if (matches && !matches(row.metadata)) continue
      examined++
      const scored = score(decodeFloats(row.vector))
      if (scored.score >= minScore) best.offer({ key: row.key, ...hitOf(row, scored) })
      await slice.rest()
    }
  }
  return resultOf(
    best.list().map(({ key: _, ...hit }) => hit),
    examined,
  )
}

export const hitOf = ({ key, content, metadata }: LiveVector, scored: Pick<SearchHit, 'score' | 'distance'>): SearchHit => ({
  id: key,
  score: scored.score,
  distance: scored.distance,
  ...(content !== undefined && { content }),
  ...(metadata && { metadata }),
})

/** The number is not enumerable, so that a result compares and prints as the list it is. */
export const resultOf = (hits: readonly SearchHit[], examined: number): SearchResult =>
  Object.defineProperty(arrayPage(hits), 'examined', { value: examined }) as unknown as SearchResult
