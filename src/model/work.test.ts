// The backoff of items and effects.

import { expect, test } from 'vitest'
import { restMs } from './work.ts'

test('a backoff grows by its factor with each attempt, up to its longest delay', () => {
  const backoff = { firstMs: 1000, factor: 2, mostMs: 5000 }
  expect([1, 2, 3, 4, 2000].map((attempt) => restMs(backoff, attempt))).toEqual([1000, 2000, 4000, 5000, 5000])
})

test('a backoff of zero stays zero after any number of attempts', () => {
  expect(restMs({ firstMs: 0, factor: 2, mostMs: 5000 }, 2000)).toBe(0)
})
