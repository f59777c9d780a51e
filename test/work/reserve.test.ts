// What a worker claims beyond what it works on: only while its handlers are quick, and nobody waits for it.

import { describe, expect, test } from 'vitest'
import { freshMemory, handleTo } from '../../src/conformance/shared-memory.ts'
import type { QueueWorker, Store } from '../../src/index.ts'
import type { Commit } from '../../src/ports/commit.ts'
import { engines, expectSound } from '../support/engines.ts'
import { committing, fill, moments, openOn, refusingOnly, tells } from './spoiled.ts'

const MANY = 400

const inOrder = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n)

describe.each(engines)('a worker on $name', (engine) => {
  test('a worker with quick handlers claims ahead, and takes everything once and in order', async () => {
    const store = await engine.open()
    await fill(store, MANY)
    const seen: number[] = []
    let most = 0
    let worker: QueueWorker | undefined
    worker = store.queue<number>('q').work(
      ({ payload, attempt }) => {
        expect(attempt).toBe(1)
        seen.push(payload)
        most = Math.max(most, worker?.stats().reserved ?? 0)
      },
      { concurrency: 1, unwritten: 100 },
    )
    await expect.poll(() => worker?.stats().completed).toBe(MANY)
    await worker.close()
    expect(seen).toEqual(inOrder(MANY))
    expect(most).toBeGreaterThan(10)
    expect(worker.stats()).toMatchObject({ taken: MANY, completed: MANY, running: 0, reserved: 0, lost: 0 })
    expect(await store.queue('q').stats()).toMatchObject({ ready: 0, claimed: 0, dead: 0 })
    await expectSound(store)
  })

  test('a worker whose handler turns slow gives back what it had claimed ahead, and no attempt is counted', async () => {
    const store = await engine.open()
    await fill(store, MANY)
    const gate = Promise.withResolvers<void>()
    const worker = store.queue<number>('q').work(({ payload }) => (payload === 150 ? gate.promise : undefined), {
      concurrency: 1,
      unwritten: 100,
    })
    await expect.poll(() => worker.stats().reserved, { interval: 1 }).toBeGreaterThan(0)
    await expect.poll(() => worker.stats()).toMatchObject({ taken: 151, completed: 150, running: 1, reserved: 0 })
    const { items } = await store.queue('q').list({ state: 'ready', last: MANY })
    expect(items.length).toBe(MANY - 151)
    expect(items.every(({ attempt }) => attempt === 0)).toBe(true)
    gate.resolve()
    await expect.poll(() => worker.stats().completed).toBe(MANY)
    await worker.close()
    await expectSound(store)
  })

  test('a worker that is closed gives back what it had not begun', async () => {
    const store = await engine.open()
    await fill(store, MANY)
    const closing = Promise.withResolvers<void>()
    const worker = store.queue<number>('q').work(({ payload }) => void (payload === 150 && closing.resolve()), { concurrency: 1 })
    await closing.promise
    await worker.close()
    const { taken, completed, reserved } = worker.stats()
    expect(completed).toBe(taken)
    expect(reserved).toBe(0)
    const { items } = await store.queue('q').list({ last: MANY })
    expect(items.length).toBe(MANY - completed)
    expect(items.every(({ attempt, state }) => attempt === 0 && state === 'ready')).toBe(true)
    await expectSound(store)
  })
})

test.each([
  ['so many as it works on at a time', {}, 3],
  ['so many as it was allowed', { unwritten: 40 }, 40],
])('of what was worked on, and could not be written before the process died, there are at most %s', async (_, allowed, most) => {
  const silence = Promise.withResolvers<void>()
  let dead = false
  const store = await openOn(
    committing(freshMemory(), async (batch, go) => {
      dead ||= tells(batch, 'work.completed') && begun > 50
      if (dead) await silence.promise
      return go(batch)
    }),
  )
  let begun = 0
  await fill(store, MANY)
  const worker = store.queue('q').work(() => void begun++, { concurrency: 3, drain: 0, ...allowed })
  await expect.poll(() => dead).toBe(true)
  await moments(100)
  const again = begun - worker.stats().completed
  silence.resolve()
  expect(again).toBeGreaterThan(most === 3 ? 0 : 3)
  expect(again).toBeLessThanOrEqual(most)
})

test('a worker with slow handlers claims nothing ahead: it is there for others', async () => {
  const store = await openOn(freshMemory())
  await fill(store, 40)
  const found: number[] = []
  await using worker = store.queue('q').work(() => moments(50), { concurrency: 4 })
  for (let i = 0; i < 30; i++) {
    found.push((await store.queue('q').stats()).claimed)
    await moments(10)
  }
  expect(Math.max(...found)).toBeLessThanOrEqual(4)
  expect(worker.stats().reserved).toBe(0)
})

test('two workers that claim ahead from one queue take each item once', async () => {
  const kept = freshMemory()
  const stores = [await openOn(handleTo(kept)), await openOn(handleTo(kept)), await openOn(handleTo(kept))]
  await fill(stores[0] as Store, MANY)
  const seen: number[] = []
  const workers = stores.map((store) => store.queue<number>('q').work(({ payload }) => void seen.push(payload), { concurrency: 2 }))
  await expect.poll(() => workers.reduce((sum, worker) => sum + worker.stats().completed, 0)).toBe(MANY)
  for (const worker of workers) await worker.close()
  expect(seen.toSorted((a, b) => a - b)).toEqual(inOrder(MANY))
  await expectSound(stores[0] as Store)
})

test('an item in hand when a read began is not taken for ready when the answer comes late', async () => {
  // So that a claim is underway when somebody looks.
  const backend = committing(freshMemory(), async (batch, go) => {
    await moments(5)
    return go(batch)
  })
  const store = await openOn({
    ...backend,
    queries: {
      ...backend.queries,
      ready: async (...asked) => {
        const answer = await backend.queries.ready(...asked)
        await moments(40)
        return answer
      },
    },
  })
  await fill(store, 2000)
  const { refused } = store.stats()
  await using worker = store.queue('q').work(() => {}, { concurrency: 4 })
  await expect.poll(() => worker.stats().completed, { timeout: 300_000 }).toBe(2000)
  expect(store.stats().refused - refused).toBe(0)
})

test('settlements that cannot be written together are written one by one, and only the faulty one fails', async () => {
  let faulty = ''
  const isFaulty = ({ events }: Commit) => events.some(({ type, subject }) => type === 'work.completed' && subject === faulty)
  const store = await openOn(refusingOnly(freshMemory(), isFaulty))
  const queue = store.queue<number>('q')
  await fill(store, 100)
  faulty = (await queue.offer(100)).id
  await fill(store, 100)
  const worker = queue.work(() => {}, { concurrency: 2, lease: 200, drain: 0 })
  await expect.poll(() => worker.stats().completed).toBe(200)
  await worker.close()
  expect((await queue.list()).items).toMatchObject([{ id: faulty }])
  await expectSound(store)
})

test('a lease that is shorter than things wait in reserve loses none of them', async () => {
  // Time passes with the items and not by itself, so that no lease is over because the machine is busy.
  let passed = 0
  const clock = { now: () => 1_000_000 + passed, monotonic: () => passed }
  const kept = freshMemory(clock.now)
  const [store, other] = [await openOn(handleTo(kept), { clock }), await openOn(handleTo(kept), { clock })]
  await fill(store, MANY)
  const handle = async () => {
    await moments(1)
    passed++
  }
  const worker = store.queue('q').work(handle, { concurrency: 1, lease: 60 })
  await expect.poll(() => worker.stats().completed).toBeGreaterThan(50)
  await worker.close()
  const { completed, taken, lost } = worker.stats()
  expect({ taken, lost }).toEqual({ taken: completed, lost: 0 })
  expect(await other.queue('q').stats()).toMatchObject({ ready: MANY - completed, claimed: 0 })
})
