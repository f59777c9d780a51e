// Decides which payloads match a trigger. A match is JSON: an object requires its members and ignores the others, and every other value
// requires an equal one. An object of tests may stand in the place of a value: `{ gte: 100 }`.

import { canonical } from '../../../model/canonical.ts'
import { isObject, type Json } from '../../../model/data.ts'
import { refuse } from '../../../model/errors.ts'

type Members = { readonly [key: string]: Json }
type Test = (found: Json | undefined, asked: Json) => boolean

const TESTS: Readonly<Record<string, Test>> = {
  eq: (found, asked) => isEqual(found, asked),
  in: (found, asked) => (asked as readonly Json[]).some((one) => isEqual(found, one)),
  not: (found, asked) => !matches(asked, found),
  exists: (found, asked) => (found !== undefined) === asked,
  gt: (found, asked) => order(found, asked, (a, b) => a > b),
  gte: (found, asked) => order(found, asked, (a, b) => a >= b),
  lt: (found, asked) => order(found, asked, (a, b) => a < b),
  lte: (found, asked) => order(found, asked, (a, b) => a <= b),
  // An escape for members that are named like tests.
  has: (found, asked) => hasMembers(found, asked as Members),
}

export const TEST_NAMES: readonly string[] = Object.keys(TESTS)
const isTest = (name: string): boolean => Object.hasOwn(TESTS, name)

/** `undefined` means an absent member: only `exists: false` and `not` match it. */
export function matches(match: Json, found: Json | undefined): boolean {
  if (!isObject(match)) return isEqual(found, match)
  if (!asksTests(match)) return hasMembers(found, match)
  return Object.entries(match).every(([name, asked]) => (TESTS[name] as Test)(found, asked))
}

const hasMembers = (found: Json | undefined, asked: Members): boolean =>
  isObject(found) && Object.entries(asked).every(([name, match]) => matches(match, Object.hasOwn(found, name) ? found[name] : undefined))

/** Compares lists and objects as wholes, in any order of members. */
const isEqual = (found: Json | undefined, asked: Json): boolean =>
  found === asked || (typeof found === 'object' && typeof asked === 'object' && canonical(found) === canonical(asked))

/** Orders numbers by size and texts by code units. Other values have no order, and no text is read as a number. */
function order(found: Json | undefined, asked: Json, holds: <T extends number | string>(a: T, b: T) => boolean): boolean {
  if (typeof found === 'number' && typeof asked === 'number') return holds(found, asked)
  return typeof found === 'string' && typeof asked === 'string' && holds(found, asked)
}

const asksTests = (match: Members): boolean => {
  const names = Object.keys(match)
  return names.length > 0 && names.every(isTest)
}

/** Refuses a match that contradicts itself or cannot be answered, because it would silently never match. */
export function checkMatch(match: Json, path = '$'): void {
  if (!isObject(match)) return
  const names = Object.keys(match)
  const tests = names.filter(isTest)
  if (tests.length > 0 && tests.length < names.length)
    throw flawed(`${path} mixes tests (${tests.join(', ')}) with members; put the members into { has: … }`)
  if (tests.length === 0) checkMembers(match, path)
  else for (const [name, asked] of Object.entries(match)) checkTest(name, asked, `${path}.${name}`)
}

function checkMembers(match: Members, path: string): void {
  for (const [name, asked] of Object.entries(match)) checkMatch(asked, `${path}.${name}`)
}

function checkTest(name: string, asked: Json, path: string): void {
  const wants = (what: string, fits: boolean) => {
    if (!fits) throw flawed(`${path} must be ${what}`)
  }
  if (name === 'in') wants('an array of values', Array.isArray(asked))
  else if (name === 'exists') wants('true or false', typeof asked === 'boolean')
  else if (name === 'not') checkMatch(asked, path)
  else if (name === 'has') {
    wants('an object', isObject(asked))
    checkMembers(asked as Members, path)
  } else if (name !== 'eq') wants('a number or a text', typeof asked === 'number' || typeof asked === 'string')
}

const flawed = (why: string) => refuse('TRIGGER_INVALID', { why })
