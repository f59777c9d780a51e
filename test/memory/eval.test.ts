// The defaults of the ranking are those that the evaluation selects: chosen on one half of the questions, reported on the other.

import { expect, test } from 'vitest'
import { type Evaluation, evaluate, half, load } from '../../src/cli/memory/evaluate.ts'
import { OWN_SET, readSet } from '../../src/cli/memory/labelled-set.ts'
import type { EmbedFunction, Store } from '../../src/index.ts'
import type { RANKING } from '../../src/kernel/features/memory/ranking.ts'
import { hashEmbedding } from '../../src/vectors/math/hash-embedding.ts'
import { engines, openIn } from '../support/engines.ts'
import { LONG } from '../support/rounds.ts'

const set = readSet(OWN_SET)

test('the labelled set has at least 150 questions over 600 items, in every category', () => {
  expect(set.items.length).toBeGreaterThanOrEqual(600)
  expect(set.questions.length).toBeGreaterThanOrEqual(150)
  expect([...new Set(set.questions.map(({ category }) => category))].sort()).toEqual(
    ['dates', 'forgetting', 'names', 'near-duplicates', 'negation', 'numbers', 'other-scripts', 'paraphrase', 'updates'].sort(),
  )
})

/** Vectors that know words and no meaning. Under a name of their own they have a vote, and are by far the weaker leg. */
const weak = (): EmbedFunction => ({ id: 'weak', dimensions: 64, version: '1', embed: async (texts) => texts.map(hashEmbedding) })

const MEASURES = ['at1', 'at5', 'at10', 'mrr'] as const

/** Where fused is below a leg: at all overall, and by more than one question in a category. */
function below({ overall, categories }: Evaluation): readonly string[] {
  const found: string[] = []
  const compare = (where: string, { fused, ...legs }: Evaluation['overall'], questions: number) => {
    for (const [name, leg] of Object.entries(legs))
      for (const measure of MEASURES)
        if ((leg[measure] - (fused?.[measure] ?? 0)) * leg.questions > questions + 1e-9) found.push(`${where}: ${name} ${measure}`)
  }
  compare('overall', overall, 0)
  for (const [name, legs] of Object.entries(categories)) compare(name, legs, 1)
  return found
}

async function filled(store: Store): Promise<ReadonlyMap<string, string>> {
  const ids = await load(store, set)
  expect((await store.memory.backfill()).pending).toBe(0)
  return ids
}

// SQLite alone in short runs: every engine gives the same hits (recall.test.ts).
test.each(LONG ? engines : engines.filter(({ name }) => name === 'sqlite'))(
  'on the held-out half, fused is at least the best leg, and in no category more than one question below it, on $name',
  async ({ open }) => {
    const store = await open({ embedder: weak() })
    const ids = await filled(store)
    const held = await evaluate(store, half(set.questions, 1), ids)
    expect(Object.keys(held.overall).sort()).toEqual(['fused', 'vectors', 'words'])
    expect(held.overall.vectors?.at10).toBeLessThan(0.9)
    expect(below(held)).toEqual([])
    expect(held.overall.fused?.at10).toBeGreaterThanOrEqual(0.95)
    expect(held.overall.fused?.mrr).toBeGreaterThanOrEqual(0.9)
    // Control: with the same vote as the words, such vectors would make the result worse.
    expect(below(await evaluate(store, half(set.questions, 1), ids, { vectors: 1 }))).toContain('overall: words at10')
  },
)

test.runIf(LONG)(
  'with the local model, no other weights are better on the first half, and fused is not below a leg on the other',
  async () => {
    const store = await openIn(':memory:', { embedder: 'local' })
    const ids = await filled(store)
    const mrr = async (weights?: Partial<typeof RANKING>) =>
      (await evaluate(store, half(set.questions, 0), ids, weights)).overall.fused?.mrr as number
    const chosen = await mrr()
    for (const other of [{ vectors: 0 }, { vectors: 0.5 }, { vectors: 1 }, { age: 0.3 }, { importance: 0.5 }])
      expect(chosen, JSON.stringify(other)).toBeGreaterThanOrEqual((await mrr(other)) - 1e-9)
    expect(await mrr({ vectors: 0.1 }), 'the set tells weights apart').toBeLessThan(chosen)
    const held = await evaluate(store, half(set.questions, 1), ids)
    expect(below(held)).toEqual([])
    expect(held.overall.fused?.at1, 'meaning helps').toBeGreaterThan(held.overall.words?.at1 as number)
  },
)
