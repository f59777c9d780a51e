// Pointers and selectors, by example.

import { expect, test } from 'vitest'
import { isPointer, isTruthy, pointed, select, textOf, unfilled } from './selector.ts'

const document = { foo: ['bar', 'baz'], '': 0, 'a/b': 1, 'm~n': 8, nothing: null, deep: { er: { list: [{ x: 7 }] } } }

test.each([
  ['', document],
  ['/foo', ['bar', 'baz']],
  ['/foo/0', 'bar'],
  ['/', 0],
  ['/a~1b', 1],
  ['/m~0n', 8],
  ['/nothing', null],
  ['/deep/er/list/0/x', 7],
  ['/foo/2', undefined],
  ['/foo/-', undefined],
  ['/foo/00', undefined],
  ['/foo/length', undefined],
  ['/toString', undefined],
  ['/nothing/x', undefined],
  ['/foo/0/x', undefined],
])('the pointer %j leads to the right place', (pointer, found) => {
  expect(isPointer(pointer)).toBe(true)
  expect(pointed(document, pointer)).toEqual(found)
})

test.each(['foo', '/~', '/~2', '/a~', 7, null, undefined, '/\ud800'])('the text %j is no pointer', (text) => {
  expect(isPointer(text)).toBe(false)
})

test('null, false and what is empty is not so; every number is', () => {
  for (const value of [undefined, null, false, '', [], {}]) expect(isTruthy(value)).toBe(false)
  for (const value of [0, -1, true, ' ', [null], { a: null }]) expect(isTruthy(value)).toBe(true)
})

test('a selector chooses all, a part, a constant, whether it is there, or a text', () => {
  expect(select({ payload: true }, document)).toBe(document)
  expect(select({ payload: true }, undefined)).toBeNull()
  expect(select({ pointer: '/foo/1' }, document)).toBe('baz')
  expect(select({ pointer: '/none' }, document)).toBeNull()
  expect(select({ const: { a: 1 } }, document)).toEqual({ a: 1 })
  expect([select({ present: '/nothing' }, document), select({ present: '/none' }, document)]).toEqual([true, false])
  const template = { template: '{a} and {b}, {c} {', fields: { a: '/foo/0', b: '/deep', c: '/none' } }
  expect(select(template, document)).toBe('bar and {"er":{"list":[{"x":7}]}},  {')
  // What comes in is not read as a template again.
  expect(select({ template: '{a}{b}', fields: { a: '/x', b: '/y' } }, { x: '{b}', y: '$&' })).toBe('{b}$&')
  expect(unfilled({ template: '{a} {b}', fields: { a: '' } })).toEqual(['b'])
  expect(unfilled({ template: '{toString}', fields: {} })).toEqual(['toString'])
})

test('a text is itself, and everything else is JSON', () => {
  expect(['a', 1, null, undefined, { b: 1, a: [true] }].map(textOf)).toEqual(['a', '1', '', '', '{"a":[true],"b":1}'])
})
