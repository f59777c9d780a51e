// What a match agrees with, and what is no match at all.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonical } from '../../../model/canonical.ts'
import type { Json } from '../../../model/data.ts'
import { InkError } from '../../../model/errors.ts'
import { checkMatch, matches, TEST_NAMES } from './match.ts'

const invoice = {
  type: 'invoice.paid',
  amount: 120,
  paid: '2026-02-01T09:00:00Z',
  lines: [{ sku: 'a' }, { sku: 'b' }],
  customer: { id: 7, tags: ['gold'], note: null },
}

describe('a match', () => {
  test.each<[string, Json, boolean]>([
    ['no members', {}, true],
    ['a member that is equal', { type: 'invoice.paid' }, true],
    ['a member that is not', { type: 'invoice.voided' }, false],
    ['a member that is not there', { kind: 'invoice' }, false],
    ['members of a member', { customer: { id: 7 } }, true],
    ['members of a member, one of which differs', { customer: { id: 7, tags: ['silver'] } }, false],
    ['null, which is a value', { customer: { note: null } }, true],
    ['null where nothing is there', { customer: { nickname: null } }, false],
    ['a list, as a whole', { lines: [{ sku: 'a' }, { sku: 'b' }] }, true],
    ['a part of a list', { lines: [{ sku: 'a' }] }, false],
    ['a list in another order', { lines: [{ sku: 'b' }, { sku: 'a' }] }, false],
    ['a list with tests in it, which are not read there', { lines: [{ sku: { in: ['a'] } }, { sku: 'b' }] }, false],
    ['members of what is no object', { type: { length: 12 } }, false],
    ['a number as a text', { amount: '120' }, false],
    ['at least', { amount: { gte: 120 } }, true],
    ['more than', { amount: { gt: 120 } }, false],
    ['between', { amount: { gt: 100, lte: 120 } }, true],
    ['less than, of texts', { paid: { lt: '2026-03' } }, true],
    ['at least, of a text where there is a number', { amount: { gte: '1' } }, false],
    ['at least, of what is not there', { tax: { gte: 0 } }, false],
    ['at most, of null', { customer: { note: { lte: 1 } } }, false],
    ['one of', { type: { in: ['invoice.voided', 'invoice.paid'] } }, true],
    ['one of none', { type: { in: [] } }, false],
    ['equal as a whole', { customer: { eq: { tags: ['gold'], note: null, id: 7 } } }, true],
    ['equal as a whole, with a part of it', { customer: { eq: { id: 7 } } }, false],
    ['not', { type: { not: 'invoice.voided' } }, true],
    ['not, of members', { customer: { not: { id: 7 } } }, false],
    ['not, of what is not there', { kind: { not: 'x' } }, true],
    ['there', { amount: { exists: true } }, true],
    ['there, as null', { customer: { note: { exists: true } } }, true],
    ['not there', { tax: { exists: false } }, true],
    ['not there, though it is', { amount: { exists: false } }, false],
    ['what every object has and nobody gave it', { constructor: { exists: true } }, false],
  ])('a match that asks for %s agrees as it should', (_, match, agreed) => {
    checkMatch(match)
    expect(matches(match, invoice)).toBe(agreed)
  })

  test('a match may ask for members that are called like tests', () => {
    const move = { in: 'stock', not: 1, sku: 'a' }
    const match = { has: { in: 'stock', not: { gte: 1 }, sku: 'a' } }
    checkMatch(match)
    expect(matches(match, move)).toBe(true)
    expect(matches(match, { ...move, not: 0 })).toBe(false)
  })

  test('a match agrees with no payload that is no object', () => {
    for (const payload of [null, 1, 'text', [1], true]) expect(matches({}, payload)).toBe(false)
    expect(matches({ gte: 1 }, 2)).toBe(true)
  })

  test.each<[string, Json]>([
    ['tests beside members', { amount: { gte: 1, currency: 'EUR' } }],
    ['tests beside members at the top', { type: 'a', in: ['b'] }],
    ['one of what is no list', { type: { in: 'invoice.paid' } }],
    ['more than what has no order', { amount: { gt: null } }],
    ['less than a list', { amount: { lt: [1] } }],
    ['whether it is there, with neither yes nor no', { amount: { exists: 'yes' } }],
    ['members that are none', { has: [1] }],
    ['something wrong within a test', { amount: { not: { gte: {} } } }],
    ['something wrong within members', { has: { in: { gte: [] } } }],
  ])('a match is refused when it asks for %s', (_, match) => {
    expect(() => checkMatch(match)).toThrow(expect.objectContaining({ code: 'TRIGGER_INVALID' }))
  })
})

// Values without the words of tests in them, so that a payload is a match for itself.
const key = fc.string({ maxLength: 4 }).filter((name) => name !== '__proto__' && !TEST_NAMES.includes(name))
const { value } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constant(null),
    fc.boolean(),
    fc.integer(),
    fc.string({ maxLength: 4 }),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(key, tie('value'), { maxKeys: 3 }),
  ),
}))

/** Some of the members, at every depth. */
const less = (from: Json, seed: number): Json =>
  typeof from === 'object' && from !== null && !Array.isArray(from)
    ? Object.fromEntries(
        Object.entries(from)
          .filter((_, i) => ((seed >> i) & 1) === 0)
          .map(([name, inner]) => [name, less(inner as Json, seed >> 1)]),
      )
    : from

describe('whatever the payload', () => {
  test('a payload agrees with itself, with any part of its members, and with eq of itself', () => {
    fc.assert(
      fc.property(value, fc.nat(), (payload, seed) => {
        for (const match of [payload, less(payload, seed), { eq: payload }, { not: { not: payload } }]) {
          checkMatch(match)
          expect(matches(match, payload)).toBe(true)
        }
      }),
    )
  })

  test('a test and its not never agree on it', () => {
    fc.assert(fc.property(value, value, (match, payload) => matches({ not: match }, payload) !== matches(match, payload)))
  })

  test('eq is equality of what would be written, whatever the order', () => {
    fc.assert(
      fc.property(value, value, (a, b) => {
        expect(matches({ eq: a }, b)).toBe(canonical(a) === canonical(b))
      }),
    )
  })

  test('a match that is accepted can be tested against any payload', () => {
    const any = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>
    const asked = fc.oneof(any, fc.dictionary(fc.constantFrom(...TEST_NAMES), any, { maxKeys: 2 }))
    fc.assert(
      fc.property(asked, any, (match, payload) => {
        try {
          checkMatch(match)
        } catch (error) {
          expect(error).toBeInstanceOf(InkError)
          return
        }
        expect(typeof matches(match, payload)).toBe('boolean')
      }),
    )
  })
})
