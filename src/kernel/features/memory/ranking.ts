// The weights of the ranking. `inkfast memory eval` selected the weight of vectors, and a test compares it with others; the set does not tell the
// other weights apart, which were set by hand.

import { checkKnown, invalidOption, optionsOf } from '../../../model/options.ts'

export interface RankingWeights {
  /** The leg of words. */
  readonly words: number
  /** The leg of vectors. */
  readonly vectors: number
  /** How much of a score an item loses with great age, from 0 to 1. */
  readonly age: number
  /** Days after which half of that is lost. */
  readonly halfLifeDays: number
  /** How much of a score an item without confidence loses, from 0 to 1. */
  readonly confidence: number
  /** How much an item gains or loses by its importance: half of this in each direction. */
  readonly importance: number
}

export const RANKING: RankingWeights = { words: 1, vectors: 0.25, age: 0.05, halfLifeDays: 90, confidence: 0.3, importance: 0.1 }

/** BM25 and its columns. A text of average length counts 1 per occurrence. */
export const BM25 = {
  k1: 0.9,
  b: 0.3,
  tagWeight: 0.5,
  sourceWeight: 0.3,
  /** Words of the neighbours, relative to those of the text. */
  neighbourWeight: 0.5,
  secondNeighbour: 0.5,
  neighbourBase: 0.25,
  neighbourLength: 0.75,
  /** An item that has a word of the question as a tag. */
  tagFactor: 1.2,
  /** Terms that begin with an unknown word of the question. */
  prefixWeight: 0.5,
} as const

/** The pool is part of the ranking: the best items by their own text, tags and source. Their neighbours join them. */
export const POOL = 200

export function takeWeights(given: Partial<RankingWeights> | undefined, base: RankingWeights = RANKING): RankingWeights {
  if (given === undefined) return base
  const { words, vectors, age, halfLifeDays, confidence, importance, ...unknown } = optionsOf(given, 'weights')
  checkKnown(unknown, 'the weights')
  const said = Object.entries({ words, vectors, age, halfLifeDays, confidence, importance }).filter(([, value]) => value !== undefined)
  for (const [name, value] of said)
    if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) throw invalidOption(`weights.${name}`, 'a number ≥ 0', value)
  return { ...base, ...Object.fromEntries(said) }
}
