// Canvases, in lines as a program writes them.

import { describe, expect, test } from 'vitest'
import { applyPatch, type CanvasEvent, diff, invert, replaceRoot } from '../../src/index.ts'
import { codeOf, engines, expectSound } from '../support/engines.ts'

describe.each(engines)('on $name', ({ open }) => {
  test('a canvas is replaced, patched, read at its versions and followed', async () => {
    const store = await open()
    const session = await store.session('chat')
    const canvas = session.canvas('plan')
    expect(await canvas.get()).toBeUndefined()
    const document = { steps: ['think'] }
    const { version } = await canvas.replace(document)
    for (let expect = version; expect < 3; expect++) await canvas.patch([{ op: 'add', path: '/steps/-', value: 'try' }], { expect })
    expect(await canvas.patch([{ op: 'add', path: '/steps/-', value: 'ship' }], { expect: 3 })).toEqual({ version: 4 })
    expect(await codeOf(canvas.patch([{ op: 'add', path: '/steps/-', value: 'ship' }], { expect: 3 }))).toBe('CANVAS_CHANGED')
    expect(await canvas.get()).toEqual({ document: { steps: ['think', 'try', 'try', 'ship'] }, version: 4 })
    expect(await canvas.at({ version: 2 })).toEqual({ document: { steps: ['think', 'try'] }, version: 2 })
    const versions: number[] = []
    for await (const change of canvas.history()) versions.push(change.version)
    expect(versions).toEqual([1, 2, 3, 4])

    const over = new AbortController()
    const { signal } = over
    const told: CanvasEvent[] = []
    for await (const event of canvas.subscribe({ signal })) {
      told.push(event)
      if (told.length === 1) await canvas.patch([{ op: 'remove', path: '/steps/0' }])
      else over.abort()
    }
    expect(told).toEqual([
      { version: 4, snapshot: { steps: ['think', 'try', 'try', 'ship'] } },
      { version: 5, patch: [{ op: 'remove', path: '/steps/0' }] },
    ])
    await expectSound(store)
  })
})

test('patches are applied, made, inverted, and replace a root', () => {
  const document = { steps: ['think'] }
  const ops = diff(document, { steps: ['think', 'ship'], done: false })
  const changed = applyPatch(document, ops)
  expect(changed).toEqual({ steps: ['think', 'ship'], done: false })
  expect(applyPatch(changed, invert(document, ops))).toEqual(document)
  expect(applyPatch(document, replaceRoot([1]))).toEqual([1])
  expect(document).toEqual({ steps: ['think'] })
})
