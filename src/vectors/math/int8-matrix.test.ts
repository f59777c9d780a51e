// The int8 pass keeps every document that brute force in float64 finds, whatever the vectors are.

import { describe, expect, test } from 'vitest'
import { dotsModule } from '../../../scripts/wasm.ts'
import { read } from '../../../test/support/project.ts'
import { chance, KINDS, type Kind, vectorOf } from '../../../test/support/random-vectors.ts'
import { rounds } from '../../../test/support/rounds.ts'
import { METRICS, type Metric } from '../../model/vector.ts'
import { WasmRows } from '../threads/wasm-rows.ts'
import { type CodeRows, Int8Matrix } from './int8-matrix.ts'
import { quantiseRows } from './quantise.ts'
import { byRank, scorer } from './score.ts'

async function check(seed: number, rows: (dimensions: number) => CodeRows | undefined): Promise<number> {
  const next = chance(seed)
  const kind = KINDS[seed % KINDS.length] as Kind
  const metric = METRICS[seed % METRICS.length] as Metric
  const dimensions = 1 + Math.floor(next() * 70)
  const count = 1 + Math.floor(next() * 200)
  const top = 1 + Math.floor(next() * 12)
  const codes = rows(dimensions)
  const matrix = codes ? new Int8Matrix(dimensions, codes) : new Int8Matrix(dimensions)
  const vectors = Array.from({ length: count }, () => vectorOf(kind, dimensions, next))
  // In two parts, with a row that is replaced and rows that are removed.
  const half = count >> 1
  matrix.put(quantiseRows([...vectors.keys()].slice(0, half + 1), vectors.slice(0, half + 1).toReversed(), dimensions))
  for (let from = 0; from < count; from += 50)
    matrix.put(quantiseRows([...vectors.keys()].slice(from, from + 50), vectors.slice(from, from + 50), dimensions))
  const removed = new Set([...vectors.keys()].filter(() => next() < 0.1))
  matrix.remove(Uint32Array.from(removed))
  const passing = seed % 2 ? Uint8Array.from({ length: count }, () => (next() < 0.5 ? 1 : 0)) : undefined
  const query = next() < 0.2 ? (vectors[0] as Float32Array) : vectorOf(kind, dimensions, next)
  const score = scorer(metric, query)
  const expected = vectors
    .map((vector, slot) => ({ slot, key: String.fromCharCode(slot + 48), score: score(vector).score }))
    .filter(({ slot }) => !removed.has(slot) && (!passing || passing[slot] === 1))
  const found = await matrix.candidates({ vector: query, metric, top, passing })
  const kept = new Set(found.slots)
  const missed = expected
    .toSorted(byRank)
    .slice(0, top)
    .filter(({ slot }) => !kept.has(slot))
  if (found.examined !== expected.length) throw new Error(`seed ${seed}: examined ${found.examined} of ${expected.length}`)
  return missed.length
}

describe('the int8 matrix', () => {
  test.each([
    ['plain JavaScript', () => undefined],
    ['WebAssembly', (dimensions: number) => new WasmRows(dimensions)],
  ] as const)('with %s, the int8 pass keeps every document that brute force finds', async (_, rows) => {
    for (let seed = 0; seed < rounds(120, 20_000); seed++) expect(await check(seed, rows), `seed ${seed}`).toBe(0)
  })

  test('products that are wrong by a little are noticed', async () => {
    const wrong = (dimensions: number): CodeRows => {
      const right = new WasmRows(dimensions)
      return {
        stride: right.stride,
        codes: () => right.codes(),
        reserve: (count) => right.reserve(count),
        products: (query, count) => right.products(query, count).map((product) => Math.round(product * 0.7)),
      }
    }
    let missed = 0
    for (let seed = 0; seed < 60; seed++) missed += await check(seed, wrong)
    expect(missed).toBeGreaterThan(0)
  })

  test('the committed WebAssembly is what its source compiles to', async () => {
    const [committed, built] = [read('src/vectors/threads/vector-dots.ts'), await dotsModule()]
    expect(committed).toBe(built)
    expect(committed).not.toBe(built.replace("'A", "'B"))
  })
})
