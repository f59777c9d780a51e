// A patch brings a document in pieces. What `append` masks in the whole document is masked in the pieces too.

import { describe, expect, test } from 'vitest'
import type { PatchOperation } from '../../src/index.ts'
import { engines, expectSound } from '../support/engines.ts'

const add = (path: string, value: unknown): PatchOperation => ({ op: 'add', path, value })

/** Each leads to a document whose secret stands beside a member that says so. */
const PIECES: Readonly<Record<string, readonly PatchOperation[]>> = {
  'a value beside its name': [add('/env', []), add('/env/-', { name: 'DB_PASSWORD' }), add('/env/0/value', 'hunter2-hunter2')],
  'a value below a member beside its name': [add('/field', { key: 'api_key', value: {} }), add('/field/value/text', 'hunter2-hunter2')],
  'the second item of a pair': [add('/headers', [['x-api-key']]), add('/headers/0/-', 'hunter2-hunter2')],
  'the second item of a pair, replaced': [
    add('/headers', [['x-api-key', '']]),
    { op: 'replace', path: '/headers/0/1', value: 'hunter2-hunter2' },
  ],
  'the data of a secret': [add('/manifest', { kind: 'Secret', data: {} }), add('/manifest/data/first', 'hunter2-hunter2')],
  'an item of a list of secrets': [add('/passwords', []), add('/passwords/-', 'hunter2-hunter2'), add('/passwords/0', 'hunter2-hunter2')],
}

describe.each(engines)('on $name', (engine) => {
  test.each(Object.entries(PIECES))('%s is masked, in one patch and in several', async (_, pieces) => {
    const store = await engine.open()
    const session = await store.session('s')
    await session.canvas('one').patch(pieces)
    for (const piece of pieces) await session.canvas('several').patch([piece])
    const [one, several] = [await session.canvas('one').get(), await session.canvas('several').get()]
    expect(one?.document).toEqual(several?.document)
    expect(JSON.stringify(one)).toContain('[redacted:')
    for await (const { data } of store.events({ types: ['canvas.*'] })) expect(JSON.stringify(data)).not.toContain('hunter2')
    await expectSound(store)
  })

  test('a value whose name comes later in the same patch is masked', async () => {
    const store = await engine.open()
    const canvas = (await store.session('s')).canvas('plan')
    await canvas.patch([
      add('/env', [{ value: 'hunter2-hunter2', use: 'db' }]),
      add('/copy', { text: 'hunter3-hunter3' }),
      add('/env/0/name', 'DB_PASSWORD'),
      { op: 'move', from: '/copy/text', path: '/api_key' },
    ])
    expect((await canvas.get())?.document).toEqual({
      env: [{ value: expect.stringContaining('[redacted:'), use: 'db', name: 'DB_PASSWORD' }],
      copy: {},
      api_key: expect.stringContaining('[redacted:'),
    })
    for await (const { data } of store.events({ types: ['canvas.*'] })) expect(JSON.stringify(data)).not.toContain('hunter')
    await expectSound(store)
  })

  test('an operation that does not fit is refused with its number, and members that only look alike are kept', async () => {
    const store = await engine.open()
    const canvas = (await store.session('s')).canvas('plan')
    await expect(canvas.patch([add('/a', 1), add('/b/c', 2), add('/d', 3)])).rejects.toMatchObject({
      code: 'PATCH_FAILED',
      details: { operation: 1, path: '/b' },
    })
    const ops = [
      add('/list', ['password', 'a', 'b']),
      add('/list/1', 'hunter2-hunter2'),
      add('/step', { name: 'ship', value: 'hunter2-hunter2' }),
    ]
    await canvas.patch([...ops, { op: 'move', from: '/list', path: '/words' }])
    expect((await canvas.get())?.document).toEqual({
      words: ['password', 'hunter2-hunter2', 'a', 'b'],
      step: { name: 'ship', value: 'hunter2-hunter2' },
    })
  })
})
