// Matrices of vectors, spread over a few worker threads. A search is limited by how fast one core reads the codes, so several cores read their part.

import { availableParallelism } from 'node:os'
import type { VectorMatrices } from '../../ports/vector-matrix.ts'
import { shardedMatrix } from '../math/sharded-matrix.ts'
import { type VectorThread, vectorThread } from './vector-thread.ts'

/** More threads share the bandwidth of the same memory, and take the cores of other work. */
const MOST_THREADS = 4

const someThreads = (): readonly VectorThread[] =>
  Array.from({ length: Math.min(MOST_THREADS, availableParallelism()) }, () => vectorThread())

export function vectorThreads(threads: readonly VectorThread[] = someThreads()): VectorMatrices {
  return {
    create: (dimensions) =>
      shardedMatrix(
        dimensions,
        threads.map((thread) => () => thread.create(dimensions)),
      ),
    close: async () => {
      await Promise.all(threads.map((thread) => thread.close()))
    },
  }
}
