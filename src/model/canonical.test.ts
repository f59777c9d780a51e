import canonicalize from 'canonicalize'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonical } from './canonical.ts'

test('canonical text equals that of an independent RFC 8785 implementation', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      expect(canonical(value)).toBe(canonicalize(value))
    }),
    { numRuns: 500 },
  )
})

test('keys are sorted by UTF-16 units, numbers are written as ECMAScript does', () => {
  expect(canonical({ '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\u{1f600}': 5, '\u0080': 6, ö: 7 })).toBe(
    '{"\\r":2,"1":4,"\u0080":6,"ö":7,"€":1,"😀":5,"\ufb33":3}',
  )
  expect(canonical([333333333.3333333, 1e30, 4.5, 2e-3, 1e-27, -0])).toBe('[333333333.3333333,1e+30,4.5,0.002,1e-27,0]')
})

test('a value that JSON cannot express is refused, not changed', () => {
  for (const value of [Number.NaN, Infinity, 1n, () => 1, Symbol('x'), '\ud800', undefined, { '\udfff': 1 }]) {
    expect(() => canonical(value)).toThrow(expect.objectContaining({ code: 'DATA_INVALID' }))
  }
})
