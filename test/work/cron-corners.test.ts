// Corners of jobs that a year of chance has found, or nearly: what is changed, made up for, paused or deleted while it is due or runs. Time is kept by
// the tests, so nothing is waited for.

import { describe, expect, test } from 'vitest'
import type { Backend } from '../../src/ports/backend.ts'
import { shared } from '../runs/in-memory.ts'
import { codeOf, engines, expectSound } from '../support/engines.ts'
import { rowsBy } from '../support/row-reads.ts'
import { statesOf, workOff } from './occurrences.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

describe.each(engines.filter(({ name }) => name !== 'sqlite folder'))('on $name', (engine) => {
  const open = () => engine.openInTime({ schedule: false })

  test('an erased job is over, and its rows are the fold of the journal', async () => {
    const { store } = await open()
    await store.cron.set('job', { every: '1h', queue: 'q' })
    await store.cron.set('job', { every: '2h', queue: 'q' })
    const sets: number[] = []
    for await (const e of store.events({ types: ['job.set'] })) sets.push(e.seq)
    for (const seq of sets) {
      await store.erase({ seq, reason: 'test' })
      await expectSound(store)
    }
    expect(await store.cron.get('job')).toMatchObject({ state: 'over', name: '' })
  })

  test('the history of a deleted job is there, also for the next of its name', async () => {
    const { store, pass } = await open()
    await store.cron.set('job', { every: '1h', queue: 'q' })
    await pass(HOUR)
    await store.cron.tick()
    await workOff(store)
    await store.cron.delete('job')
    expect(await statesOf(store, 'job')).toEqual(['done'])
    await store.cron.set('job', { every: '1h', queue: 'q' })
    await pass(HOUR)
    await store.cron.tick()
    expect(await statesOf(store, 'job')).toEqual(['done', 'waiting'])
    await expectSound(store)
  })

  test('an interval counted from the finish goes on whatever it may overlap with', async () => {
    const { store, pass } = await open()
    for (const overlap of ['forbid', 'queueOne', 'replace', 'allow'])
      await store.cron.set(overlap, { every: '1h', from: 'finish', queue: 'q', overlap })
    for (let i = 0; i < 3; i++) {
      await pass(HOUR + MINUTE)
      await store.cron.tick()
      expect(await workOff(store)).toBe(4)
    }
    await expectSound(store)
  })

  test('a job that may overlap with itself pauses after failures, too', async () => {
    const { store, pass } = await open()
    await store.cron.set('job', { every: '1h', queue: 'q', overlap: 'allow', attempts: 1, pauseOnFailure: 2 })
    const fail = async () => {
      await pass(HOUR)
      await store.cron.tick()
      await (await store.queue('q').claim())?.fail(new Error('no'))
      return store.cron.get('job')
    }
    expect(await fail()).toMatchObject({ state: 'active', failures: 1 })
    await pass(HOUR)
    await store.cron.tick()
    await workOff(store)
    expect(await store.cron.get('job')).toMatchObject({ state: 'active', failures: 0 })
    // One by hand is nobody's failure.
    await store.cron.run('job')
    await (await store.queue('q').claim())?.fail(new Error('no'))
    expect(await store.cron.get('job')).toMatchObject({ failures: 0 })
    await fail()
    expect(await fail()).toMatchObject({ state: 'paused', failures: 2, reason: '2 failed in a row' })
    await pass(3 * HOUR)
    expect(await store.cron.tick()).toEqual({ handled: 0, failed: 0 })
    await expectSound(store)
  })

  test('a time that is made up for before it is due here comes up once, and the job goes on', async () => {
    const { store, pass } = await open()
    const { next = 0 } = await store.cron.set('job', { every: '1h', queue: 'q' })
    await pass(HOUR)
    expect(await store.cron.backfill('job', { from: next, to: next })).toEqual({ offered: 1, known: 0 })
    expect(await store.cron.tick()).toMatchObject({ next: next + HOUR })
    expect(await store.cron.get('job')).toMatchObject({ through: next, next: next + HOUR })
    await pass(HOUR)
    await store.cron.tick()
    expect(await workOff(store)).toBe(2)
    expect(await statesOf(store, 'job')).toEqual(['done', 'done'])
    await expectSound(store)
  })

  test('all of what was missed can be made up for, the first of it too', async () => {
    const { store, pass } = await open()
    const { at = 0 } = await store.queue('probe').offer(1)
    const { next = 0 } = await store.cron.set('job', { every: '1h', anchor: at + HOUR, queue: 'q', missed: 'skip' })
    await pass(3 * HOUR + 5 * MINUTE)
    await store.cron.tick()
    expect(await statesOf(store, 'job')).toEqual(['missed'])
    const [missed] = (await store.cron.occurrences('job')).items
    expect(await store.cron.backfill('job', { from: next, to: missed?.last ?? 0 })).toEqual({ offered: missed?.count, known: 0 })
    expect(await store.cron.backfill('job', { from: next, to: missed?.last ?? 0 })).toEqual({ offered: 0, known: missed?.count })
    expect(await workOff(store)).toBe(missed?.count)
    await store.cron.set('after', { every: '1h', from: 'finish', queue: 'q' })
    expect(await codeOf(store.cron.backfill('after', { from: next, to: next }))).toBe('RANGE_INVALID')
    await expectSound(store)
  })

  test('a change of anything but its times loses no time that is due', async () => {
    const { store, pass } = await open()
    const { next = 0 } = await store.cron.set('job', { every: '1h', queue: 'q', payload: 1 })
    await pass(HOUR)
    await store.cron.set('job', { every: '1h', queue: 'q', payload: 2 })
    await store.cron.tick()
    expect((await store.cron.occurrences('job')).items).toMatchObject([{ due: next, state: 'waiting' }])
    expect((await store.queue('q').claim())?.payload).toBe(2)
    await expectSound(store)
  })

  test('a change while it runs leaves an interval counted from the finish to its finish', async () => {
    const { store, pass } = await open()
    const job = { every: '1h', from: 'finish', queue: 'q', overlap: 'replace' } as const
    await store.cron.set('job', job)
    await pass(HOUR + MINUTE)
    await store.cron.tick()
    const claim = await store.queue('q').claim({ lease: '9h' })
    await store.cron.set('job', { ...job, payload: 2 })
    await store.cron.set('job', { ...job, every: '2h' })
    await store.cron.pause('job')
    expect(await store.cron.resume('job')).toMatchObject({ state: 'active' })
    await pass(5 * HOUR)
    await store.cron.tick()
    await claim?.complete()
    expect(await statesOf(store, 'job')).toEqual(['done'])
    await pass(2 * HOUR + MINUTE)
    await store.cron.tick()
    expect(await statesOf(store, 'job')).toEqual(['done', 'waiting'])
    await expectSound(store)
  })

  test('an instant that has come up does not come up again when its job is changed', async () => {
    const { store, pass } = await open()
    const { at = 0 } = await store.queue('probe').offer(1)
    await store.cron.set('once', { at: at + HOUR, queue: 'q' })
    await pass(HOUR + MINUTE)
    await store.cron.tick()
    expect(await workOff(store)).toBe(1)
    expect(await store.cron.set('once', { at: at + HOUR, queue: 'q', payload: 2 })).toMatchObject({ state: 'over' })
    await store.cron.set('once', { at: at + 2 * HOUR, queue: 'q' })
    await store.cron.set('once', { at: at + HOUR, queue: 'q' })
    expect(await store.cron.tick()).toMatchObject({ failed: 0 })
    expect(await store.cron.get('once')).toMatchObject({ state: 'over' })
    expect(await workOff(store)).toBe(0)
    await store.cron.set('once', { at: at + 2 * HOUR, queue: 'q' })
    await pass(HOUR)
    await store.cron.tick()
    expect(await workOff(store)).toBe(1)
    await expectSound(store)
  })

  test('a job that is deleted leaves none that waits for ever', async () => {
    const { store, pass } = await open()
    await store.cron.set('job', { every: '1h', queue: 'q', overlap: 'queueOne' })
    for (let i = 0; i < 2; i++) {
      await pass(HOUR)
      await store.cron.tick()
    }
    const ids = (await store.cron.occurrences('job')).items.map(({ id }) => id)
    await store.cron.delete('job')
    expect(await workOff(store)).toBe(1)
    const ends: unknown[] = []
    for await (const { subject, data } of store.events({ types: ['occurrence.finished'] }))
      ends.push([subject, (data as { state: string }).state])
    expect(ends).toEqual([
      [ids[0], 'skipped'],
      [ids[1], 'done'],
    ])
    await expectSound(store)
  })

  test('several occurrences that replace each other at once: the latest begins', async () => {
    const { store, pass } = await open()
    await store.cron.set('job', { every: '1h', queue: 'q', overlap: 'replace', missed: 'all' })
    await pass(HOUR)
    await store.cron.tick()
    await pass(3 * HOUR)
    await store.cron.tick()
    expect(await statesOf(store, 'job')).toEqual(['cancelled', 'skipped', 'skipped', 'waiting'])
    expect(await workOff(store)).toBe(1)
    await expectSound(store)
  })
})

describe('whatever the clocks say', () => {
  test('an interval counted from the finish follows the clock of the store, not of the node', async () => {
    let [now, wrong] = [10 * HOUR, 0]
    const store = await shared(() => now)({ schedule: false, clock: { now: () => now + wrong } })
    await store.cron.set('job', { every: '1h', from: 'finish', queue: 'q' })
    for (const jump of [90 * HOUR, -5 * HOUR, 0]) {
      now += HOUR
      await store.cron.tick()
      const claim = await store.queue('q').claim()
      wrong = jump
      await claim?.complete()
      expect((await store.cron.get('job'))?.next).toBe(now + HOUR)
    }
    await expectSound(store)
  })

  test('a queued occurrence begins when the one before ends, by the clock of the store', async () => {
    let [now, wrong] = [10 * HOUR, 0]
    const store = await shared(() => now)({ schedule: false, clock: { now: () => now + wrong } })
    await store.cron.set('job', { every: '1h', queue: 'q', overlap: 'queueOne' })
    for (let i = 0; i < 2; i++) {
      now += HOUR
      await store.cron.tick()
    }
    const claim = await store.queue('q').claim()
    wrong = 90 * HOUR
    await claim?.complete()
    expect(await workOff(store)).toBe(1)
    await expectSound(store)
  })

  test('a clock that was set back makes nothing due again, also for a job that is changed then', async () => {
    let now = 10 * HOUR
    const store = await shared(() => now)({ schedule: false })
    await store.cron.set('job', { every: '1m', queue: 'q' })
    now += 10 * MINUTE
    await store.cron.tick()
    await workOff(store)
    const { through = 0 } = (await store.cron.get('job')) ?? {}
    now -= 5 * MINUTE
    const changed = await store.cron.set('job', { every: '30s', queue: 'q' })
    expect(changed.through).toBe(through)
    now += 5 * MINUTE + 30_000
    await store.cron.tick()
    expect(await workOff(store)).toBe(1)
    await expectSound(store)
  })
})

test.each(['active', 'paused'] as const)(
  'a job that is %s and paused by one node while another stops and resumes it has its clock',
  async (state) => {
    let now = 10 * HOUR
    const node = shared(() => now)
    const other = await node({ schedule: false })
    let meddle: (() => Promise<unknown>) | undefined
    const reading = (backend: Backend): Backend => ({
      ...backend,
      rows: rowsBy(backend.rows, async (tenant, table, id) => {
        const hook = table === 'work' ? meddle : undefined
        if (hook) meddle = undefined
        await hook?.()
        return backend.rows.get(tenant, table, id)
      }),
    })
    const one = await node({ schedule: false }, reading)
    await one.cron.set('job', { every: '1h', queue: 'q' })
    if (state === 'paused') await one.cron.pause('job')
    meddle = async () => {
      if (state === 'active') await other.cron.pause('job')
      await other.cron.resume('job')
    }
    await one.cron.pause('job')
    if ((await other.cron.get('job'))?.state !== 'active') await other.cron.resume('job')
    now += HOUR
    await other.cron.tick()
    expect(await workOff(other)).toBe(1)
    await expectSound(other)
  },
)
