import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonical } from './canonical.ts'
import { parseData, takeCondition, takeData, takeExact } from './data.ts'

const refusal = (value: unknown): { why: unknown; path: unknown } => {
  try {
    takeData(value)
  } catch (error) {
    return (error as { details: { why: unknown; path: unknown } }).details
  }
  throw new Error('was accepted')
}

test('every JSON value is accepted and reads back the same', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => {
      const written = JSON.parse(JSON.stringify(value))
      expect(takeData(value)).toEqual(written)
      expect(JSON.parse(canonical(value))).toEqual(written)
    }),
  )
  // JSON text has no minus zero: it is zero from the start, not only after it was read back.
  expect(takeData([-0, { n: -0 }])).toEqual([0, { n: 0 }])
  takeData(Object.assign(Object.create(null), { a: 1 }))
})

test('data that JSON would silently change is refused, with its place', () => {
  class Point {
    x = 1
  }
  const holed: unknown[] = [1]
  holed[2] = 3
  const cycle: Record<string, unknown> = {}
  cycle.self = cycle
  const cases: readonly [unknown, string, string][] = [
    [{ a: [1, Number.NaN] }, 'NaN', '$.a[1]'],
    [-Infinity, '-Infinity', '$'],
    [{ n: 1n }, 'a bigint', '$.n'],
    [undefined, 'undefined', '$'],
    [{ u: [1, undefined] }, 'undefined', '$.u[1]'],
    [holed, 'a hole in an array', '$[1]'],
    [{ f: () => 1 }, 'a function', '$.f'],
    [Symbol('s'), 'a symbol', '$'],
    [{ [Symbol('s')]: 1 }, 'a symbol as a key', '$'],
    [{ d: new Date(Number.NaN) }, 'an invalid Date', '$.d'],
    [Object.create(Date.prototype), 'an instance of Date', '$'],
    [{ u: new URL('http://a.b') }, 'an instance of URL', '$.u'],
    [{ e: [new Error('x')] }, 'an instance of Error', '$.e[0]'],
    [new Map(), 'an instance of Map', '$'],
    [new Point(), 'an instance of Point', '$'],
    [new Uint8Array(2), 'an instance of Uint8Array', '$'],
    [{ toJSON: () => 1 }, 'a value with toJSON', '$'],
    [Object.assign([1], { toJSON: () => 1 }), 'a value with toJSON', '$'],
    ['a\ud800b', 'a lone surrogate', '$'],
    [{ '\udc00': 1 }, 'a lone surrogate in a key', '$.\udc00'],
  ]
  for (const [value, why, path] of cases) expect(refusal(value)).toEqual({ why, path })
  expect(refusal(cycle).why).toMatch(/64 levels \(or a cycle\)/)
})

test('members that are undefined are left out and dates become text, as in JSON.stringify', () => {
  const given = {
    keep: null,
    gone: undefined,
    at: new Date(0),
    list: [{ at: new Date(1_700_000_000_000), gone: undefined }, { gone: undefined }],
    ['__proto__']: undefined,
  }
  for (const take of [takeData, takeExact]) {
    expect(JSON.stringify(take(given))).toBe(JSON.stringify(given))
    expect(Object.keys(take(given) as object)).toEqual(['keep', 'at', 'list'])
    expect(take(new Date(5))).toBe('1970-01-01T00:00:00.005Z')
  }
  // A Date is a text, so it may stand where a text may.
  let deep: unknown = new Date(0)
  for (let i = 0; i < 64; i++) deep = [deep]
  expect(JSON.stringify(takeData(deep))).toBe(JSON.stringify(deep))
})

test('only the time of a date is stored, whatever its own methods say', () => {
  class Sly extends Date {
    secret = 'sk-1'
    override toISOString = () => 'smuggled'
    override toJSON = () => 'smuggled'
    override getTime = () => 7
    override valueOf = () => 7
  }
  const own = Object.assign(new Date(0), { toISOString: () => 'smuggled', toJSON: () => ({ a: 1 }) })
  expect(takeData([new Sly(0), own, runInNewContext('new Date(0)')])).toEqual(Array(3).fill('1970-01-01T00:00:00.000Z'))
})

test('a condition with a member that is undefined is refused, because it would hold for more', () => {
  expect(() => takeCondition({ type: undefined })).toThrow(expect.objectContaining({ details: { why: 'undefined', path: '$.type' } }))
  expect(takeCondition({ since: new Date(0) })).toEqual({ since: '1970-01-01T00:00:00.000Z' })
})

test('sixty-four levels are accepted, sixty-five are not', () => {
  const nest = (levels: number) => {
    let value: unknown = 1
    for (let i = 0; i < levels; i++) value = [value]
    return value
  }
  takeData(nest(64))
  expect(refusal(nest(65)).why).toMatch(/64 levels/)
})

test('JSON text from a caller is parsed unless a key stands twice', () => {
  expect(parseData('{"a":[{"b":"x:y\\":"},{"b":2}]}')).toEqual({ a: [{ b: 'x:y":' }, { b: 2 }] })
  for (const text of ['{"a":1,"a":2}', '[{"x":{"k":1,"k":1}}]', '{"a":1', 'nope', '{"a":1,"\\u0061":2}']) {
    expect(() => parseData(text)).toThrow(expect.objectContaining({ code: 'DATA_INVALID' }))
  }
})

test('checked data is kept as checked, whatever a getter answers the second time', () => {
  let asked = 0
  const sly = {
    get a() {
      return asked++ === 0 ? 'first' : Number.NaN
    },
  }
  expect(JSON.stringify(takeData(sly))).toBe('{"a":"first"}')
  const data = { list: [1, { deep: 'x' }], ['__proto__']: { polluted: true } }
  const copy = takeData(data) as Record<string, unknown>
  expect(JSON.stringify(copy)).toBe(JSON.stringify(data))
  ;(data.list as unknown[]).push(2)
  expect(copy.list).toEqual([1, { deep: 'x' }])
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  class List extends Array {}
  expect(refusal(List.from([1])).why).toBe('an instance of a class')
})
