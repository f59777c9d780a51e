// The leg of vectors: items whose embedding is near that of the question. The hash embedding has no vote by default: it knows
// no meaning.

import { InkError } from '../../../model/errors.ts'
import { limits } from '../../../model/limits.ts'
import type { MemoryId } from '../../../model/memory.ts'
import { decodeBody } from '../../../model/rows.ts'
import { HASH_ID } from '../../../vectors/math/hash-embedding.ts'
import type { Scope } from '../../wiring/scope.ts'
import { embedderOf, embedTexts } from '../vectors/embed.ts'
import { searchCollection } from '../vectors/index-search.ts'
import { embedLater } from './backfill-clock.ts'
import { itemCollection } from './item-vectors.ts'
import type { Candidate, Found, Leg, Question } from './legs.ts'

const NOTHING: Found = { candidates: [], absent: true }
const LEAST = 50

// Cosines below the first say nothing, those above the second are as good as certain.
const [NOTHING_BELOW, SURE_ABOVE] = [0.25, 0.85]

export const vectorsLeg: Leg = {
  name: 'vectors',
  find: async (scope, text, asked) => {
    const question = await asked
    const embedder = embedderOf(scope)
    if (!embedder || (embedder.id === HASH_ID && !question.hashVotes)) return NOTHING
    await embedLater(scope)
    try {
      const [embedded] = await embedTexts(scope, [text], { timeoutMs: limits.recallEmbedMs, signal: question.signal })
      if (!embedded) return NOTHING
      const of = await itemCollection(scope, embedded.embedder, false)
      return of ? { candidates: await nearest(scope, question, of, embedded.vector) } : NOTHING
    } catch (error) {
      if (!(error instanceof InkError) || error.code !== 'EMBEDDER_FAILED') throw error
      const why = String(error.details.why)
      return { ...NOTHING, degraded: why.startsWith('it did not answer') ? 'embedder timed out' : `embedder failed: ${why}` }
    }
  },
}

/** Asks for more until enough items pass the filter, or there are no more. */
async function nearest(
  scope: Scope,
  { filter: { about }, allows, limit }: Question,
  of: Parameters<typeof searchCollection>[1],
  query: Float32Array,
): Promise<readonly Candidate[]> {
  const matches = about && ((metadata: { readonly about?: unknown } | undefined) => about.includes(String(metadata?.about)))
  for (let top = Math.max(4 * limit, LEAST); ; top *= 4) {
    const hits = await searchCollection(scope, of, { query, top, matches, minScore: NOTHING_BELOW })
    const rows = await Promise.all(hits.map(({ id }) => scope.engine.backend.rows.get(scope.tenant, 'memory', id)))
    const candidates: Candidate[] = []
    for (const [i, stored] of rows.entries()) {
      const row = stored && decodeBody(stored.body, stored)
      const hit = hits[i] as (typeof hits)[number]
      // A vector of an earlier text of the item does not count.
      if (!row || row.id !== (hit.id as MemoryId) || (row.textDigest ?? '') !== hit.metadata?.digest || !allows(row)) continue
      const calibrated = Math.min(1, Math.max(0, (hit.score - NOTHING_BELOW) / (SURE_ABOVE - NOTHING_BELOW)))
      candidates.push({ row, born: stored.born, score: hit.score, calibrated })
    }
    if (candidates.length >= limit || hits.length < top) return candidates
  }
}
