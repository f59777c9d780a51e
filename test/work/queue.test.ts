// The queue as its users hold it: keys, delays, priorities, groups, attempts, dead letters, and claims that only their holder settles.

import { describe, expect, test } from 'vitest'
import { codeOf, expectSound, layouts } from '../support/engines.ts'

const MINUTE = 60_000

interface Mail {
  readonly to: string
}

describe.each(layouts)('a queue on $name', (engine) => {
  test('an item is claimed, completed and gone', async () => {
    const store = await engine.open()
    const outbox = store.queue<Mail>('outbox')
    const item = await outbox.offer({ to: 'ada' })
    expect(item).toMatchObject({ queue: 'outbox', state: 'ready', attempt: 0, repeated: false })
    await using claim = await outbox.claim({ lease: '30s' })
    expect(claim).toMatchObject({ id: item.id, payload: { to: 'ada' }, attempt: 1, queue: 'outbox', tenant: 'main' })
    expect(claim?.fence).toBeGreaterThan(0)
    expect(await outbox.claim()).toBeUndefined()
    await claim?.complete()
    expect(await outbox.get(item.id)).toBeUndefined()
    expect(await outbox.stats()).toMatchObject({ ready: 0, claimed: 0, dead: 0 })
    await expectSound(store)
  })

  test('the same key is the same item, also when it is done, and another payload with it is refused', async () => {
    const store = await engine.open()
    const outbox = store.queue<Mail>('outbox')
    const first = await outbox.offer({ to: 'ada' }, { key: 'welcome/ada' })
    const again = await outbox.offer({ to: 'ada' }, { key: 'welcome/ada' })
    expect(again).toMatchObject({ id: first.id, repeated: true, state: 'ready' })
    expect(await codeOf(outbox.offer({ to: 'bob' }, { key: 'welcome/ada' }))).toBe('KEY_REUSED')
    expect((await store.queue<Mail>('other').offer({ to: 'bob' }, { key: 'welcome/ada' })).repeated).toBe(false)
    await (await outbox.claim())?.complete()
    expect(await outbox.offer({ to: 'ada' }, { key: 'welcome/ada' })).toMatchObject({ id: first.id, repeated: true, state: 'done' })
    expect(await codeOf(outbox.offer({ to: 'bob' }, { key: 'welcome/ada' }))).toBe('KEY_REUSED')
    expect(await outbox.claim()).toBeUndefined()
    await expectSound(store)
  })

  test('a delayed item is not due before its time, and an empty claim says why', async () => {
    const { store, pass } = await engine.openInTime()
    const outbox = store.queue<Mail>('outbox')
    expect(await outbox.tryClaim()).toEqual({ why: 'empty' })
    await outbox.offer({ to: 'ada' }, { delay: '5m' })
    expect(await outbox.tryClaim()).toMatchObject({ why: 'notDue' })
    expect(await outbox.stats()).toMatchObject({ ready: 0, delayed: 1 })
    await pass(301_000)
    const claim = await outbox.claim()
    expect(claim?.payload).toEqual({ to: 'ada' })
    expect(await outbox.tryClaim()).toEqual({ why: 'blocked' })
    await claim?.complete()
    await expectSound(store)
  })

  test('the more urgent comes first, and among equals the earlier', async () => {
    const store = await engine.open()
    const outbox = store.queue<string>('outbox')
    for (const [name, priority] of [
      ['a', 0],
      ['b', 5],
      ['c', 0],
      ['d', 5],
      ['e', -1],
    ] as const)
      await outbox.offer(name, { priority })
    const order: string[] = []
    for (let claim = await outbox.claim(); claim; claim = await outbox.claim()) {
      order.push(claim.payload)
      await claim.complete()
    }
    expect(order).toEqual(['b', 'd', 'a', 'c', 'e'])
  })

  test('items of a group come in order, one at a time, and hold up nobody else', async () => {
    const store = await engine.open()
    const outbox = store.queue<string>('outbox')
    for (const name of ['a1', 'a2', 'b1']) await outbox.offer(name, { group: name.charAt(0), attempts: 2, backoff: 0 })
    const a1 = await outbox.claim()
    const b1 = await outbox.claim()
    expect([a1?.payload, b1?.payload]).toEqual(['a1', 'b1'])
    expect(await outbox.tryClaim()).toEqual({ why: 'blocked' })
    // What failed is tried again before anything behind it.
    await a1?.fail(new Error('no'))
    const again = await outbox.claim()
    expect(again).toMatchObject({ payload: 'a1', attempt: 2 })
    expect(await again?.fail(new Error('no again'))).toBe('dead')
    const a2 = await outbox.claim()
    expect(a2?.payload).toBe('a2')
    // Redriven, it stands at the end of its group.
    const [redriven] = await outbox.redrive()
    expect(redriven).toMatchObject({ id: a1?.id, state: 'ready', attempt: 0 })
    expect(await outbox.tryClaim()).toEqual({ why: 'blocked' })
    await a2?.complete()
    expect((await outbox.claim())?.payload).toBe('a1')
    await b1?.complete()
    await expectSound(store)
  })

  test('a failed item rests longer each time, runs out of attempts, and is kept with the reason', async () => {
    const { store, pass } = await engine.openInTime()
    const outbox = store.queue<Mail>('outbox')
    const item = await outbox.offer({ to: 'ada' }, { attempts: 3, backoff: '2m' })
    for (const rest of [2 * MINUTE, 4 * MINUTE]) {
      expect(await (await outbox.claim())?.fail(new TypeError('bounced'))).toBe('ready')
      await pass(rest - MINUTE)
      expect(await outbox.tryClaim()).toMatchObject({ why: 'notDue' })
      await pass(MINUTE + 1000)
    }
    const last = await outbox.claim()
    expect(last?.attempt).toBe(3)
    expect(await last?.fail(new TypeError('bounced'))).toBe('dead')
    expect(await outbox.tryClaim()).toEqual({ why: 'empty' })
    expect((await outbox.list({ state: 'dead' })).items).toMatchObject([
      { id: item.id, attempt: 3, error: { name: 'TypeError', message: 'bounced' } },
    ])
    expect(await codeOf(store.queue('other').redrive(item.id))).toBe('WORK_UNKNOWN')
    expect(await outbox.redrive(item.id)).toMatchObject([{ id: item.id, attempt: 0 }])
    expect(await codeOf(outbox.redrive(item.id))).toBe('WORK_NOT_DEAD')
    await (await outbox.claim())?.complete()
    await expectSound(store)
  })

  test('dead items are redriven so many at a time, in their order', async () => {
    const store = await engine.open()
    const outbox = store.queue<number>('outbox')
    for (const n of [1, 2, 3]) await outbox.offer(n, { attempts: 1 })
    for (const _ of [1, 2, 3]) await (await outbox.claim())?.fail(new Error('no'))
    const dead = (await outbox.list({ state: 'dead' })).items.map(({ id }) => id)
    for (const most of [0, -1, 1.5, Number.NaN, '2']) expect(await codeOf(outbox.redrive({ most: most as number }))).toBe('OPTION_INVALID')
    expect(await codeOf(outbox.redrive({ limit: 2 } as object))).toBe('OPTION_INVALID')
    expect((await outbox.list({ state: 'dead' })).items).toHaveLength(3)
    expect((await outbox.redrive({ most: 2 })).map(({ id }) => id)).toEqual(dead.slice(0, 2))
    expect((await outbox.redrive({ most: 2 })).map(({ id }) => id)).toEqual(dead.slice(2))
    expect(await outbox.redrive({ most: 2 })).toEqual([])
    await expectSound(store)
  })

  test('a final failure is not tried again', async () => {
    const store = await engine.open()
    const outbox = store.queue<Mail>('outbox')
    await outbox.offer({ to: 'ada' }, { attempts: 3 })
    expect(await (await outbox.claim())?.fail(new Error('never'), { final: true })).toBe('dead')
  })

  test('a claim that ran out is somebody else’s: its old holder settles nothing', async () => {
    const { store, pass } = await engine.openInTime()
    const outbox = store.queue<Mail>('outbox')
    await outbox.offer({ to: 'ada' })
    const old = await outbox.claim({ lease: '30m' })
    await pass(29 * MINUTE)
    expect(await outbox.claim()).toBeUndefined()
    await old?.renew()
    await pass(29 * MINUTE)
    expect(await outbox.claim()).toBeUndefined()
    await pass(2 * MINUTE)
    const fresh = await outbox.claim()
    expect(fresh).toMatchObject({ id: old?.id, attempt: 2 })
    expect(fresh?.fence).toBeGreaterThan(old?.fence ?? Infinity)
    const { seq } = await store.head()
    expect(await codeOf(Promise.resolve(old?.complete()))).toBe('FENCE_LOST')
    expect(await codeOf(Promise.resolve(old?.complete()))).toBe('FENCE_LOST')
    expect(old?.signal.aborted).toBe(true)
    expect((await store.head()).seq).toBe(seq)
    await fresh?.complete()
    await expectSound(store)
  })

  test('a poison item that kills its workers runs out of attempts', async () => {
    const { store, pass } = await engine.openInTime()
    const outbox = store.queue<Mail>('outbox')
    await outbox.offer({ to: 'ada' }, { attempts: 2 })
    for (const attempt of [1, 2]) {
      expect(await outbox.claim({ lease: '10s' })).toMatchObject({ attempt })
      await pass(11_000)
    }
    expect(await outbox.claim()).toBeUndefined()
    expect((await outbox.list({ state: 'dead' })).items).toMatchObject([{ attempt: 2, error: { name: 'Poisoned' } }])
    await expectSound(store)
  })

  test('leaving the scope of a claim gives the item back', async () => {
    const store = await engine.open()
    const outbox = store.queue<Mail>('outbox')
    await outbox.offer({ to: 'ada' })
    {
      await using claim = await outbox.claim()
      expect(claim?.attempt).toBe(1)
    }
    expect((await outbox.claim())?.attempt).toBe(2)
  })

  test('a cancelled item is gone, and its claim holder has lost it', async () => {
    const store = await engine.open()
    const outbox = store.queue<Mail>('outbox')
    const item = await outbox.offer({ to: 'ada' })
    const claim = await outbox.claim()
    await outbox.cancel(item.id, { reason: 'not needed' })
    expect(await codeOf(Promise.resolve(claim?.complete()))).toBe('FENCE_LOST')
    expect(await codeOf(outbox.cancel(item.id))).toBe('WORK_UNKNOWN')
    await expectSound(store)
  })

  test('bad input about queues is refused and writes nothing', async () => {
    const store = await engine.open()
    const outbox = store.queue('outbox')
    const { seq } = await store.head()
    const codes = [
      () => store.queue(''),
      () => store.queue('runs/answer'),
      () => store.queue('clock/cron'),
      () => outbox.offer(1, { delay: '-5m' as '5m' }),
      () => outbox.offer(1, { delay: -1 }),
      () => outbox.offer(1, { attempts: 0 }),
      () => outbox.offer(1, { priority: 0.5 }),
      () => outbox.offer(1, { priority: 101 }),
      () => outbox.offer(1, { group: '' }),
      () => outbox.offer(1, { backoff: { first: '1s', factor: 0 } }),
      () => outbox.offer(Number.NaN),
      () => outbox.claim({ lease: 0 }),
      () => outbox.cancel('nonsense'),
    ]
    const found: (string | undefined)[] = []
    for (const ask of codes) found.push(await codeOf((async () => ask())()))
    expect(found).toEqual([
      'RUN_NAME_INVALID',
      'QUEUE_NAME_INVALID',
      'QUEUE_NAME_INVALID',
      'DURATION_INVALID',
      'DURATION_INVALID',
      'OPTION_INVALID',
      'OPTION_INVALID',
      'OPTION_INVALID',
      'RUN_NAME_INVALID',
      'OPTION_INVALID',
      'DATA_INVALID',
      'OPTION_INVALID',
      'ID_INVALID',
    ])
    expect((await store.head()).seq).toBe(seq)
  })

  test('a worker completes what succeeds, tries again what fails, and gives back what it leaves', async () => {
    const store = await engine.open()
    const outbox = store.queue<number>('outbox')
    for (let i = 0; i < 40; i++) await outbox.offer(i, { attempts: 2, backoff: 0 })
    const seen: string[] = []
    const stuck = Promise.withResolvers<void>()
    {
      await using worker = outbox.work(
        async (claim) => {
          seen.push(`${claim.payload}/${claim.attempt}`)
          if (claim.payload === 7 && claim.attempt === 1) throw new Error('once')
          if (claim.payload === 8) throw new Error('always')
          if (claim.payload === 39) await stuck.promise
        },
        { concurrency: 4, drain: 0 },
      )
      await expect.poll(() => worker.stats()).toMatchObject({ completed: 38, failed: 2, died: 1, running: 1 })
    }
    expect(new Set(seen).size).toBe(seen.length)
    expect(seen).toContain('7/2')
    expect((await outbox.claim())?.payload).toBe(39)
    stuck.resolve()
    expect(await outbox.stats()).toMatchObject({ ready: 0, dead: 1, claimed: 1 })
    await expectSound(store)
  })

  test('a worker of all tenants works for all of them, and one behind a wall for its own alone', async () => {
    const store = await engine.open()
    const [acme, blue] = [store.tenant('acme'), store.tenant('blue')]
    for (const tenant of [acme, blue]) await tenant.queue<string>('outbox').offer(tenant.tenantId)
    expect(await codeOf((async () => acme.queue('outbox').work(() => {}, { tenants: 'all' }))())).toBe('TENANT_WALL')
    const seen: string[] = []
    await using worker = store
      .queue<string>('outbox')
      .work((claim) => void seen.push(`${claim.tenant}:${claim.payload}`), { tenants: 'all' })
    await expect.poll(() => worker.stats().completed).toBe(2)
    expect(seen.sort()).toEqual(['acme:acme', 'blue:blue'])
  })
})
