// Scores in float64, summed by index. Every search rescored here gives the same numbers, whichever path found its candidates.

import { compareText } from '../../model/order.ts'
import type { Metric } from '../../model/vector.ts'

export interface Scored {
  /** Larger is nearer, for every metric. */
  readonly score: number
  /** 1 − cosine, minus the dot product, or the euclidean distance. Smaller is nearer. */
  readonly distance: number
}

export function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] as number)
  return sum
}

export const norm = (vector: Float32Array): number => Math.sqrt(dot(vector, vector))

/** Returns a function that scores vectors against the query. */
export function scorer(metric: Metric, query: Float32Array): (vector: Float32Array) => Scored {
  if (metric === 'dot') {
    return (vector) => {
      const score = dot(vector, query)
      return { score, distance: 0 - score }
    }
  }
  if (metric === 'euclidean') {
    return (vector) => {
      let sum = 0
      for (let i = 0; i < vector.length; i++) sum += ((vector[i] as number) - (query[i] as number)) ** 2
      const distance = Math.sqrt(sum)
      return { score: 0 - distance, distance }
    }
  }
  const length = norm(query)
  return (vector) => {
    const score = dot(vector, query) / (norm(vector) * length)
    return { score, distance: 1 - score }
  }
}

interface Ranked {
  readonly key: string
  readonly score: number
}

/** Larger scores first; ties by id. */
export const byRank = (a: Ranked, b: Ranked): number => b.score - a.score || compareText(a.key, b.key)

/** Keeps the best `top` of what is offered. */
export class Best<T extends Ranked> {
  readonly #top: number
  #kept: T[] = []

  constructor(top: number) {
    this.#top = top
  }

  offer(one: T): void {
    this.#kept.push(one)
    // Sorting now and then costs less than keeping a heap in order.
    if (this.#kept.length >= 2 * this.#top + 64) this.#trim()
  }

  list(): readonly T[] {
    this.#trim()
    return this.#kept
  }

  #trim(): void {
    this.#kept.sort(byRank)
    if (this.#kept.length > this.#top) this.#kept.length = this.#top
  }
}
