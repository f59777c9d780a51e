// Cases of the public suite's repository that its package does not have.

import { expect, test } from 'vitest'
import { applyPatch, type PatchOperation } from '../../src/index.ts'
import { codeOf } from '../support/engines.ts'

test.each<readonly [string, unknown, object, unknown]>([
  ['an object replaced by a list', {}, { op: 'add', path: '', value: [] }, []],
  ['a list replaced by an object', [], { op: 'add', path: '', value: {} }, {}],
  ['an item appended to a list that is the document', [], { op: 'add', path: '/-', value: 'hi' }, ['hi']],
  ['a text that is the document, replaced', 'old', { op: 'replace', path: '', value: 'new' }, 'new'],
  ['a test of the whole document', { a: 1 }, { op: 'test', path: '', value: { a: 1 } }, { a: 1 }],
  ['a name in other letters', { foo: 1 }, { op: 'add', path: '/FOO', value: 2 }, { foo: 1, FOO: 2 }],
])('%s is applied', (_, document, op, after) => {
  expect(applyPatch(document, [op as PatchOperation])).toEqual(after)
})

test.each<readonly [string, unknown, object]>([
  ['a replacement below a member that is not there', { a: 1 }, { op: 'replace', path: '/b/c', value: 2 }],
  ['a path that is missing', {}, { op: 'add', value: 1 }],
  ['a path that is null', {}, { op: 'add', path: null, value: 1 }],
  ['a path without its slash', {}, { op: 'add', path: 'a', value: 1 }],
  ['a copy of nothing', { a: 1 }, { op: 'copy', from: '/b', path: '/a' }],
  ['a move of nothing', { a: 1 }, { op: 'move', from: '/b', path: '/a' }],
  ['a test of index 00', ['a', 'b'], { op: 'test', path: '/00', value: 'a' }],
  ['a test of index 01', ['a', 'b'], { op: 'test', path: '/01', value: 'b' }],
  ['a removal of a member that is not there', { a: 1 }, { op: 'remove', path: '/b' }],
  ['a removal below a member that is not there', { a: 1 }, { op: 'remove', path: '/b/c' }],
  ['a removal of an index that is not there', ['a', 'b'], { op: 'remove', path: '/2' }],
])('%s is refused', async (_, document, op) => {
  expect(await codeOf((async () => applyPatch(document, [op as PatchOperation]))())).toMatch(/^PATCH_(INVALID|FAILED)$/)
})
