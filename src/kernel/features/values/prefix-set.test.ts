import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { PrefixSet } from './prefix-set.ts'

const refOf = (n: number): Uint8Array => createHash('sha256').update(`${n}`).digest()

test('a set of refs knows what was added, and nothing else', () => {
  const set = new PrefixSet()
  for (let n = 0; n < 20_000; n++) expect(set.add(refOf(n))).toBe(true)
  for (let n = 0; n < 20_000; n++) expect([set.has(refOf(n)), set.add(refOf(n))]).toEqual([true, false])
  for (let n = 20_000; n < 40_000; n++) expect(set.has(refOf(n))).toBe(false)
  expect(set.size).toBe(20_000)
})

test('refs that share eight bytes, and a ref of zeros, are refs of their own', () => {
  const set = new PrefixSet()
  const [one, other] = [new Uint8Array(32).fill(7), new Uint8Array(32).fill(7)]
  other[8] = 8
  for (const ref of [one, other, new Uint8Array(32)]) {
    expect(set.has(ref)).toBe(false)
    expect(set.add(ref)).toBe(true)
    expect(set.has(ref)).toBe(true)
  }
})
