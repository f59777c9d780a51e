// A canvas with more versions than are read or written at a time.

import { describe, expect, test } from 'vitest'
import { limits } from '../../src/index.ts'
import { engines, expectSound } from '../support/engines.ts'

describe.each(engines)('a long canvas on $name', ({ open }) => {
  test('every version is read however many there are, and updates are written in batches', async () => {
    const store = await open({ canvas: { updatesPerMinute: 1_000_000 } })
    const canvas = (await store.session('s')).canvas('c')
    await canvas.replace({ n: 1 })
    const { commits } = store.stats()
    const most = limits.canvasPage + 2
    const values = Array.from({ length: most - 1 }, (_, i) => i + 2)
    await Promise.all(values.map((value) => canvas.patch([{ op: 'replace', path: '/n', value }])))
    const batches = Math.ceil(values.length / limits.canvasBatch)
    const written = store.stats().commits - commits
    expect([written >= batches, written <= batches + 2]).toEqual([true, true])

    const versions: number[] = []
    for await (const { version } of canvas.history()) versions.push(version)
    expect(versions).toEqual([1, ...values])
    const backwards: number[] = []
    for await (const { version } of canvas.history({ backwards: true })) backwards.push(version)
    expect(backwards).toEqual(versions.toReversed())
    for (const version of [1, 2, limits.canvasPage, limits.canvasPage + 1, most])
      expect(await canvas.at({ version })).toEqual({ document: { n: version }, version })
    await expectSound(store)
  })
})
