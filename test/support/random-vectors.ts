// Repeatable vectors that are hard for a search in different ways: near each other, of very different lengths, or with equal scores.

/** Repeatable numbers from 0 to 1. */
export function chance(seed: number): () => number {
  let state = seed * 2654435761 + 1
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0
    return ((state ^ (state >>> 13)) >>> 0) / 2 ** 32
  }
}

export type Kind = 'random' | 'clustered' | 'few large' | 'tiny and huge' | 'integers' | 'equal'
export const KINDS: readonly Kind[] = ['random', 'clustered', 'few large', 'tiny and huge', 'integers', 'equal']

export function vectorOf(kind: Kind, dimensions: number, next: () => number): Float32Array {
  const centre = chance(Math.floor(next() * 3) + 99)
  const scale = kind === 'tiny and huge' ? 10 ** Math.floor(next() * 60 - 30) : 1
  const vector = Float32Array.from({ length: dimensions }, (_, i) => {
    if (kind === 'equal') return 1 + (i % 3)
    if (kind === 'integers') return Math.floor(next() * 5) - 2
    if (kind === 'clustered') return centre() - 0.5 + (next() - 0.5) * 1e-3
    return (next() - 0.5) * scale * (kind === 'few large' && i < 3 ? 50 : 1)
  })
  if (vector.every((value) => value === 0)) vector[0] = 1
  return vector
}
