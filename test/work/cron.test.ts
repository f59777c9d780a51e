// Jobs by the clock: each time once, on however many nodes, with what overlaps, what was missed and what failed dealt with as the job says.

import { describe, expect, test } from 'vitest'
import type { Store } from '../../src/index.ts'
import { codeOf, expectSound, layouts, lentDatabase, moveTime, openIn, tempFile } from '../support/engines.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

/** Done by hand, so that no test waits for a loop. */
const settled = async (store: Store, name: string) =>
  (await store.cron.occurrences(name, { last: 1000 })).items.map(({ due, state }) => [due, state] as const).reverse()

const statesOf = async (store: Store, name: string) => (await settled(store, name)).map(([, state]) => state)

/** Until the scheduler has nothing more to do for this job. By store time: a database's goes on while the test moves it. */
const untilNext = (store: Store, name: string, now: () => Promise<number>) =>
  expect.poll(async () => ((await store.cron.get(name))?.next ?? Infinity) > (await now())).toBe(true)

describe.each(layouts)('jobs on $name', (engine) => {
  const open = async () => {
    const { store, now, pass } = await engine.openInTime()
    return {
      store,
      now,
      pass: async (ms: number) => {
        await pass(ms)
        // Nobody is told that time was moved.
        await store.queue('probe').offer(ms)
      },
    }
  }

  test('a job comes up at its times, each as an item of its queue', async () => {
    const { store, pass, now } = await open()
    const job = await store.cron.set('digest', { every: '15m', queue: 'digest', payload: { to: 'all' } })
    expect(job).toMatchObject({ name: 'digest', state: 'active', schedule: { kind: 'every', every: 15 * MINUTE } })
    const first = job.next ?? 0
    expect(first - (await now())).toBeLessThanOrEqual(15 * MINUTE)
    expect(await store.queue('digest').claim()).toBeUndefined()
    await pass(15 * MINUTE)
    await expect.poll(() => store.queue('digest').stats()).toMatchObject({ ready: 1 })
    const claim = await store.queue('digest').claim()
    expect(claim?.payload).toEqual({ to: 'all' })
    expect(await settled(store, 'digest')).toEqual([[first, 'running']])
    await claim?.complete()
    const [done] = (await store.cron.occurrences('digest')).items
    expect(done).toMatchObject({ due: first, state: 'done', attempt: 1, cause: 'schedule' })
    expect(done?.finishedAt).toBeGreaterThanOrEqual(done?.startedAt ?? Infinity)
    expect((await store.cron.get('digest'))?.next).toBe(first + 15 * MINUTE)
    await expectSound(store)
  })

  test('the same job again changes nothing, another definition counts from now', async () => {
    const { store } = await open()
    const options = {
      cron: '0 9 * * 1-5',
      zone: 'Europe/Paris',
      overlap: 'queueOne',
      missed: 'once',
      queue: 'digest',
      payload: {},
    } as const
    const first = await store.cron.set('digest', options)
    const { seq } = await store.head()
    expect(await store.cron.set('digest', options)).toEqual(first)
    expect((await store.head()).seq).toBe(seq)
    const other = await store.cron.set('digest', { ...options, cron: '0 10 * * 1-5' })
    expect(other).toMatchObject({ id: first.id, schedule: { cron: '0 10 * * 1-5' } })
    expect((await store.cron.list()).items).toHaveLength(1)
    await store.cron.delete('digest')
    expect(await store.cron.get('digest')).toBeUndefined()
    expect(await codeOf(store.cron.delete('digest'))).toBe('JOB_UNKNOWN')
    expect((await store.cron.set('digest', options)).id).toBe(first.id)
    await expectSound(store)
  })

  test.each([
    ['forbid', ['running', 'skipped', 'skipped'], ['done', 'skipped', 'skipped']],
    ['queueOne', ['running', 'waiting', 'skipped'], ['done', 'running', 'skipped']],
    ['replace', ['cancelled', 'cancelled', 'waiting'], ['cancelled', 'cancelled', 'running']],
    ['allow', ['running', 'waiting', 'waiting'], ['done', 'running', 'waiting']],
  ])('a job with overlap %s starts, waits or skips accordingly', async (overlap, before, after) => {
    const { store, pass, now } = await open()
    await store.cron.set('job', { every: '1h', queue: 'q', overlap })
    await pass(HOUR)
    await untilNext(store, 'job', now)
    const first = await store.queue('q').claim({ lease: '9h' })
    expect(first).toBeDefined()
    for (let i = 0; i < 2; i++) {
      await pass(HOUR)
      await untilNext(store, 'job', now)
    }
    expect(await statesOf(store, 'job')).toEqual(before)
    if (overlap === 'replace') expect(await codeOf(Promise.resolve(first?.complete()))).toBe('FENCE_LOST')
    else await first?.complete()
    const second = await store.queue('q').claim()
    expect(second === undefined).toBe(overlap === 'forbid')
    expect(await statesOf(store, 'job')).toEqual(after)
    await expectSound(store)
  })

  test.each([
    ['skip', ['missed']],
    ['once', ['missed', 'waiting']],
    ['all', ['waiting', 'waiting', 'waiting', 'waiting']],
  ])('occurrences missed while no node was running: %s', async (missed, states) => {
    const { store, pass, now } = await open()
    const job = await store.cron.set('job', { every: '10m', queue: 'q', overlap: 'allow', missed })
    const until = (job.next ?? 0) - (await now())
    await pass(until + 30 * MINUTE + 5 * MINUTE)
    await untilNext(store, 'job', now)
    expect(await statesOf(store, 'job')).toEqual(states)
    await expectSound(store)
  })

  test('an interval counted from the finish begins when the last one ends', async () => {
    const { store, pass, now } = await open()
    await store.cron.set('job', { every: '1m', from: 'finish', queue: 'q', attempts: 1 })
    await pass(MINUTE)
    await expect.poll(() => store.queue('q').stats()).toMatchObject({ ready: 1 })
    const claim = await store.queue('q').claim({ lease: '2h' })
    await pass(HOUR)
    expect(await statesOf(store, 'job')).toEqual(['running'])
    expect((await store.cron.get('job'))?.next).toBeUndefined()
    const before = await now()
    await claim?.complete()
    const next = (await store.cron.get('job'))?.next ?? 0
    expect(next).toBeGreaterThanOrEqual(before + MINUTE)
    expect(next).toBeLessThanOrEqual((await now()) + MINUTE)
    await pass(MINUTE)
    await expect.poll(() => store.queue('q').stats()).toMatchObject({ ready: 1 })
    await expectSound(store)
  })

  test('a job that fails pauses itself when it is told to, and goes on when it is resumed', async () => {
    const { store, pass, now } = await open()
    await store.cron.set('job', { every: '1h', queue: 'q', attempts: 1, pauseOnFailure: 2 })
    for (let i = 0; i < 2; i++) {
      await pass(HOUR)
      await expect.poll(() => store.queue('q').stats()).toMatchObject({ ready: 1 })
      await (await store.queue('q').claim())?.fail(new Error('no'))
    }
    expect(await store.cron.get('job')).toMatchObject({ state: 'paused', failures: 2, reason: '2 failed in a row' })
    await pass(10 * HOUR)
    expect(await statesOf(store, 'job')).toEqual(['failed', 'failed'])
    const before = await now()
    const resumed = await store.cron.resume('job')
    expect(resumed).toMatchObject({ state: 'active', failures: 0 })
    expect(resumed.next).toBeGreaterThan(before)
    await pass(HOUR)
    await expect.poll(() => statesOf(store, 'job')).toEqual(['failed', 'failed', 'waiting'])
    await expectSound(store)
  })

  test('an instant comes up once, and then the job is over', async () => {
    const { store, pass, now } = await open()
    await store.cron.set('once', { at: (await now()) + MINUTE, queue: 'q' })
    await pass(MINUTE + 1000)
    await expect.poll(() => statesOf(store, 'once')).toEqual(['waiting'])
    expect((await store.cron.get('once'))?.state).toBe('over')
    await (await store.queue('q').claim())?.complete()
    expect(await statesOf(store, 'once')).toEqual(['done'])
    await expectSound(store)
  })

  test('a job is run by hand once more, and for a period that was missed, each time once', async () => {
    const { store, now } = await open()
    await store.cron.set('job', { every: '2m', queue: 'q' })
    expect(await store.cron.run('job')).toMatchObject({ cause: 'hand', state: 'waiting' })
    const to = (await now()) - 1
    const from = to - 10 * MINUTE + 1
    expect(await store.cron.backfill('job', { from, to })).toEqual({ offered: 5, known: 0 })
    expect(await store.cron.backfill('job', { from, to })).toEqual({ offered: 0, known: 5 })
    expect(await store.queue('q').stats()).toMatchObject({ ready: 6 })
    expect(await codeOf(store.cron.backfill('job', { from: to, to: from }))).toBe('RANGE_INVALID')
    // Only where the clock is a real one have so many times passed.
    if (engine.name === 'postgres') expect(await codeOf(store.cron.backfill('job', { from: 0, to: 1e12 }))).toBe('BACKFILL_TOO_LARGE')
    expect(await store.cron.backfill('job', { from: to + HOUR, to: to + 2 * HOUR })).toEqual({ offered: 0, known: 0 })
    for (let claim = await store.queue('q').claim(); claim; claim = await store.queue('q').claim()) await claim.complete()
    expect(await store.cron.prune({ before: 8e12 })).toEqual({ forgotten: 6 })
    expect(await store.cron.prune({ before: 8e12 })).toEqual({ forgotten: 0 })
    await expectSound(store)
  })

  test('bad input about jobs is refused and writes nothing', async () => {
    const { store } = await open()
    const { seq } = await store.head()
    const wrong: readonly [object, string][] = [
      [{ cron: '0 9 31 2 *', queue: 'q' }, 'SCHEDULE_INVALID'],
      [{ cron: 'never', queue: 'q' }, 'SCHEDULE_INVALID'],
      [{ cron: '0 9 * * *', zone: 'Europe/Atlantis', queue: 'q' }, 'ZONE_UNKNOWN'],
      [{ every: 0, queue: 'q' }, 'SCHEDULE_INVALID'],
      [{ every: '-5m', queue: 'q' }, 'SCHEDULE_INVALID'],
      [{ every: '1m', cron: '* * * * *', queue: 'q' }, 'SCHEDULE_INVALID'],
      [{ queue: 'q' }, 'SCHEDULE_INVALID'],
      [{ every: '1m' }, 'QUEUE_NAME_INVALID'],
      [{ every: '1m', queue: 'runs/answer' }, 'QUEUE_NAME_INVALID'],
      [{ every: '1m', queue: 'q', overlap: 'sometimes' }, 'OPTION_INVALID'],
      [{ every: '1m', queue: 'q', missed: 'sometimes' }, 'OPTION_INVALID'],
      [{ every: '1m', queue: 'q', pauseOnFailure: 0 }, 'OPTION_INVALID'],
      [{ every: '1m', queue: 'q', colour: 'red' }, 'OPTION_INVALID'],
    ]
    for (const [options, code] of wrong) expect([options, await codeOf(store.cron.set('job', options as never))]).toEqual([options, code])
    expect(await codeOf(store.cron.run('nobody'))).toBe('JOB_UNKNOWN')
    expect((await store.head()).seq).toBe(seq)
  })
})

describe.each(layouts.filter(({ name }) => name === 'sqlite' || name === 'postgres'))('three nodes on $name', ({ name }) => {
  test('three nodes start each occurrence once, and tenants are looked after alike', async () => {
    const url = name === 'postgres' ? await lentDatabase() : tempFile()
    let ahead = 0
    const clock = name === 'postgres' ? {} : { clock: { now: () => Date.now() + ahead } }
    const nodes = [await openIn(url, clock), await openIn(url, clock), await openIn(url, clock)] as const
    const pass = async (ms: number) => {
      ahead += ms
      if (name === 'postgres') await moveTime(url, ms)
    }
    const done: string[] = []
    const workers = nodes.map((store) =>
      store
        .queue('q')
        .work((claim) => void done.push(`${claim.tenant} ${claim.origin?.at}`), { tenants: 'all', concurrency: 2, lease: '1h' }),
    )
    for (const tenant of ['main', 'acme'])
      await nodes[0].tenant(tenant).cron.set('tick', { every: '1m', queue: 'q', overlap: 'allow', missed: 'all' })
    // The minutes of the machine go on too, so there may be one more.
    for (let i = 1; i <= 10; i++) {
      await pass(MINUTE)
      for (const node of nodes) await node.session('noise')
      await expect.poll(() => done.length).toBeGreaterThanOrEqual(2 * i)
    }
    await Promise.all(workers.map((worker) => worker.close()))
    for (const tenant of ['main', 'acme']) {
      const times = done
        .filter((one) => one.startsWith(tenant))
        .map((one) => Number(one.split(' ')[1]))
        .sort((a, b) => a - b)
      expect(times).toEqual(times.map((_, i) => (times[0] ?? 0) + i * MINUTE))
    }
    await expectSound(nodes[0])
  })
})
