// Filters on metadata: equality, sets, ranges, existence and prefixes, joined by and, or and not. One pure function decides for every engine.

import type { Json } from '../../model/data.ts'
import { refuse } from '../../model/errors.ts'
import { limits } from '../../model/limits.ts'
import { compareText } from '../../model/order.ts'

export type FilterScalar = string | number | boolean | null

/** Conditions on one field; all of them must hold. A list in the metadata meets them if one of its elements does. */
export interface FieldFilter {
  readonly eq?: FilterScalar
  readonly in?: readonly FilterScalar[]
  readonly gt?: number | string
  readonly gte?: number | string
  readonly lt?: number | string
  readonly lte?: number | string
  /** Whether the metadata have the field at all. */
  readonly exists?: boolean
  readonly prefix?: string
}

/** Fields and their conditions; all must hold. `and`, `or` and `not` hold filters themselves, so they cannot name fields. */
export interface MetadataFilter {
  readonly and?: readonly MetadataFilter[]
  readonly or?: readonly MetadataFilter[]
  readonly not?: MetadataFilter
  readonly [field: string]: FilterScalar | FieldFilter | MetadataFilter | readonly MetadataFilter[] | undefined
}

export type Matcher = (metadata: Readonly<Record<string, Json>> | undefined) => boolean

type Test = (value: Json) => boolean

/** Checks a filter and compiles it. With `fields`, a filter on another field is refused. */
export function takeFilter(given: unknown, fields?: readonly string[]): Matcher {
  const size = { conditions: 0 }
  return all(given, fields, '$', 0, size)
}

function all(given: unknown, fields: readonly string[] | undefined, path: string, depth: number, size: { conditions: number }): Matcher {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw flawed(path, 'expected an object')
  if (depth > limits.filterDepth) throw flawed(path, `more than ${limits.filterDepth} levels`)
  const matchers = Object.entries(given).map(([name, value]): Matcher => {
    const place = `${path}.${name}`
    if (++size.conditions > limits.filterConditions) throw flawed(path, `more than ${limits.filterConditions} conditions`)
    if (name === 'and' || name === 'or') {
      if (!Array.isArray(value)) throw flawed(place, 'expected a list of filters')
      const inner = value.map((one, i) => all(one, fields, `${place}[${i}]`, depth + 1, size))
      return name === 'and' ? (metadata) => inner.every((match) => match(metadata)) : (metadata) => inner.some((match) => match(metadata))
    }
    if (name === 'not') {
      const inner = all(value, fields, place, depth + 1, size)
      return (metadata) => !inner(metadata)
    }
    if (fields && !fields.includes(name)) throw flawed(place, `the field is not declared; declared are ${fields.join(', ') || 'none'}`)
    return ofField(name, value, place, size)
  })
  return matchers.length === 1 ? (matchers[0] as Matcher) : (metadata) => matchers.every((match) => match(metadata))
}

function ofField(field: string, value: unknown, path: string, size: { conditions: number }): Matcher {
  if (isScalar(value)) return some(field, (found) => found === value)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw flawed(path, 'expected a value or an object of conditions')
  const tests: Test[] = []
  let exists: boolean | undefined
  const conditions = Object.entries(value)
  if (conditions.length === 0) throw flawed(path, 'expected at least one condition')
  for (const [name, wanted] of conditions) {
    const place = `${path}.${name}`
    if (name === 'exists') {
      if (typeof wanted !== 'boolean') throw flawed(place, 'expected true or false')
      exists = wanted
    } else tests.push(testOf(name, wanted, place, size))
  }
  const meets = tests.length > 0 ? some(field, (found) => tests.every((test) => test(found))) : undefined
  return (metadata) => {
    if (exists !== undefined && exists !== (metadata !== undefined && Object.hasOwn(metadata, field))) return false
    return !meets || meets(metadata)
  }
}

function testOf(name: string, wanted: unknown, path: string, size: { conditions: number }): Test {
  switch (name) {
    case 'eq':
      if (!isScalar(wanted)) throw flawed(path, 'expected a text, a number, true, false or null')
      return (found) => found === wanted
    case 'in': {
      if (!Array.isArray(wanted) || !wanted.every(isScalar)) throw flawed(path, 'expected a list of texts, numbers, true, false or null')
      size.conditions += wanted.length
      if (size.conditions > limits.filterConditions) throw flawed(path, `more than ${limits.filterConditions} conditions`)
      const set = new Set<Json>(wanted)
      return (found) => set.has(found)
    }
    case 'prefix':
      if (typeof wanted !== 'string') throw flawed(path, 'expected a text')
      return (found) => typeof found === 'string' && found.startsWith(wanted)
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte': {
      const usable = typeof wanted === 'string' || (typeof wanted === 'number' && !Number.isNaN(wanted))
      if (!usable) throw flawed(path, 'expected a number or a text')
      const holds = ORDER[name]
      // Numbers are compared with numbers and texts with texts, by their UTF-8 bytes.
      return (found) => {
        if (typeof found === 'number' && typeof wanted === 'number') return holds(found - wanted)
        return typeof found === 'string' && typeof wanted === 'string' && holds(compareText(found, wanted))
      }
    }
    default:
      throw flawed(path, 'no such condition; there are eq, in, gt, gte, lt, lte, exists and prefix')
  }
}

const ORDER = {
  gt: (order: number) => order > 0,
  gte: (order: number) => order >= 0,
  lt: (order: number) => order < 0,
  lte: (order: number) => order <= 0,
}

const some =
  (field: string, test: Test): Matcher =>
  (metadata) => {
    if (metadata === undefined || !Object.hasOwn(metadata, field)) return false
    const found = metadata[field] as Json
    return Array.isArray(found) ? found.some(test) : test(found)
  }

const isScalar = (value: unknown): value is FilterScalar =>
  value === null || typeof value === 'string' || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))

const flawed = (path: string, why: string) => refuse('FILTER_INVALID', { path: path.slice(0, 200), why })
