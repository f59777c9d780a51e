// Search through the index in memory. It finds candidates; their rows are read and scored in float64, so the results are those of a scan.

import { decodeFloats } from '../../../model/float32.ts'
import { Best, scorer } from '../../../vectors/math/score.ts'
import { stopIfAsked } from '../../reading/abortable.ts'
import type { Scope } from '../../wiring/scope.ts'
import { readRow } from '../../writing/execute.ts'
import { isLive, type LiveVector } from './documents.ts'
import type { FoundCollection } from './find-collection.ts'
import { indexCache } from './index-cache.ts'
import { hitOf, resultOf, type Search, type SearchHit, type SearchResult, scanSearch } from './search.ts'
import type { Entry } from './vector-index.ts'

/** Writers that change candidates make a search start again. After so many times it reads every document. */
const ATTEMPTS = 4
/** A scan is cheaper than reading so many rows one by one. */
const MOST_CANDIDATES = 4096

export async function searchCollection(scope: Scope, of: FoundCollection, search: Search): Promise<SearchResult> {
  const cache = indexCache(scope.engine)
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    stopIfAsked(scope, search.signal)
    const found = await cache
      .with(scope, of, (index) => index.candidates(search))
      .catch((error) => {
        scope.engine.environment.logger.warn('a collection of vectors is read from the store, because its index failed', {
          collection: of.name,
          error: String(error),
        })
        return undefined
      })
    if (!found || found.entries.length > MOST_CANDIDATES) break
    const rows = await readEntries(scope, found.entries)
    if (rows) return rank(of, search, rows, found.examined)
  }
  const result = await scanSearch(scope, of, search)
  if (!search.matches) cache.counted(scope, of, result.examined)
  return result
}

/** Undefined if one of the documents has changed since the index read it. */
async function readEntries(scope: Scope, entries: readonly Entry[]): Promise<readonly LiveVector[] | undefined> {
  const rows = await Promise.all(entries.map(({ id }) => readRow(scope, 'vectors', id)))
  const live: LiveVector[] = []
  for (const [i, { body, revision }] of rows.entries()) {
    if (!isLive(body) || revision !== entries[i]?.revision) return undefined
    live.push(body)
  }
  return live
}

function rank(of: FoundCollection, { query, top, minScore }: Search, rows: readonly LiveVector[], examined: number): SearchResult {
  const score = scorer(of.metric, query)
  const best = new Best<SearchHit & { readonly key: string }>(top)
  for (const row of rows) {
    const scored = score(decodeFloats(row.vector))
    if (scored.score >= minScore) best.offer({ key: row.key, ...hitOf(row, scored) })
  }
  return resultOf(
    best.list().map(({ key: _, ...hit }) => hit),
    examined,
  )
}
