// Evaluates recall on a labelled set: recall at 1, 5 and 10 and the mean reciprocal rank, for each leg and fused, by category.

import type { RankingWeights, Store } from '../../index.ts'
import type { LabelledSet, Question } from './labelled-set.ts'

export interface Scores {
  readonly questions: number
  /** Shares of the expected items among the first hits. */
  readonly at1: number
  readonly at5: number
  readonly at10: number
  /** Mean reciprocal rank of the first expected item. */
  readonly mrr: number
}

export interface Evaluation {
  /** By leg, and `fused`. */
  readonly overall: Readonly<Record<string, Scores>>
  readonly categories: Readonly<Record<string, Readonly<Record<string, Scores>>>>
}

/** Remembers the items in a store that should be empty, and returns the ids that they got. */
export async function load(store: Store, { items }: LabelledSet): Promise<ReadonlyMap<string, string>> {
  const ids = new Map<string, string>()
  // In order: an item that is superseded comes before the one that replaces it.
  for (let at = 0; at < items.length; ) {
    const some = []
    for (; at < items.length && (some.length === 0 || !items[at]?.supersedes); at++) some.push(items[at] as (typeof items)[number])
    const made = await store.memory.rememberAll(
      some.map(({ id: _, forget: _f, supersedes, ...item }) => ({
        ...item,
        ...(supersedes && { supersedes: ids.get(supersedes) as string }),
      })),
    )
    for (const [i, { id }] of some.entries()) ids.set(id, made[i]?.id as string)
  }
  for (const { id, forget } of items) if (forget) await store.memory.forget(ids.get(id) as string)
  return ids
}

export async function evaluate(
  store: Store,
  questions: readonly Question[],
  ids: ReadonlyMap<string, string>,
  weights: Partial<RankingWeights> = {},
): Promise<Evaluation> {
  const ranks: { readonly category: string; readonly leg: string; readonly ranks: readonly number[] }[] = []
  for (const { category, text, expect, about } of questions) {
    const ask = async (leg: string, only: Partial<RankingWeights>) => {
      const hits = await store.memory.recall(text, { limit: 10, weights: { ...weights, ...only }, ...(about !== undefined && { about }) })
      const found = hits.map(({ item, why }) => [item.id, ...(why.duplicates ?? [])])
      ranks.push({ category, leg, ranks: expect.map((id) => found.findIndex((some) => some.includes(ids.get(id) as never)) + 1) })
      return hits.legs
    }
    const legs = await ask('fused', {})
    // Words alone give the same hits twice.
    if (legs.length === 1) ranks.push({ ...(ranks.at(-1) as (typeof ranks)[number]), leg: legs[0] as string })
    else await ask('words', { vectors: 0 })
    if (legs.length > 1 && legs.includes('vectors')) await ask('vectors', { words: 0, vectors: 1 })
  }
  const byLeg = (some: typeof ranks) =>
    Object.fromEntries([...Map.groupBy(some, ({ leg }) => leg)].map(([leg, of]) => [leg, scoresOf(of.map((one) => one.ranks))]))
  return {
    overall: byLeg(ranks),
    categories: Object.fromEntries([...Map.groupBy(ranks, ({ category }) => category)].sort().map(([name, of]) => [name, byLeg(of)])),
  }
}

/** Ranks count from 1; 0 means that the item was not found. */
function scoresOf(questions: readonly (readonly number[])[]): Scores {
  const mean = (of: (ranks: readonly number[]) => number) =>
    questions.reduce((sum, ranks) => sum + of(ranks), 0) / Math.max(1, questions.length)
  const within = (most: number) => mean((ranks) => ranks.filter((rank) => rank > 0 && rank <= most).length / Math.max(1, ranks.length))
  const first = (ranks: readonly number[]) => Math.min(...ranks.filter((rank) => rank > 0))
  return { questions: questions.length, at1: within(1), at5: within(5), at10: within(10), mrr: mean((ranks) => 1 / first(ranks)) }
}

/** Every second question: weights are chosen on one half and reported on the other. */
export const half = (questions: readonly Question[], which: 0 | 1): readonly Question[] => questions.filter((_, i) => i % 2 === which)
