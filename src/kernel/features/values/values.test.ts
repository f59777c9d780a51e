// The value format and `store.values`, in memory: round trips, canonical refs, partial reads, refusals.

import { expect, test } from 'vitest'
import { seeds } from '../../../../test/support/rounds.ts'
import { chance } from '../../../conformance/chance.ts'
import { open } from '../../../index.ts'
import type { Json } from '../../../model/data.ts'

const store = await open(':memory:')
const { values } = store

const long = (n: number): string => `${'word '.repeat(n)}end`
const message = (i: number): Json => ({
  lc: 1,
  type: 'constructor',
  id: ['langchain_core', 'messages', i % 2 ? 'AIMessage' : 'HumanMessage'],
  kwargs: { content: `${i}: ${long(30 + (i % 40))}`, id: `0b6f7d3e-1c2d-4e5f-8a9b-${String(i).padStart(12, '0')}` },
})

/** Text that shows the order of keys, minus zero and prototypes. */
const exact = (value: unknown): string =>
  JSON.stringify(value, (_, inner) =>
    Object.is(inner, -0) ? '-0' : inner && typeof inner === 'object' && !Array.isArray(inner) ? Object.entries(inner) : inner,
  )

const samples: readonly (readonly [name: string, value: unknown])[] = [
  ['null', null],
  ['booleans', [true, false]],
  ['numbers', [0, -0, 1, -1, 63, 64, 2 ** 31, -(2 ** 31), 2 ** 52, 2 ** 53 - 1, 1 - 2 ** 53, 0.1, 1e21, 5e-324, -1.7976931348623157e308]],
  ['strings', ['', 'a', 'ü', '😀', '\u0000', 'content', '__start__', long(20), long(30_000)]],
  ['lone surrogates', ['\ud800', 'a\udfffb', `\ud83d${long(40)}`, { '\udc00': 1 }, `\ud800${long(20_000)}`]],
  [
    'UUIDs, and texts that look like one',
    ['0b6f7d3e-1c2d-4e5f-8a9b-000000000001', '0B6F7D3E-1C2D-4E5F-8A9B-000000000001', '0b6f7d3e-1c2d-4e5f-8a9b-00000000000g'],
  ],
  ['a key order of its own', { z: 1, a: 2, m: { y: 1, b: 2 } }],
  ['__proto__ as a key', JSON.parse('{"__proto__":{"a":1},"constructor":2}')],
  ['empty containers', [[], {}, [[]], { a: {} }]],
  ['bytes', Array.from({ length: 300 }, (_, i) => i % 256)],
  ['many bytes', Array.from({ length: 100_000 }, (_, i) => (i * 7) % 256)],
  ['almost bytes', [...Array.from({ length: 40 }, (_, i) => i), -0]],
  ['a long list', Array.from({ length: 500 }, (_, i) => message(i))],
  ['a wide object', Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`key ${i}`, i % 3 ? i : long(i % 90)]))],
  ['a deep value', Array.from({ length: 500 }).reduce<Json>((inner) => [inner], 'bottom')],
]

test.each(samples)('a value reads back exactly: %s', async (_, value) => {
  const ref = await values.put(value)
  expect(ref).toMatch(/^value:[A-Za-z0-9_-]{43}$/)
  expect(exact(await values.get(ref))).toBe(exact(value))
  expect(await values.put(value)).toBe(ref)
})

/** Random values of every kind, small and large. */
function random(dice: ReturnType<typeof chance>, depth = 0): Json {
  const kind = dice.int(depth > 3 ? 6 : 9)
  const most = depth === 0 ? 60 : 8
  switch (kind) {
    case 0:
      return null
    case 1:
      return dice.int(2) === 0
    case 2:
      return dice.int(1000) - 500
    case 3:
      return (dice.int(1_000_000) - 500_000) / 997
    case 4:
      return ['content', 'type', 'some text', long(dice.int(60)), '\ud800x', '0b6f7d3e-1c2d-4e5f-8a9b-00000000000a'][dice.int(6)] as string
    case 5:
      return String.fromCharCode(...Array.from({ length: dice.int(200) }, () => dice.int(0xffff)))
    case 6:
      return Array.from({ length: dice.int(most) }, () => random(dice, depth + 1))
    case 7:
      return Array.from({ length: dice.int(80) }, () => dice.int(256))
    default:
      return Object.fromEntries(
        Array.from({ length: dice.int(most) }, (_, i) => [`${'k'.repeat(dice.int(20))}${i}`, random(dice, depth + 1)]),
      )
  }
}

test('300 random values read back exactly', async () => {
  for (let seed = 1; seed <= 300; seed++) {
    const value = random(chance(seed))
    expect(exact(await values.get(await values.put(value))), `seed ${seed}`).toBe(exact(value))
  }
})

test('an append gives the ref that a put of the whole list gives, and slices are those of the list', async () => {
  for (const seed of seeds(60, 300)) {
    const dice = chance(1000 + seed)
    const list: Json[] = Array.from({ length: dice.int(90) }, (_, i) => (dice.int(3) ? message(i) : random(dice, 3)))
    let ref = await values.put(list)
    for (let step = 0; step < 4; step++) {
      const more = Array.from({ length: dice.int(30) }, (_, i) => (dice.int(2) ? message(i) : dice.int(256)))
      ref = await values.append(ref, more)
      list.push(...more)
      expect(ref, `seed ${seed}`).toBe(await values.put(list))
    }
    const [from, to] = [dice.int(200) - 60, dice.int(200) - 60]
    expect(exact(await values.slice(ref, from, to)), `seed ${seed}, ${from} to ${to}`).toBe(exact(list.slice(from, to)))
  }
})

test('a pointer, a field and a slice read a part of a value', async () => {
  const messages = Array.from({ length: 300 }, (_, i) => message(i))
  const ref = await values.put({
    messages,
    name: 'Ada',
    'a/b': { 'm~n': [1, 2] },
    wide: Object.fromEntries(messages.map((m, i) => [`k${i}`, m])),
  })
  expect(await values.get(ref, '/messages/3')).toEqual(messages[3])
  expect(await values.get(ref, '/messages/299/kwargs/content')).toBe((messages[299] as { kwargs: { content: string } }).kwargs.content)
  expect(await values.get(ref, '/a~1b/m~0n/1')).toBe(2)
  expect(await values.get(ref, '/wide/k250')).toEqual(messages[250])
  expect(await values.get(ref, '')).toEqual(await values.get(ref))
  expect(await values.field(ref, 'name')).toBe('Ada')
  for (const path of [
    '/nobody',
    '/messages/300',
    '/messages/-',
    '/messages/03',
    '/messages/x',
    '/name/0',
    '/name/length',
    '/wide/__proto__',
  ])
    expect(await values.get(ref, path), path).toBeUndefined()
  expect(await values.field(ref, 'toString')).toBeUndefined()
  const list = await values.put(messages)
  expect(await values.slice(list, 0, 20)).toEqual(messages.slice(0, 20))
  expect(await values.slice(list, -40)).toEqual(messages.slice(-40))
  expect(await values.slice(list, 10, 5)).toEqual([])
  expect(await values.get(await values.put(Array.from({ length: 99 }, (_, i) => i)), '/77')).toBe(77)
})

const refused = (code: string) => expect.objectContaining({ code })

test('a value that cannot be stored exactly is refused, and the message names the place', async () => {
  const cyclic: unknown[] = []
  cyclic.push(cyclic)
  for (const value of [
    undefined,
    [undefined],
    new Array(2),
    { a: () => 1 },
    new Date(Number.NaN),
    new Map(),
    Number.NaN,
    1n,
    Symbol.iterator,
    { toJSON: () => 1 },
    cyclic,
  ])
    await expect(values.put(value)).rejects.toEqual(refused('DATA_INVALID'))
  for (const text of ['{"a":1,"a":2}', '[9007199254740993]', '[1', '{"a":-90071992547409931}'])
    await expect(values.putText(text)).rejects.toEqual(refused('DATA_INVALID'))
  expect(await values.get(await values.putText('{"b":[1e21,"9007199254740993",-0.5],"a":9007199254740991}'))).toEqual({
    b: [1e21, '9007199254740993', -0.5],
    a: 9007199254740991,
  })
})

test('a JSON text with a string of many megabytes is stored, and its numbers are checked', async () => {
  const content = 'say "9007199254740993" '.repeat(1_000_000)
  expect(await values.field(await values.putText(JSON.stringify({ content, n: [-1, 2.5e3, 0] })), 'n')).toEqual([-1, 2500, 0])
  const text = JSON.stringify({ content, n: 0 }).replace(/0\}$/, '9007199254740993}')
  await expect(values.putText(text)).rejects.toEqual(refused('DATA_INVALID'))
})

test('a ref that does not resolve is refused, and so is one of another tenant', async () => {
  const ref = await values.put({ mine: true })
  await expect(store.tenant('other').values.get(ref)).rejects.toEqual(refused('VALUE_MISSING'))
  await expect(store.tenant('other').values.append(ref, [1])).rejects.toEqual(refused('VALUE_MISSING'))
  await expect(values.get(`value:${'A'.repeat(43)}`)).rejects.toEqual(refused('VALUE_MISSING'))
  for (const bad of ['', 'value:', ref.slice(0, -1), `${ref}A`, `${ref.slice(0, -1)}B`, 7, undefined, {}])
    await expect(values.get(bad as string)).rejects.toEqual(refused('VALUE_REF_INVALID'))
  await expect(values.slice(await values.put({ a: 1 }), 0, 1)).rejects.toEqual(refused('VALUE_NOT_A_LIST'))
  await expect(values.get(ref, 'no slash')).rejects.toEqual(refused('OPTION_INVALID'))
  await expect(values.put(1, { redacted: true } as object)).rejects.toEqual(refused('OPTION_INVALID'))
})

test('a value is stored exactly, and masked if the caller asks for it', async () => {
  const state = { password: 'hunter2-hunter2' }
  expect(await values.get(await values.put(state))).toEqual(state)
  expect(JSON.stringify(await values.get(await values.put(state, { redact: true })))).not.toContain('hunter2')
})
