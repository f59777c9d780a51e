// JSON Patch: the public test suite, what is refused, and a fuzz against another implementation.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import fc from 'fast-check'
import * as peer from 'rfc6902'
import { describe, expect, test } from 'vitest'
import { applyPatch, diff, InkError, invert, limits, type PatchOperation, replaceRoot } from '../../src/index.ts'
import { rounds, SEED } from '../support/rounds.ts'

interface Case {
  readonly comment?: string
  readonly doc: unknown
  readonly patch: readonly PatchOperation[]
  readonly expected?: unknown
  readonly error?: string
  readonly disabled?: boolean
}

const require = createRequire(import.meta.url)
const read = (name: string): readonly Case[] => JSON.parse(readFileSync(require.resolve(`json-patch-test-suite/${name}`), 'utf8'))
const suite = [...read('tests.json'), ...read('spec_tests.json')].filter(({ doc, disabled }) => doc !== undefined && !disabled)

const codeOf = (work: () => unknown): string => {
  try {
    work()
  } catch (error) {
    if (error instanceof InkError) return error.code
    throw error
  }
  return 'no error'
}
const add = (path: string, value: unknown): PatchOperation => ({ op: 'add', path, value })

test('the public suite has its 91 enabled cases', () => {
  expect(suite).toHaveLength(91)
})

describe.each(suite.map((one, i) => [`${i} ${one.comment ?? JSON.stringify(one.patch)}`, one] as const))('%s', (_, given) => {
  test('a patch is applied or refused as the suite says, and the document is not touched', () => {
    const before = structuredClone(given.doc)
    if (given.error === undefined) {
      const after = applyPatch(given.doc, given.patch)
      if (given.expected !== undefined) expect(after).toEqual(given.expected)
      expect(applyPatch(after, invert(given.doc, given.patch))).toEqual(before)
    } else expect(codeOf(() => applyPatch(given.doc, given.patch))).toMatch(/^PATCH_(INVALID|FAILED|TEST_FAILED)$/)
    expect(given.doc).toEqual(before)
  })
})

test('a patch that fails at its end changes nothing', () => {
  const document = { list: [1, 2], deep: { a: {} } }
  const before = structuredClone(document)
  const ops = [add('/list/-', 3), add('/deep/a/b', 1), { op: 'move', from: '/list', path: '/deep/list' }, add('/nowhere/x', 1)] as const
  expect(codeOf(() => applyPatch(document, ops))).toBe('PATCH_FAILED')
  expect(document).toEqual(before)
})

test('the result shares with the document what no operation touched', () => {
  const document = { kept: { deep: [1] }, list: [{ a: 1 }, { b: 2 }] }
  const after = applyPatch(document, [add('/list/1/c', 3)]) as typeof document
  expect(after.kept).toBe(document.kept)
  expect(after.list[0]).toBe(document.list[0])
  expect(after.list[1]).not.toBe(document.list[1])
})

test('a copy and its source are changed apart, and a value in a patch is never changed', () => {
  const value = { list: [1] }
  const ops = [
    add('/a', value),
    add('/a/list/-', 2),
    { op: 'copy', from: '/a', path: '/b' } as const,
    add('/b/list/-', 3),
    add('/a/list/-', 4),
  ]
  expect(applyPatch({}, ops)).toEqual({ a: { list: [1, 2, 4] }, b: { list: [1, 2, 3] } })
  expect(value).toEqual({ list: [1] })
})

test.each<readonly [string, string, unknown, readonly unknown[]]>([
  ['a failing test', 'PATCH_TEST_FAILED', { a: { b: 1 } }, [{ op: 'test', path: '/a', value: { b: '1' } }]],
  ['a test of an inherited member', 'PATCH_FAILED', {}, [{ op: 'test', path: '/toString', value: 1 }]],
  ['a path through __proto__', 'PATCH_INVALID', {}, [{ op: 'add', path: '/__proto__/polluted', value: true }]],
  ['a path to __proto__', 'PATCH_INVALID', {}, [{ op: 'add', path: '/__proto__', value: { polluted: true } }]],
  ['a from through __proto__', 'PATCH_INVALID', {}, [{ op: 'copy', from: '/__proto__', path: '/a' }]],
  ['a path through an inherited member', 'PATCH_FAILED', {}, [{ op: 'add', path: '/constructor/prototype/polluted', value: true }]],
  ['a member of a list that is no index', 'PATCH_FAILED', [1], [{ op: 'replace', path: '/length', value: 0 }]],
  ['an index with a leading zero', 'PATCH_FAILED', [1, 2], [{ op: 'replace', path: '/01', value: 0 }]],
  ['an added index with a leading zero', 'PATCH_FAILED', [1, 2], [{ op: 'add', path: '/00', value: 0 }]],
  ['an index with a sign', 'PATCH_FAILED', [1, 2], [{ op: 'remove', path: '/+1' }]],
  ['an index with an exponent', 'PATCH_FAILED', [1, 2], [{ op: 'test', path: '/1e0', value: 2 }]],
  ['an index beyond the end', 'PATCH_FAILED', [1, 2], [{ op: 'add', path: '/3', value: 3 }]],
  ['the place after the last item, removed', 'PATCH_FAILED', [1], [{ op: 'remove', path: '/-' }]],
  ['the place after the last item, replaced', 'PATCH_FAILED', [1], [{ op: 'replace', path: '/-', value: 2 }]],
  ['the place after the last item, tested', 'PATCH_FAILED', [1], [{ op: 'test', path: '/-', value: 1 }]],
  ['the place after the last item, copied', 'PATCH_FAILED', [1], [{ op: 'copy', from: '/-', path: '/0' }]],
  ['a place below the one after the last item', 'PATCH_FAILED', [1], [{ op: 'add', path: '/-/a', value: 1 }]],
  ['a move into its own child', 'PATCH_INVALID', { a: { b: {} } }, [{ op: 'move', from: '/a', path: '/a/b/c' }]],
  ['a move of the root', 'PATCH_INVALID', { a: 1 }, [{ op: 'move', from: '', path: '/a' }]],
  ['a move of nothing onto itself', 'PATCH_FAILED', {}, [{ op: 'move', from: '/a', path: '/a' }]],
  ['a removal of the root', 'PATCH_FAILED', { a: 1 }, [{ op: 'remove', path: '' }]],
  ['a replacement of nothing', 'PATCH_FAILED', {}, [{ op: 'replace', path: '/a', value: 1 }]],
  ['a removal of nothing', 'PATCH_FAILED', { a: {} }, [{ op: 'remove', path: '/a/b' }]],
  ['a parent that is a text', 'PATCH_FAILED', { a: 'text' }, [{ op: 'add', path: '/a/0', value: 1 }]],
  ['a parent that is null', 'PATCH_FAILED', { a: null }, [{ op: 'add', path: '/a/b', value: 1 }]],
  ['a missing value', 'PATCH_INVALID', {}, [{ op: 'add', path: '/a' }]],
  ['an undefined value', 'PATCH_INVALID', {}, [{ op: 'add', path: '/a', value: undefined }]],
  ['a value that is no JSON', 'PATCH_INVALID', {}, [{ op: 'add', path: '/a', value: { b: new Date(0) } }]],
  ['a missing from', 'PATCH_INVALID', {}, [{ op: 'copy', path: '/a' }]],
  ['a missing path', 'PATCH_INVALID', {}, [{ op: 'add', value: 1 }]],
  ['a path that is no text', 'PATCH_INVALID', {}, [{ op: 'remove', path: 7 }]],
  ['a path without a slash', 'PATCH_INVALID', { a: 1 }, [{ op: 'remove', path: 'a' }]],
  ['a tilde that escapes nothing', 'PATCH_INVALID', { '~2': 1 }, [{ op: 'remove', path: '/~2' }]],
  ['a tilde at the end', 'PATCH_INVALID', { '~': 1 }, [{ op: 'remove', path: '/~' }]],
  ['an unknown operation', 'PATCH_INVALID', {}, [{ op: 'spam', path: '/a', value: 1 }]],
  ['an operation in capitals', 'PATCH_INVALID', {}, [{ op: 'Add', path: '/a', value: 1 }]],
  ['an inherited operation', 'PATCH_INVALID', {}, [Object.create({ op: 'add', path: '/a', value: 1 })]],
  ['an operation that is no object', 'PATCH_INVALID', {}, ['add']],
  ['a patch that is no list', 'PATCH_INVALID', {}, { op: 'add', path: '/a', value: 1 } as never],
  ['too many operations', 'PATCH_TOO_LARGE', {}, Array.from({ length: limits.patchOperations + 1 }, () => add('/a', 1))],
  ['too many bytes', 'PATCH_TOO_LARGE', {}, [add('/a', 'x'.repeat(limits.patchBytes))]],
  [
    'copies that double the document',
    'PATCH_TOO_LARGE',
    { a: [1] },
    Array.from({ length: 60 }, () => ({ op: 'copy', from: '', path: '/a/-' })),
  ],
])('%s is refused, and nothing changes', (_, code, document, ops) => {
  const before = structuredClone(document)
  expect(codeOf(() => applyPatch(document, ops as readonly PatchOperation[]))).toBe(code)
  expect(document).toEqual(before)
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
})

test.each(['operations', 'depth', 'bytes'])('a limit of %s that is no number is refused', (name) => {
  for (const wrong of ['1', -1, Number.NaN, null]) expect(codeOf(() => applyPatch({}, [], { [name]: wrong }))).toBe('OPTION_INVALID')
})

test('a document that is too deep, or a value with a cycle, is refused', () => {
  const cyclic: unknown[] = []
  cyclic.push(cyclic)
  expect(codeOf(() => applyPatch({}, [add('/a', cyclic)]))).toBe('PATCH_TOO_LARGE')
  expect(codeOf(() => applyPatch({ a: {} }, [add('/a/b', {})], { depth: 2 }))).toBe('PATCH_TOO_LARGE')
  expect(codeOf(() => applyPatch({ a: {}, d: { e: {} } }, [{ op: 'move', from: '/d', path: '/a/d' }], { depth: 3 }))).toBe(
    'PATCH_TOO_LARGE',
  )
  expect(codeOf(() => applyPatch({}, [], { deep: 1 } as never))).toBe('OPTION_INVALID')
})

test('operations at the root, names with slashes and tildes, and members that are not defined work as the RFC says', () => {
  expect(applyPatch({ a: 1 }, replaceRoot([1]))).toEqual([1])
  expect(applyPatch({ a: 1 }, [{ op: 'test', path: '', value: { a: 1 } }])).toEqual({ a: 1 })
  expect(applyPatch({ a: { b: 1 } }, [{ op: 'move', from: '/a', path: '' }])).toEqual({ b: 1 })
  expect(applyPatch({ a: { b: 1 } }, [{ op: 'move', from: '/a/b', path: '/a' }])).toEqual({ a: 1 })
  expect(applyPatch({ a: 1 }, [{ op: 'copy', from: '', path: '/b' }])).toEqual({ a: 1, b: { a: 1 } })
  expect(
    applyPatch({ '': 1, '/': 2, '~1': 3 }, [
      { op: 'remove', path: '/' },
      { op: 'remove', path: '/~1' },
    ]),
  ).toEqual({ '~1': 3 })
  expect(applyPatch({ '~1': 3 }, [{ op: 'remove', path: '/~01' }])).toEqual({})
  expect(applyPatch({}, [{ ...add('/a', null), from: 7, extra: true } as never])).toEqual({ a: null })
  expect(applyPatch({ a: [1.0, -0] }, [{ op: 'test', path: '/a', value: [1, 0] }])).toEqual({ a: [1, -0] })
  expect(applyPatch({ '01': 1, '-': 2 }, [{ op: 'remove', path: '/01' }, add('/-', 3)])).toEqual({ '-': 3 })
  expect(applyPatch({}, [add('/constructor', 1), add('/toString', 2)])).toEqual({ constructor: 1, toString: 2 })
})

test('a member that is called __proto__ is kept as a member', () => {
  const document = JSON.parse('{"a":{"__proto__":{"x":1}},"b":1}')
  expect(JSON.stringify(applyPatch(document, [add('/a/c', 2), add('/b', JSON.parse('{"__proto__":[]}'))]))).toBe(
    '{"a":{"__proto__":{"x":1},"c":2},"b":{"__proto__":[]}}',
  )
  const other = JSON.parse('{"a":{"__proto__":{"x":2}},"b":1}')
  expect(JSON.stringify(applyPatch(document, diff(document, other)))).toBe(JSON.stringify(other))
})

test('a difference is small: an inserted item is one operation, and a small change of a large part is not a replacement', () => {
  const list = Array.from({ length: 100 }, (_, i) => ({ n: i, text: `item ${i}` }))
  expect(diff(list, [...list.slice(0, 40), { n: -1 }, ...list.slice(40)])).toEqual([add('/40', { n: -1 })])
  expect(diff({ list }, { list: list.slice(1) })).toEqual([{ op: 'remove', path: '/list/0' }])
  expect(diff({ list, a: 1 }, { list: list.with(7, { n: 7, text: 'new' }), a: 1 })).toEqual([
    { op: 'replace', path: '/list/7/text', value: 'new' },
  ])
  expect(diff({ a: { b: 1, c: 2 } }, { a: { d: 3 } })).toEqual([{ op: 'replace', path: '/a', value: { d: 3 } }])
  expect(diff({ a: 1, b: [0] }, { b: [-0], a: 1 })).toEqual([])
})

const seed = { seed: SEED, numRuns: rounds(300, 20_000) }
const json = fc.jsonValue({ maxDepth: 4 })
/** Places and values are drawn from few, so that operations often fit. */
const step = fc.constantFrom('a', 'b', '0', '1', '2', '-', '', 'm/n', 'o~p')
const pointer = fc
  .array(step, { maxLength: 3 })
  .map((steps) => steps.map((s) => `/${s.replaceAll('~', '~0').replaceAll('/', '~1')}`).join(''))
const leaf = fc.constantFrom<unknown>(1, 'x', null, [], {}, [1, 2, 3], { a: [0], b: { a: 1 } })
const document = fc.letrec((tie) => ({
  node: fc.oneof({ depthSize: 'small' }, leaf, fc.array(tie('node'), { maxLength: 4 }), fc.dictionary(step, tie('node'), { maxKeys: 4 })),
})).node
const operation: fc.Arbitrary<PatchOperation> = fc.oneof(
  fc.record({ op: fc.constantFrom('add' as const, 'replace' as const, 'test' as const), path: pointer, value: leaf }),
  fc.record({ op: fc.constant('remove' as const), path: pointer }),
  fc.record({ op: fc.constantFrom('move' as const, 'copy' as const), path: pointer, from: pointer }),
)

test('a difference leads from any document to any other, and its inverse back', () => {
  fc.assert(
    fc.property(fc.oneof(json, document), fc.oneof(json, document), (a, b) => {
      const ops = diff(a, b)
      expect(applyPatch(a, ops)).toEqual(b)
      expect(applyPatch(b, invert(a, ops))).toEqual(a)
    }),
    seed,
  )
})

test('a patch that applies is undone by its inverse, and does what the peer does', () => {
  let applied = 0
  fc.assert(
    fc.property(document, fc.array(operation, { maxLength: 6 }), (before, ops) => {
      let after: unknown
      try {
        after = applyPatch(before, ops)
      } catch (error) {
        expect((error as InkError).code).toMatch(/^PATCH_/)
        return
      }
      applied++
      expect(applyPatch(after, invert(before, ops))).toEqual(before)
      expect(after).toEqual(peerApplies(before, ops).document)
    }),
    seed,
  )
  expect(applied).toBeGreaterThan(10)
})

test('an operation is applied here if and only if the peer applies it, but for what the peer gets wrong', () => {
  fc.assert(
    fc.property(document, operation, (before, op) => {
      const failure = peerApplies(before, [op]).failures.find((found) => found !== null)
      const code = codeOf(() => applyPatch(before, [op]))
      if (failure !== undefined) expect(code, String(failure)).not.toBe('no error')
      else if (code !== 'no error') expect(isPeerLax(before, op), JSON.stringify([before, op, code])).toBe(true)
    }),
    seed,
  )
})

/**
 * The document stands below another one, because the peer does not replace the root of what it is given. A move is a removal and then an addition
 * (RFC 6902); the peer looks for the place of the addition before it removes the value, so it is given the two operations.
 */
function peerApplies(before: unknown, ops: readonly PatchOperation[]) {
  // Equal parts of a drawn document may be one object, which the peer would change in all places.
  const target = { root: JSON.parse(JSON.stringify(before)) }
  const failures: unknown[] = []
  try {
    for (const op of ops) {
      const path = `/root${op.path}`
      const from = 'from' in op ? `/root${op.from}` : ''
      const given =
        op.op === 'move'
          ? [
              { op: 'remove', path: from },
              { op: 'add', path, value: peer.Pointer.fromJSON(from).evaluate(target).value },
            ]
          : [{ ...op, path, ...(op.op === 'copy' && { from }) }]
      failures.push(...peer.applyPatch(target, structuredClone(given) as peer.Operation[]))
    }
  } catch (error) {
    // The peer throws where the parent is a number.
    failures.push(error)
  }
  return { failures, document: target.root }
}

/** The peer removes the root (a member of what it is given), accepts any name as a place in a list, and finds characters in a text. */
function isPeerLax(before: unknown, op: PatchOperation): boolean {
  if (op.op === 'remove' && op.path === '') return true
  return [op.path, ...('from' in op ? [op.from] : [])].some((pointer) => {
    const above = pointer.slice(0, Math.max(0, pointer.lastIndexOf('/')))
    const parent = peer.Pointer.fromJSON(above).evaluate(before).value
    return Array.isArray(parent) || typeof parent === 'string'
  })
}
