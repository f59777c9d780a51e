// Updates that come together, and updates that leave the document as it is.

import { describe, expect, test } from 'vitest'
import type { Canvas, PatchOperation, Store } from '../../src/index.ts'
import { engines, expectSound } from '../support/engines.ts'

const add = (path: string, value: unknown): PatchOperation => ({ op: 'add', path, value })
const planOf = async (store: Store): Promise<Canvas> => (await store.session('s')).canvas('plan')

describe.each(engines)('on $name', (engine) => {
  test('updates that wait together do not exceed the rate, not even the first ones of a canvas', async () => {
    const store = await engine.open({ canvas: { updatesPerMinute: 5 } })
    const canvas = await planOf(store)
    const told = await Promise.allSettled(Array.from({ length: 8 }, (_, n) => canvas.patch([add('/n', n)])))
    const refused = told.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
    expect(refused.map(({ code }) => code)).toEqual(['RATE_LIMITED', 'RATE_LIMITED', 'RATE_LIMITED'])
    expect(await canvas.get()).toEqual({ document: { n: 4 }, version: 5 })
    await expectSound(store)
  })

  test('a restore of the document that is there already is a new version too', async () => {
    const store = await engine.open()
    const canvas = await planOf(store)
    for (const n of [1, 2]) await canvas.patch([add('/n', n)])
    expect(await canvas.restore(2)).toEqual({ version: 3 })
    expect(await canvas.get()).toEqual({ document: { n: 2 }, version: 3 })
    for await (const { kind, to } of canvas.history({ after: 2 })) expect([kind, to]).toEqual(['restore', 2])
    await expectSound(store)
  })

  test('a fork whose first events were erased keeps what was closed closed, and where an undo leads', async () => {
    const store = await engine.open()
    const source = await store.session('s')
    for (const n of [1, 2]) await source.canvas('plan').patch([add('/n', n)])
    await source.canvas('closed').replace({ done: true })
    await source.canvas('closed').close('over')
    const fork = await source.fork({ at: (await store.head()).seq, key: 'fork' })
    for await (const { seq } of store.events({ types: ['canvas.forked'] })) await store.erase({ seq, reason: 'asked for' })
    await expect(fork.canvas('closed').patch([add('/a', 1)])).rejects.toMatchObject({ code: 'CANVAS_CLOSED' })
    expect(await fork.canvas('plan').undo()).toEqual({ version: 3 })
    expect((await fork.canvas('plan').get())?.document).toEqual({ n: 1 })
    await expectSound(store)
  })
})
