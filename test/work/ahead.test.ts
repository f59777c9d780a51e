// A clock that was wrong leaves events and items ahead of the store's clock. They are found, on every engine.

import { describe, expect, test } from 'vitest'
import { engines, expectSound } from '../support/engines.ts'

const DAY = 86_400_000

describe.each(engines)('on $name', ({ name, openInTime }) => {
  test('an item that was offered while the clock was 40 days ahead is found after the clock is corrected', async () => {
    const { store, now, pass } = await openInTime()
    const queue = store.queue('outbox')
    await queue.offer('in time')
    await queue.offer('soon', { delay: '20d' })
    const late = await queue.offer('in two months', { delay: '60d' })
    expect((await store.ahead()).items.map(({ id }) => id)).toEqual([late.id])
    await pass(40 * DAY)
    // The clock may have been asked before it moved.
    await store.session('s')
    const lost = await queue.offer('lost')
    await pass(-40 * DAY)
    const report = await store.ahead()
    expect(Math.abs(report.now - (await now()))).toBeLessThan(60_000)
    expect(report.items.map(({ id }) => id)).toEqual([late.id, lost.id])
    expect(report.items[1]?.queue).toBe('outbox')
    expect((report.items[1]?.at ?? 0) - report.now).toBeGreaterThan(39 * DAY)
    expect(await queue.claim()).toMatchObject({ payload: 'in time' })
    expect(await queue.claim()).toBeUndefined()
    await expectSound(store)
  })

  test('events from the future are found by the clock of the store, newest first', async () => {
    const { store, pass } = await openInTime()
    const session = await store.session('s')
    await session.append('a.b', 1)
    expect(await store.ahead()).toMatchObject({ events: [], items: [] })
    // The clock of a database is moved by more, because its test begins up to an hour ahead of this machine's clock.
    await pass(name === 'postgres' ? -2 * 3_600_000 : -600_000)
    const { events } = await store.ahead()
    expect(events.map(({ seq }) => seq)).toEqual([2, 1])
    expect(events[0]).toMatchObject({ type: 'a.b' })
    for (let n = 0; n < 30; n++) await session.append('a.b', n)
    // Only twenty are told: those that were written last.
    expect((await store.ahead()).events.length).toBeLessThanOrEqual(20)
  })
})
