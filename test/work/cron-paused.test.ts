// What is paused stays so until somebody resumes it, and what was missed, forgotten or failed meanwhile comes up once or not at all.

import { describe, expect, test } from 'vitest'
import { engines, expectSound } from '../support/engines.ts'
import { statesOf, workOff } from './occurrences.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

describe.each(engines.filter(({ name }) => name !== 'sqlite folder'))('on $name', (engine) => {
  const open = () => engine.openInTime({ schedule: false })

  test('a job that was paused over its only time is over when it is resumed', async () => {
    const { store, now, pass } = await open()
    await store.cron.set('once', { at: (await now()) + MINUTE, queue: 'q' })
    await store.cron.set('later', { at: (await now()) + 9 * HOUR, queue: 'q' })
    for (const name of ['once', 'later']) await store.cron.pause(name, { reason: 'incident' })
    await pass(5 * HOUR)
    expect(await store.cron.resume('once')).toMatchObject({ state: 'over' })
    expect(await store.cron.resume('later')).toMatchObject({ state: 'active' })
    await store.cron.tick()
    expect(await statesOf(store, 'once')).toEqual([])
    await pass(5 * HOUR)
    await store.cron.tick()
    expect(await statesOf(store, 'later')).toEqual(['waiting'])
    await expectSound(store)
  })

  test('setting a paused job anew does not resume it', async () => {
    const { store, pass } = await open()
    await store.cron.set('job', { every: '1h', queue: 'q' })
    await store.cron.pause('job', { reason: 'incident' })
    expect(await store.cron.set('job', { every: '1h', queue: 'q', payload: { v: 2 } })).toMatchObject({
      state: 'paused',
      reason: 'incident',
    })
    expect(await store.cron.set('job', { every: '2h', queue: 'q', payload: { v: 2 } })).toMatchObject({ state: 'paused' })
    await pass(5 * HOUR)
    await store.cron.tick()
    expect(await workOff(store)).toBe(0)
    expect(await store.cron.resume('job')).toMatchObject({ state: 'active' })
    await pass(2 * HOUR)
    await store.cron.tick()
    expect(await workOff(store)).toBe(1)
    await expectSound(store)
  })

  test('a failed occurrence is kept while its item is dead, and a pruned one can be backfilled again', async () => {
    const { store, now, pass } = await open()
    await pass(9 * HOUR)
    await store.cron.set('job', { every: '1h', queue: 'q', attempts: 1 })
    const to = await now()
    const times = { from: to - HOUR + 1, to }
    await store.cron.backfill('job', times)
    await (await store.queue('q').claim())?.fail(new Error('no'))
    expect(await store.cron.prune({ before: 8e12 })).toEqual({ forgotten: 0 })
    expect(await store.cron.backfill('job', times)).toEqual({ offered: 0, known: 1 })
    await store.queue('q').redrive()
    expect(await workOff(store)).toBe(1)
    expect(await statesOf(store, 'job')).toEqual(['done'])
    expect(await store.cron.prune({ before: 8e12 })).toEqual({ forgotten: 1 })
    expect(await store.cron.backfill('job', times)).toEqual({ offered: 1, known: 0 })
    expect(await workOff(store)).toBe(1)
    await expectSound(store)
  })
})
