// Workers when something goes wrong around them: the store refuses for a while, somebody closes in the middle, a lease is short.

import { expect, test } from 'vitest'
import { freshMemory, handleTo } from '../../src/conformance/shared-memory.ts'
import { expectSound } from '../support/engines.ts'
import { committing, moments, openOn, refusing, tells, typesOf } from './spoiled.ts'

test('a finished item is not failed because the store fails: it is completed as soon as that can be written', async () => {
  let left = 3
  const store = await openOn(
    committing(freshMemory(), async (batch, go) => (tells(batch, 'work.completed') && left-- > 0 ? refusing(batch) : go(batch))),
  )
  const queue = store.queue<number>('q')
  const done: number[] = []
  for (const n of [1, 2, 3]) await queue.offer(n, { attempts: 1 })
  await using worker = queue.work(({ payload }) => void done.push(payload), { concurrency: 1 })
  await expect.poll(() => worker.stats()).toMatchObject({ completed: 3, failed: 0, died: 0, lost: 0, running: 0 })
  expect(done).toEqual([1, 2, 3])
  expect((await typesOf(store)).filter((type) => type === 'work.completed' || type === 'work.failed' || type === 'work.died')).toEqual(
    Array.from({ length: 3 }, () => 'work.completed'),
  )
  await expectSound(store)
})

test('an item that cannot be settled is let go, and comes to another worker', async () => {
  const kept = freshMemory()
  const spoiled = await openOn(
    committing(handleTo(kept), async (batch, go) =>
      tells(batch, 'work.completed') || tells(batch, 'work.failed') ? refusing(batch) : go(batch),
    ),
  )
  const sound = await openOn(handleTo(kept))
  await using one = spoiled.queue('q').work(() => {}, { lease: 100 })
  await spoiled.queue('q').offer('done')
  await expect.poll(() => one.stats().taken).toBeGreaterThan(0)
  await using two = sound.queue('q').work(() => {}, { lease: 100 })
  await expect.poll(() => two.stats().completed).toBe(1)
  await expect.poll(() => one.stats()).toMatchObject({ completed: 0, running: 0 })
  expect(one.stats().lost).toBeGreaterThan(0)
  await expectSound(sound)
})

test.each([
  ['not even begun', 0],
  ['not waited for', 5000],
])('an item claimed with the end of another while the worker closes is given back, %s', async (_, drain) => {
  const arrived = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const store = await openOn(
    committing(freshMemory(), async (batch, go) => {
      if (!tells(batch, 'work.completed', 'work.claimed')) return go(batch)
      arrived.resolve()
      await gate.promise
      return go(batch)
    }),
  )
  const queue = store.queue<number>('q')
  for (const n of [1, 2]) await queue.offer(n)
  const begun: number[] = []
  const worker = queue.work(
    ({ payload }) => {
      begun.push(payload)
      if (payload === 2) throw new Error('at once')
    },
    { concurrency: 1, drain },
  )
  await arrived.promise
  const closed = worker.close()
  await moments()
  gate.resolve()
  await closed
  expect(begun).toEqual([1])
  expect(worker.stats()).toMatchObject({ completed: 1, running: 0 })
  expect((await queue.list()).items).toMatchObject([{ state: 'ready', attempt: 0 }])
  await expectSound(store)
})

test('a short lease is kept beside a long one', async () => {
  const kept = freshMemory()
  const [store, other] = [await openOn(handleTo(kept)), await openOn(handleTo(kept))]
  const slow = Promise.withResolvers<void>()
  await using long = store.queue('long').work(() => slow.promise, { lease: '30s' })
  await store.queue('long').offer(1)
  await expect.poll(() => long.stats().running).toBe(1)
  await moments(20)
  await using short = store.queue('short').work(() => moments(2500), { lease: 1000 })
  await store.queue('short').offer(1)
  await expect.poll(() => short.stats().running).toBe(1)
  expect(await other.queue('short').claim({ wait: 2000 })).toBeUndefined()
  await expect.poll(() => short.stats()).toMatchObject({ completed: 1, lost: 0, taken: 1 })
  slow.resolve()
})

test('an item that cannot be claimed keeps nobody waiting', async () => {
  const spoiled = new Set<string>()
  const store = await openOn(
    committing(freshMemory(), async (batch, go) =>
      batch.some(({ events }) => events.some(({ type, subject }) => type === 'work.claimed' && spoiled.has(subject ?? '')))
        ? refusing(batch)
        : go(batch),
    ),
  )
  const queue = store.queue<number>('q')
  spoiled.add((await queue.offer(0, { priority: 9 })).id)
  for (const n of [1, 2, 3, 4]) await queue.offer(n)
  await using worker = queue.work(() => {}, { concurrency: 1 })
  await expect.poll(() => worker.stats().completed).toBe(4)
  spoiled.clear()
  await expect.poll(() => worker.stats().completed).toBe(5)
})

test('a tenant that cannot be read keeps no other waiting', async () => {
  const backend = freshMemory()
  const store = await openOn({
    ...backend,
    queries: {
      ...backend.queries,
      ready: async (tenant, ...given) => {
        if (tenant === 'acme') throw new Error('its file is damaged')
        return backend.queries.ready(tenant, ...given)
      },
    },
  })
  for (const tenant of ['acme', 'blue']) await store.tenant(tenant).queue('q').offer(tenant)
  await using worker = store.queue('q').work(() => {}, { tenants: 'all' })
  await expect.poll(() => worker.stats().completed).toBe(1)
})

test('a run node continues with other tenants when one cannot be read', async () => {
  const backend = freshMemory()
  let refusals = 0
  const store = await openOn({
    ...backend,
    rows: {
      ...backend.rows,
      list: async (tenant, table, query) => {
        if (tenant === 'acme' && table === 'work') {
          refusals++
          throw new Error('its file is damaged')
        }
        return backend.rows.list(tenant, table, query)
      },
    },
  })
  for (const tenant of ['acme', 'blue']) await store.tenant(tenant).start('r', { session: 's' })
  await using node = store.work({ r: () => {} })
  await expect.poll(() => node.stats().finished).toBe(1)
  expect(refusals).toBeGreaterThan(0)
})
