// Subscriptions to a canvas: the document first, then every patch in order.

import { describe, expect, test } from 'vitest'
import { applyPatch, type CanvasEvent, type PatchOperation } from '../../src/index.ts'
import { codeOf, engines } from '../support/engines.ts'

const add = (path: string, value: unknown): PatchOperation => ({ op: 'add', path, value })

const take = async (events: AsyncGenerator<CanvasEvent, void>, count: number): Promise<readonly CanvasEvent[]> => {
  const taken: CanvasEvent[] = []
  while (taken.length < count) {
    const { value, done } = await events.next()
    if (done) break
    taken.push(value)
  }
  return taken
}

/** A subscriber who falls behind gets the document for several patches, so versions are awaited, and not a number of events. */
const takeTo = async (events: AsyncGenerator<CanvasEvent, void>, version: number): Promise<readonly CanvasEvent[]> => {
  const taken: CanvasEvent[] = []
  for (let at = 0; at < version; ) {
    const { value, done } = await events.next()
    if (done) break
    taken.push(value)
    at = value.version
  }
  return taken
}

describe.each(engines)('on $name', (engine) => {
  test('a subscriber gets the document, then every patch in order, across snapshots', async () => {
    const store = await engine.open({ canvas: { snapshotEvery: 3 } })
    const canvas = (await store.session('s')).canvas('plan')
    const events = canvas.subscribe()
    expect(await take(events, 1)).toEqual([{ version: 0, snapshot: {} }])
    const next = takeTo(events, 10)
    for (let n = 1; n <= 10; n++) await canvas.patch([add(`/n${n}`, n)])
    let [version, document] = [0, {} as unknown]
    for (const event of await next) {
      expect(event.version).toBeGreaterThan(version)
      if ('patch' in event) expect(event.version).toBe(version + 1)
      document = 'snapshot' in event ? event.snapshot : applyPatch(document, event.patch)
      version = event.version
      expect(document).toEqual((await canvas.at({ version }))?.document)
    }
    expect(version).toBe(10)
    await events.return()
  })

  test('a waiting subscription ends by its signal, by return, by the close of the canvas, and by the close of the store', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const canvas = session.canvas('plan')
    await canvas.patch([add('/a', 1)])
    const ending = new AbortController()
    const [signalled, returned, closed, left] = [{ signal: ending.signal }, {}, {}, {}].map((options) => canvas.subscribe(options))
    for (const events of [signalled, returned, closed, left])
      expect(await events?.next()).toEqual({ done: false, value: { version: 1, snapshot: { a: 1 } } })
    const waiting = [signalled, returned, closed].map((events) => events?.next())
    ending.abort()
    expect(await waiting[0]).toEqual({ done: true, value: undefined })
    await returned?.return()
    expect(await waiting[1]).toEqual({ done: true, value: undefined })
    await canvas.patch([add('/b', 1)])
    expect(await waiting[2]).toMatchObject({ value: { version: 2 } })
    const last = closed?.next()
    await canvas.close('over')
    expect(await last).toEqual({ done: true, value: undefined })
    const other = session.canvas('other').subscribe()
    await other.next()
    const open = other.next()
    await store.close()
    expect(await open).toEqual({ done: true, value: undefined })
    await left?.return()
  })

  test('subscriptions end when the session is deleted, and there are none of a deleted session', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const [canvas, unborn] = [session.canvas('plan'), session.canvas('unborn').subscribe()]
    await canvas.replace({ a: 1 })
    const events = canvas.subscribe()
    for (const one of [events, unborn]) await one.next()
    const waiting = [events, unborn].map((one) => one.next())
    await session.delete({ reason: 'over' })
    for (const end of [...waiting, canvas.subscribe().next(), canvas.subscribe({ from: 1 }).next()])
      expect(await end).toEqual({ done: true, value: undefined })
  })

  test('a subscriber who has missed updates gets the patches or the document, whichever is shorter', async () => {
    const store = await engine.open()
    const canvas = (await store.session('s')).canvas('plan')
    await canvas.replace({ text: 'x'.repeat(2000), n: 0 })
    for (let n = 1; n <= 5; n++) await canvas.patch([{ op: 'replace', path: '/n', value: n }])
    const patches = await take(canvas.subscribe({ from: 1 }), 5)
    expect(patches.map((event) => ['patch' in event, event.version])).toEqual([2, 3, 4, 5, 6].map((version) => [true, version]))
    expect((await take(canvas.subscribe({ from: 5 }), 1))[0]).toEqual({ version: 6, patch: [{ op: 'replace', path: '/n', value: 5 }] })
    await canvas.replace({ short: true })
    expect(await take(canvas.subscribe({ from: 1 }), 1)).toEqual([{ version: 7, snapshot: { short: true } }])
    expect(await take(canvas.subscribe({ from: 99 }), 1)).toEqual([{ version: 7, snapshot: { short: true } }])
    expect(await codeOf(canvas.subscribe({ from: -1 }).next())).toBe('OPTION_INVALID')
    expect(await codeOf(canvas.subscribe({ since: 1 } as never).next())).toBe('OPTION_INVALID')
  })
})
