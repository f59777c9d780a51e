// A matrix in shards answers as one matrix does, whatever its rows, slots and filters are.

import { describe, expect, test } from 'vitest'
import { chance, KINDS, type Kind, vectorOf } from '../../../test/support/random-vectors.ts'
import { rounds } from '../../../test/support/rounds.ts'
import { METRICS, type Metric } from '../../model/vector.ts'
import type { Candidates, MatrixQuery, VectorMatrix } from '../../ports/vector-matrix.ts'
import { Int8Matrix, type Survivors } from './int8-matrix.ts'
import { quantiseRows } from './quantise.ts'
import { type MatrixShard, shardedMatrix } from './sharded-matrix.ts'

/** A shard in this thread. `tells` may change its answers. */
function shardHere(dimensions: number, tells: (found: Survivors) => Survivors = (found) => found): MatrixShard {
  const matrix = new Int8Matrix(dimensions)
  return {
    put: (rows) => matrix.put(rows),
    remove: (slots) => matrix.remove(slots),
    survivors: async (query) => tells(matrix.survivors(query)),
    close: () => {},
  }
}

const answer = ({ slots, examined }: Candidates) => ({ slots: Array.from(slots).sort((a, b) => a - b), examined })

type Tells = (found: Survivors, shard: number) => Survivors

/** Returns whether a sharded matrix and one matrix answered alike after random writes. */
async function alike(seed: number, tells: Tells = (found) => found, asks: (query: MatrixQuery) => MatrixQuery = (query) => query) {
  const next = chance(seed)
  const below = (n: number) => Math.floor(next() * n)
  const kind = KINDS[seed % KINDS.length] as Kind
  const metric = METRICS[below(METRICS.length)] as Metric
  const dimensions = 1 + below(40)
  const shards = 1 + below(5)
  const starts = Array.from({ length: shards }, (_, i) => () => shardHere(dimensions, (found) => tells(found, i)))
  const sharded = shardedMatrix(dimensions, starts, 1 + below(20))
  const one = new Int8Matrix(dimensions)
  const both = (change: (matrix: VectorMatrix) => void) => [sharded, one].forEach(change)
  const count = below(4) === 0 ? 1 + below(shards) : 1 + below(300)
  for (let step = 0; step < 6; step++) {
    const slots = Array.from({ length: 1 + below(count) }, () => below(count))
    const vectors = slots.map(() => vectorOf(kind, dimensions, next))
    both((matrix) => matrix.put(quantiseRows(slots, vectors, dimensions)))
    const removed = Uint32Array.from(slots.filter(() => next() < 0.2))
    both((matrix) => matrix.remove(removed))
    const query = { vector: vectorOf(kind, dimensions, next), metric, top: 1 + below(below(4) === 0 ? 400 : 12) }
    const passing = below(2) ? Uint8Array.from({ length: count }, () => below(2)) : undefined
    const [found, expected] = [await sharded.candidates(asks({ ...query, passing })), await one.candidates({ ...query, passing })]
    if (JSON.stringify(answer(found)) !== JSON.stringify(answer(expected))) return false
  }
  return true
}

async function differing(...how: [Tells, ((query: MatrixQuery) => MatrixQuery)?]): Promise<number> {
  let count = 0
  for (let seed = 0; seed < 60; seed++) if (!(await alike(seed, ...how))) count++
  return count
}

const NONE = new Float64Array(0)

describe('a matrix in shards', () => {
  test('finds the candidates of one matrix after any writes, with any filter and metric, and with fewer rows than shards', async () => {
    for (let seed = 0; seed < rounds(150, 20_000); seed++) expect(await alike(seed), `seed ${seed}`).toBe(true)
  })

  test.each<[string, Tells]>([
    ['the lower bounds of the first shard only', (found, shard) => (shard === 0 ? found : { ...found, lowers: NONE })],
    ['each lower bound twice', (found) => ({ ...found, lowers: Float64Array.from([...found.lowers, ...found.lowers]) })],
    ['no survivors of the last shards', (found, shard) => (shard < 2 ? found : { ...found, slots: new Uint32Array(0) })],
  ])('with %s, differs from one matrix', async (_, tells) => {
    expect(await differing(tells)).toBeGreaterThan(10)
  })

  test('with a filter that is moved by one slot, differs from one matrix', async () => {
    const moved = (query: MatrixQuery) => ({ ...query, passing: query.passing && Uint8Array.from([0, ...query.passing]) })
    expect(await differing((found) => found, moved)).toBeGreaterThan(10)
  })

  test('starts a shard with the first row that is in it, and none after it was closed', async () => {
    const started: number[] = []
    const starts = [0, 1, 2].map((i) => () => {
      started.push(i)
      return shardHere(2)
    })
    const matrix = shardedMatrix(2, starts, 4)
    const put = (slots: readonly number[]) =>
      matrix.put(
        quantiseRows(
          slots,
          slots.map((slot) => Float32Array.of(1, slot)),
          2,
        ),
      )
    const query = { vector: Float32Array.of(0, 1), metric: 'dot', top: 1 } as const
    expect(answer(await matrix.candidates(query))).toEqual({ slots: [], examined: 0 })
    put([0, 1, 2, 3])
    expect(started).toEqual([0])
    put([4])
    expect(started).toEqual([0, 1])
    expect(answer(await matrix.candidates(query))).toEqual({ slots: [4], examined: 5 })
    matrix.close()
    put([8])
    expect(started).toEqual([0, 1])
  })

  test('is lost with one of its shards', async () => {
    const lost = { ...shardHere(1), survivors: () => Promise.reject(new Error('the matrix is lost')) }
    const matrix = shardedMatrix(1, [() => shardHere(1), () => lost], 1)
    const query = { vector: Float32Array.of(1), metric: 'dot', top: 1 } as const
    matrix.put(quantiseRows([0], [Float32Array.of(1)], 1))
    expect(answer(await matrix.candidates(query))).toEqual({ slots: [0], examined: 1 })
    matrix.put(quantiseRows([1], [Float32Array.of(1)], 1))
    await expect(matrix.candidates(query)).rejects.toThrow('lost')
  })
})
