// Workers and claims when something goes wrong around them: the store refuses for a while, somebody closes in the middle, another was quicker.

import { expect, test } from 'vitest'
import { freshMemory, handleTo } from '../../src/conformance/shared-memory.ts'
import { type Claim, open, type Store, type StoreOptions } from '../../src/index.ts'
import type { Backend } from '../../src/ports/backend.ts'
import type { Commit, Outcome } from '../../src/ports/commit.ts'
import { codeOf, expectSound, later } from '../support/engines.ts'

async function openOn(backend: Backend, options: Partial<StoreOptions> = {}): Promise<Store> {
  const store = await open({ ...options, backend })
  later(() => store.close())
  return store
}

type CommitCall = Backend['commit']

const committing = (backend: Backend, around: (batch: readonly Commit[], go: CommitCall) => ReturnType<CommitCall>): Backend => ({
  ...backend,
  commit: (batch) => around(batch, (some) => backend.commit(some)),
})

const tells = (batch: readonly Commit[], ...types: readonly string[]): boolean =>
  batch.some(({ events }) => types.every((type) => events.some((event) => event.type === type)))

const refusing = (batch: readonly Commit[]): readonly Outcome[] =>
  batch.map(() => ({ ok: false, refused: 'failed', found: 'the disk is full', now: Date.now() }))

const typesOf = async (store: Store): Promise<readonly string[]> => {
  const types: string[] = []
  for await (const { type } of store.events()) types.push(type)
  return types
}

const moments = (ms = 50): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

test('what a handler has done is not told as failed because the store fails: it is completed as soon as that can be written', async () => {
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

test('what cannot be settled is let go, and comes to somebody else', async () => {
  const kept = freshMemory()
  const spoiled = await openOn(
    committing(handleTo(kept), async (batch, go) =>
      tells(batch, 'work.completed') || tells(batch, 'work.failed') ? refusing(batch) : go(batch),
    ),
  )
  const sound = await openOn(handleTo(kept))
  await using one = spoiled.queue('q').work(() => {}, { lease: 100 })
  await spoiled.queue('q').offer('done')
  await expect.poll(() => one.stats()).toMatchObject({ taken: 1, running: 1 })
  await using two = sound.queue('q').work(() => {}, { lease: 100 })
  await expect.poll(() => two.stats().completed, { timeout: 5000 }).toBe(1)
  await expect.poll(() => one.stats(), { timeout: 5000 }).toMatchObject({ lost: 1, completed: 0, running: 0 })
  await expectSound(sound)
})

test.each([
  ['not even begun', 0],
  ['not waited for', 5000],
])('what is claimed with the end of another while the worker closes is given back, %s', async (_, drain) => {
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
  await using short = store.queue('short').work(() => moments(500), { lease: 100 })
  await store.queue('short').offer(1)
  await expect.poll(() => short.stats().running).toBe(1)
  expect(await other.queue('short').claim({ wait: 300 })).toBeUndefined()
  await expect.poll(() => short.stats(), { timeout: 3000 }).toMatchObject({ completed: 1, lost: 0, taken: 1 })
  slow.resolve()
})

test('a claim that was settled is not lost, though a renewal was on its way', async () => {
  const gate = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  const backend = freshMemory()
  const store = await openOn({
    ...backend,
    leases: {
      ...backend.leases,
      renew: async (...given) => {
        asked.resolve()
        await gate.promise
        return backend.leases.renew(...given)
      },
    },
  })
  const queue = store.queue('q')
  await queue.offer(1)
  const claim = await queue.claim({ lease: 300, renew: true })
  await asked.promise
  await claim?.complete()
  gate.resolve()
  await moments()
  expect(claim?.signal.aborted).toBe(false)
})

test('a claim is held from when it is taken, however long ago it was looked for', async () => {
  const backend = freshMemory()
  const store = await openOn({
    ...backend,
    queries: {
      ...backend.queries,
      ready: async (...given) => {
        const found = await backend.queries.ready(...given)
        await moments(150)
        return found
      },
    },
  })
  const queue = store.queue('q')
  await queue.offer(1)
  await queue.claim({ lease: 100 })
  const events: { at: number; until: number }[] = []
  for await (const { at, data } of store.events({ types: ['work.claimed'] })) events.push({ at, until: (data as { until: number }).until })
  expect((events[0]?.until ?? 0) - (events[0]?.at ?? 0)).toBeGreaterThan(90)
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
  await expect.poll(() => worker.stats().completed, { timeout: 5000 }).toBe(5)
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

test('an item whose payload cannot be read just now is not dead for that', async () => {
  const backend = freshMemory()
  let broken = true
  const store = await openOn({
    ...backend,
    blobs: {
      ...backend.blobs,
      get: async (...given) => {
        if (broken) throw new Error('the connection broke')
        return backend.blobs.get(...given)
      },
    },
  })
  const queue = store.queue<string>('q')
  await queue.offer('x'.repeat(100_000), { attempts: 1 })
  await expect(queue.claim()).rejects.toThrow('the connection broke')
  expect((await queue.list()).items).toMatchObject([{ state: 'ready', attempt: 0 }])
  broken = false
  const claim = await queue.claim({ wait: '5s' })
  expect(claim?.payload.length).toBe(100_000)
  await claim?.complete()
  await expectSound(store)
})

test('an item whose payload is gone is set aside with the reason', async () => {
  const backend = freshMemory()
  const store = await openOn({ ...backend, blobs: { ...backend.blobs, get: async () => undefined } })
  const queue = store.queue<string>('q')
  await queue.offer('x'.repeat(100_000))
  expect(await codeOf(queue.claim())).toBe('BLOB_UNKNOWN')
  expect((await queue.list({ state: 'dead' })).items).toMatchObject([{ error: { code: 'BLOB_UNKNOWN' } }])
})

test('what was buried is nobody’s: whoever held it neither settles nor renews it', async () => {
  let now = 1_000_000
  const store = await openOn(
    freshMemory(() => now),
    { clock: { now: () => now } },
  )
  const queue = store.queue('q')
  const held: (Claim | undefined)[] = []
  for (const verb of ['complete', 'fail', 'release', 'renew'] as const) {
    await queue.offer(verb, { attempts: 1 })
    held.push(await queue.claim({ lease: '10s' }))
  }
  now += 11_000
  expect(await queue.tryClaim()).toEqual({ why: 'empty' })
  const { seq } = await store.head()
  const [complete, fail, release, renew] = held
  expect(await codeOf(Promise.resolve(complete?.complete()))).toBe('FENCE_LOST')
  expect(await codeOf(Promise.resolve(fail?.fail(new Error('late'))))).toBe('FENCE_LOST')
  expect(await codeOf(Promise.resolve(release?.release()))).toBe('FENCE_LOST')
  expect(await codeOf(Promise.resolve(renew?.renew()))).toBe('FENCE_LOST')
  expect((await store.head()).seq).toBe(seq)
  expect((await queue.list({ state: 'dead' })).items.length).toBe(4)
  await expectSound(store)
})

test('a failure that was written, and not answered, is not followed by a completion', async () => {
  let saved = 0
  const store = await openOn(
    committing(freshMemory(), async (batch, go) => {
      if (!tells(batch, 'work.failed')) return go(batch)
      if (saved++ === 0) await go(batch)
      throw new Error('the connection broke')
    }),
  )
  const queue = store.queue('q')
  await queue.offer(1, { backoff: '1h' })
  const claim = await queue.claim()
  expect(await codeOf(Promise.resolve(claim?.fail(new Error('no'))))).toBe('OUTCOME_UNKNOWN')
  expect(await codeOf(Promise.resolve(claim?.complete()))).toBe('FENCE_LOST')
  expect((await queue.list()).items).toMatchObject([{ state: 'ready', attempt: 1, error: { message: 'no' } }])
})

test('what is completed while somebody cancels it was not cancelled', async () => {
  const backend = freshMemory()
  let between: () => Promise<void> = async () => {}
  const store = await openOn({
    ...backend,
    rows: {
      ...backend.rows,
      get: async (...given) => {
        const found = await backend.rows.get(...given)
        const act = between
        between = async () => {}
        await act()
        return found
      },
    },
  })
  const queue = store.queue('q')
  const { id } = await queue.offer(1)
  const claim = await queue.claim()
  between = async () => claim?.complete()
  expect(await codeOf(queue.cancel(id))).toBe('WORK_UNKNOWN')
  expect(await typesOf(store)).toEqual(['work.offered', 'work.claimed', 'work.completed'])
})

test('two who redrive everything redrive each item once', async () => {
  const kept = freshMemory()
  const [one, two] = [await openOn(handleTo(kept)), await openOn(handleTo(kept))]
  for (let n = 0; n < 60; n++) {
    await one.queue('q').offer(n)
    await (await one.queue('q').claim())?.fail(new Error('no'), { final: true })
  }
  const driven = await Promise.all([one.queue('q').redrive(), two.queue('q').redrive()])
  expect(driven.flat().length).toBe(60)
  expect(await one.queue('q').stats()).toMatchObject({ ready: 60, dead: 0 })
  await expectSound(one)
})
