// Claims when something goes wrong around them: an answer is lost, a payload cannot be read, another was quicker.

import { expect, test } from 'vitest'
import { freshMemory, handleTo } from '../../src/conformance/shared-memory.ts'
import type { Claim } from '../../src/index.ts'
import { codeOf, expectSound } from '../support/engines.ts'
import { rowsBy } from '../support/row-reads.ts'
import { committing, moments, openOn, tells, typesOf } from './spoiled.ts'

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
        await moments(1500)
        return found
      },
    },
  })
  const queue = store.queue('q')
  await queue.offer(1)
  await queue.claim({ lease: 1000 })
  const events: { at: number; until: number }[] = []
  for await (const { at, data } of store.events({ types: ['work.claimed'] })) events.push({ at, until: (data as { until: number }).until })
  expect((events[0]?.until ?? 0) - (events[0]?.at ?? 0)).toBeGreaterThan(500)
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

test('a dead item has no holder: its former worker neither settles nor renews it', async () => {
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

test('an item that is completed during a cancel was not cancelled', async () => {
  const backend = freshMemory()
  let between: () => Promise<void> = async () => {}
  const store = await openOn({
    ...backend,
    rows: rowsBy(backend.rows, async (...given) => {
      const found = await backend.rows.get(...given)
      const act = between
      between = async () => {}
      await act()
      return found
    }),
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
