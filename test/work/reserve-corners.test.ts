// Claiming ahead and settling together where something is odd: a handler that settles late, a store that fails or says nothing, an item that is urgent,
// large, slow to read or at its last attempt. Each of these did harm once.

import { expect, test, vi } from 'vitest'
import { freshMemory } from '../../src/conformance/shared-memory.ts'
import { nodeEnvironment } from '../../src/environment.ts'
import type { Commit } from '../../src/ports/commit.ts'
import { expectSound, later } from '../support/engines.ts'
import { committing, fill, moments, openOn, refusingOnly, tells } from './spoiled.ts'

const GONE = { ready: 0, claimed: 0, dead: 0 }

const slowly = (ms: number) =>
  committing(freshMemory(), async (batch, go) => {
    await moments(ms)
    return go(batch)
  })

const claimsIn = (batch: readonly Commit[]): number =>
  batch.flatMap(({ events }) => events).filter(({ type }) => type === 'work.claimed').length

test.each([
  ['before it is written', 0],
  ['while it is written', 3],
])('a handler that settles its item %s, when nobody expects it any more, takes nothing from its neighbours', async (_, ms) => {
  const store = await openOn(slowly(2))
  await fill(store, 300)
  await using worker = store.queue<number>('q').work(
    (claim) => {
      if (claim.payload % 10 !== 0) return
      // Nobody waits for it.
      const late = () => void claim.complete().catch(() => {})
      if (ms === 0) setImmediate(late)
      else setTimeout(late, ms)
    },
    { concurrency: 4, unwritten: 100, lease: 300 },
  )
  await expect.poll(() => store.queue('q').stats()).toMatchObject(GONE)
  expect(worker.stats().taken).toBeGreaterThanOrEqual(300)
  await expectSound(store)
})

test('a worker that was closed on a full queue does nothing more', async () => {
  const soon = vi.spyOn(nodeEnvironment.timer, 'soon')
  later(() => soon.mockRestore())
  const store = await openOn(freshMemory())
  await fill(store, 2000)
  const worker = store.queue('q').work(() => {}, { concurrency: 4, unwritten: 100 })
  await expect.poll(() => worker.stats().completed, { interval: 1 }).toBeGreaterThan(300)
  // The control: a worker that works is seen.
  expect(soon).toHaveBeenCalled()
  await worker.close()
  const { commits } = store.stats()
  const callsWithin = async (ms: number) => {
    soon.mockClear()
    await moments(ms)
    return soon.mock.calls.length
  }
  await expect.poll(() => callsWithin(40)).toBe(0)
  expect(store.stats().commits).toBe(commits)
})

test('items that cannot be completed keep no others waiting, though they are tried for two leases', async () => {
  const store = await openOn(refusingOnly(freshMemory(), (commit) => commit.tenant === 'bad' && tells([commit], 'work.completed')))
  const worker = store.queue<number>('q').work(() => {}, { tenants: 'all', concurrency: 8, drain: 0, lease: '30s' })
  // In a commit each.
  for (const n of [1, 2]) {
    await store.tenant('bad').queue('q').offer(n)
    await expect.poll(() => worker.stats().running).toBe(n)
    await moments(20)
  }
  for (let n = 0; n < 20; n++) {
    await store.tenant('good').queue('q').offer(n)
    await expect.poll(() => worker.stats().completed).toBe(n + 1)
  }
  await worker.close()
})

test('an item at its last attempt is claimed only when its handler begins: it would be dead with the process', async () => {
  const store = await openOn(freshMemory())
  await fill(store, 200, { attempts: 1 })
  let most = 0
  await using worker = store.queue<number>('q').work(
    () => {
      most = Math.max(most, worker.stats().reserved)
    },
    { concurrency: 2, unwritten: 100 },
  )
  await expect.poll(() => worker.stats().completed).toBe(200)
  // Those that have a place wait a moment for their turn.
  expect(most).toBeLessThan(2)
})

test('an urgent item of a trigger is claimed before plain items', async () => {
  const store = await openOn(slowly(1))
  await store.triggers.on('alarm', { source: 'sensor', queue: 'q', priority: 50 })
  await fill(store, 3000)
  let left: number | undefined
  await using worker = store.queue('q').work(
    ({ origin }) => {
      if (origin) left = 3000 - worker.stats().completed
    },
    { concurrency: 4 },
  )
  await expect.poll(() => worker.stats().completed, { interval: 1 }).toBeGreaterThan(200)
  await store.triggers.fire('sensor', { smoke: true }, { key: '1' })
  await expect.poll(() => left).toBeDefined()
  expect(left).toBeGreaterThan(0)
})

test('a released item keeps its place', async () => {
  const store = await openOn(freshMemory())
  await fill(store, 500)
  const seen: number[] = []
  await using worker = store.queue<number>('q').work(
    async ({ payload }) => {
      seen.push(payload)
      if (payload === 150) await moments(700)
    },
    { concurrency: 1, unwritten: 100 },
  )
  await expect.poll(() => worker.stats().completed).toBe(500)
  expect(seen).toEqual(Array.from({ length: 500 }, (_, n) => n))
})

test('an item whose content comes late keeps nobody waiting that was claimed with it', async () => {
  const backend = freshMemory()
  const gate = Promise.withResolvers<void>()
  const store = await openOn({
    ...backend,
    blobs: {
      ...backend.blobs,
      get: async (...asked) => {
        await gate.promise
        return backend.blobs.get(...asked)
      },
    },
  })
  const queue = store.queue<number | string>('q')
  for (let n = 0; n < 20; n++) await queue.offer(n)
  await queue.offer('x'.repeat(50_000))
  for (let n = 0; n < 20; n++) await queue.offer(n)
  await using worker = queue.work(() => {}, { concurrency: 4, unwritten: 100 })
  await expect.poll(() => worker.stats().completed).toBe(40)
  expect(await queue.stats()).toMatchObject({ claimed: 1, ready: 0 })
  gate.resolve()
  await expect.poll(() => worker.stats().completed).toBe(41)
})

test('items claimed by a commit with an unknown outcome are found and worked on once', async () => {
  const backend = freshMemory()
  let silent = 0
  let armed = false
  const store = await openOn({
    ...backend,
    commit: async (batch) => {
      if (armed && claimsIn(batch) > 1) {
        armed = false
        silent = 3
        await backend.commit(batch)
      }
      if (silent > 0) {
        silent--
        throw new Error('the connection is lost')
      }
      return backend.commit(batch)
    },
  })
  await fill(store, 400, { attempts: 2 })
  const seen: number[] = []
  await using worker = store.queue<number>('q').work(
    ({ payload }) => {
      seen.push(payload)
      armed ||= payload === 100 && silent === 0
    },
    { concurrency: 4, unwritten: 100, lease: '30s' },
  )
  await expect.poll(() => worker.stats().completed).toBe(400)
  expect(armed).toBe(false)
  expect(seen.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 400 }, (_, n) => n))
  expect(await store.queue('q').stats()).toMatchObject(GONE)
  await expectSound(store)
})

test('large items are claimed few at a time', async () => {
  let most = 0
  const store = await openOn(
    committing(freshMemory(), async (batch, go) => {
      most = Math.max(most, ...batch.map((commit) => claimsIn([commit])))
      return go(batch)
    }),
  )
  const queue = store.queue<string>('q')
  for (let n = 0; n < 100; n++) await queue.offer('x'.repeat(20_000))
  await using worker = queue.work(() => {}, { concurrency: 50, unwritten: 200 })
  await expect.poll(() => worker.stats().completed).toBe(100)
  expect(most).toBeGreaterThan(1)
  expect(most).toBeLessThanOrEqual(13)
})
