// What diff and invert return can be applied, and what they cannot compare is refused.

import { expect, test } from 'vitest'
import { applyPatch, diff, invert, limits, type PatchOperation } from '../../src/index.ts'
import { codeOf as codeOfPromise } from '../support/engines.ts'

const codeOf = (work: () => unknown): Promise<string> => codeOfPromise((async () => work())())

test('a difference and an inverse stay within the operations of one patch', () => {
  const items = (n: number) => Array.from({ length: 1200 }, (_, id) => ({ id, text: 'x'.repeat(60), n }))
  expect(applyPatch(items(0), diff(items(0), items(1)))).toEqual(items(1))
  const swaps = Array.from({ length: limits.patchOperations }, (_, i): PatchOperation => {
    const [from, path] = i % 2 === 0 ? ['/a', '/b'] : ['/b', '/a']
    return { op: 'move', from, path }
  })
  const inverse = invert({ a: 1, b: 2 }, swaps)
  expect(applyPatch(applyPatch({ a: 1, b: 2 }, swaps), inverse)).toEqual({ a: 1, b: 2 })
})

test('a difference of what is no JSON, or too deep, is refused', async () => {
  const cyclic: unknown[] = []
  cyclic.push(cyclic)
  let deep: unknown = 1
  for (let i = 0; i < 20_000; i++) deep = [deep]
  for (const other of [undefined, { a: undefined }, { a: new Date(0) }, { a: 1n }, Number.NaN])
    expect([await codeOf(() => diff({}, other)), await codeOf(() => diff(other, {}))]).toEqual(['PATCH_INVALID', 'PATCH_INVALID'])
  for (const other of [cyclic, { a: deep }]) expect(await codeOf(() => diff(other, other))).toBe('PATCH_TOO_LARGE')
  expect(() => diff({}, { a: Number.NaN })).toThrow('its value contains NaN, which is no JSON')
})
