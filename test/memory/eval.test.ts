// The defaults of the ranking are those that the evaluation selects: chosen on one half of the questions, reported on the other.

import { describe, expect, test } from 'vitest'
import { evaluate, half, load } from '../../src/cli/memory/evaluate.ts'
import { OWN_SET, readSet } from '../../src/cli/memory/labelled-set.ts'
import { RANKING } from '../../src/kernel/memory/ranking.ts'
import { engines } from '../support/engines.ts'
import { LONG } from '../support/rounds.ts'

const set = readSet(OWN_SET)

test('the labelled set has at least 150 questions over 600 items, in every category', () => {
  expect(set.items.length).toBeGreaterThanOrEqual(600)
  expect(set.questions.length).toBeGreaterThanOrEqual(150)
  expect([...new Set(set.questions.map(({ category }) => category))].sort()).toEqual(
    ['dates', 'forgetting', 'names', 'near-duplicates', 'negation', 'numbers', 'other-scripts', 'paraphrase', 'updates'].sort(),
  )
})

// SQLite alone in short runs: every engine gives the same hits (recall.test.ts).
describe.each(LONG ? engines : engines.filter(({ name }) => name === 'sqlite'))('memory eval on $name', ({ open }) => {
  test('no other weights are better on the first half, and the held-out half is found', async () => {
    const store = await open()
    const ids = await load(store, set)
    const chosen = await evaluate(store, half(set.questions, 0), ids)
    const others = [{ age: 0 }, ...(LONG ? [{ importance: 0.5 }, { confidence: 0 }, { age: 0.3 }] : [])]
    for (const other of others) {
      const { overall } = await evaluate(store, half(set.questions, 0), ids, { ...RANKING, ...other })
      expect(chosen.overall.fused?.mrr, JSON.stringify(other)).toBeGreaterThanOrEqual((overall.fused?.mrr ?? 1) - 1e-9)
    }
    const held = await evaluate(store, half(set.questions, 1), ids)
    expect(held.overall.fused?.at10).toBeGreaterThanOrEqual(0.95)
    expect(held.overall.fused?.mrr).toBeGreaterThanOrEqual(0.8)
    // Fused is at least the best leg, and in no category more than one question below it.
    const all = LONG ? await evaluate(store, set.questions, ids) : held
    const { fused, ...legs } = all.overall
    for (const leg of Object.values(legs)) expect(fused?.at10).toBeGreaterThanOrEqual(leg.at10)
    for (const [name, { fused: here, ...others }] of Object.entries(all.categories))
      for (const leg of Object.values(others)) expect((leg.at10 - (here?.at10 ?? 0)) * leg.questions, name).toBeLessThanOrEqual(1)
  })
})
