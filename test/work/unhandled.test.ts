// A name that nobody handles is said after five seconds: by the store, by its health, and once in the log.

import { describe, expect, test } from 'vitest'
import { memoryBackend } from '../../src/backends/memory/backend.ts'
import { nodeEnvironment } from '../../src/environment.ts'
import { open, type Store } from '../../src/index.ts'
import { createStore } from '../../src/kernel/store.ts'
import { limits } from '../../src/model/limits.ts'
import { engines, expectSound, type InTime, layouts } from '../support/engines.ts'

const names = async (store: Store): Promise<readonly string[]> => (await store.unhandled()).map(({ kind, name }) => `${kind} ${name}`)

/** One of each kind, with names that nobody handles. */
async function offerAll(store: Store): Promise<void> {
  await store.start('refund', { session: 's' })
  await store.queue('mail').offer({ to: 'ada' })
  await store.processes.register('crawl/1', { kind: 'crawl', recovery: 'rerunnable' })
}

describe.each(engines)('names that nobody handles on $name', (engine) => {
  let inTime: InTime
  const begin = async (): Promise<Store> => {
    inTime = await engine.openInTime()
    return inTime.store
  }

  test('runs, items and processes that waited 5 s are told, and none before', async () => {
    const store = await begin()
    const from = await inTime.now()
    await offerAll(store)
    await inTime.pass(3000)
    expect(await names(store)).toEqual([])
    expect((await store.health()).status).toBe('ok')
    await inTime.pass(2000)
    expect(await names(store)).toEqual(['item mail', 'process crawl', 'run refund'])
    for (const { since } of await store.unhandled()) expect(since - from).toBeLessThan(3000)
    const { status, ready, why } = await store.health()
    expect([status, ready]).toEqual(['degraded', true])
    expect(why.join()).toContain("nobody handles runs named 'refund'")
    await expectSound(store)
  })

  test('a name that a live worker handles is not told, whichever kind it is', async () => {
    const store = await begin()
    await offerAll(store)
    await offerAll(store)
    const idle = () => new Promise(() => {})
    const [one, drain] = [1, 0]
    await using _ = store.work({ refund: idle }, { concurrency: one, drain })
    await using __ = store.queue('mail').work(idle, { concurrency: one, drain })
    await using ___ = store.processes.work({ crawl: idle }, { concurrency: one, drain })
    await inTime.pass(6000)
    expect(await names(store)).toEqual([])
  })

  test('a name is told 5 s after its last worker was closed', async () => {
    const store = await begin()
    const node = store.work({ other: async () => {}, refund: async () => {} })
    await node.close()
    await store.start('refund', { session: 's' })
    // Written by now, because closing ends what was begun.
    await inTime.pass(6000)
    expect(await names(store)).toEqual(['run refund'])
  })

  test('a run that waits for a time, a delayed item and a dead item wait for nobody', async () => {
    const store = await begin()
    await using node = store.work({ nap: async (run) => run.sleep('1h') })
    const run = await store.start('nap', { session: 's' })
    await expect.poll(async () => (await store.runs.get(run.id))?.state, { timeout: 20_000 }).toBe('waiting')
    await expect.poll(() => node.stats().parked, { timeout: 20_000 }).toBe(1)
    await node.close()
    await store.queue('later').offer({}, { delay: '1h' })
    const dead = await store.queue('dead').offer({}, { attempts: 1 })
    await (await store.queue('dead').claim())?.fail('no')
    expect((await store.queue('dead').get(dead.id))?.state).toBe('dead')
    await inTime.pass(6000)
    expect(await names(store)).toEqual([])
    await inTime.pass(3_600_000)
    expect(await names(store)).toEqual(['item later', 'run nap'])
  })

  test('a run that was woken waits from then on', async () => {
    const store = await begin()
    await using node = store.work({ ask: async (run) => run.signal('go') })
    const run = await store.start('ask', { session: 's' })
    await expect.poll(() => node.stats().parked, { timeout: 20_000 }).toBe(1)
    await node.close()
    await inTime.pass(60_000)
    await store.signal('s', 'go', {})
    expect(await names(store)).toEqual([])
    // The event of the wake has the time of a node, and there the test moves only the time of the database.
    if (engine.name === 'postgres') return
    await inTime.pass(6000)
    expect(await names(store)).toEqual(['run ask'])
    expect((await store.runs.get(run.id))?.state).toBe('waiting')
  })

  test('items of a queue that a program claims by hand are not told while it holds a claim', async () => {
    const store = await begin()
    const queue = store.queue('mail')
    await queue.offer(1)
    await queue.offer(2)
    const claim = await queue.claim({ lease: '1h' })
    await inTime.pass(6000)
    expect(await names(store)).toEqual([])
    await claim?.complete()
    expect(await names(store)).toEqual(['item mail'])
  })
})

describe.each(layouts)('names that nobody handles, by tenant, on $name', (engine) => {
  test('a worker of every tenant is seen from each, and a worker of one tenant from that one', async () => {
    const { store, pass } = await engine.openInTime()
    const [acme, zeta] = [store.tenant('acme'), store.tenant('zeta')]
    const idle = () => new Promise(() => {})
    const node = store.work({ everywhere: idle }, { concurrency: 1, drain: 0 })
    await store.start('everywhere', { session: 's' })
    // Its only slot is taken, so that the other runs wait.
    await expect.poll(() => node.stats().running, { timeout: 20_000 }).toBe(1)
    for (const tenant of [acme, zeta]) {
      await tenant.start('everywhere', { session: 's' })
      await tenant.start('in acme', { session: 's' })
    }
    const own = acme.work({ 'in acme': idle }, { concurrency: 1, drain: 0 })
    await pass(6000)
    expect(await names(acme)).toEqual([])
    expect(await names(zeta)).toEqual(['run in acme'])
    expect(await names(store)).toEqual([])
    await node.close()
    await own.close()
    await pass(6000)
    expect(await names(zeta)).toEqual(['run everywhere', 'run in acme'])
  })
})

/** A store in memory whose clock and timers the test moves, and what it logs. */
async function storeInHand() {
  let now = 1_700_000_000_000
  const naps: { readonly at: number; readonly end: () => void }[] = []
  const lines: string[] = []
  const idly = (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      naps.push({ at: now + ms, end: resolve })
      signal?.addEventListener('abort', () => reject(new Error('aborted')), { once: true })
    })
  const environment = {
    ...nodeEnvironment,
    clock: { now: () => now, monotonic: () => now },
    timer: { ...nodeEnvironment.timer, idly: idly as typeof nodeEnvironment.timer.idly },
    logger: {
      ...nodeEnvironment.logger,
      warn: (message: string, details?: object) => void lines.push(`${message} ${JSON.stringify(details)}`),
    },
  }
  const backend = memoryBackend(environment)
  const keep = { ...backend, close: async () => {} }
  const pass = async (ms: number): Promise<void> => {
    now += ms
    for (const { at, end } of naps) if (at <= now) end()
    for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve))
  }
  const openOne = () => createStore(keep, environment, { schedule: false })
  return { backend, openOne, pass, lines }
}

test('a process that starts a run which nobody handles says so once, after 5 s', async () => {
  const { openOne, pass, lines } = await storeInHand()
  await using store = await openOne()
  await store.start('refund', { session: 's' })
  await pass(4000)
  expect(lines).toEqual([])
  await pass(2000)
  expect(lines).toEqual([expect.stringMatching(/^nobody handles runs named 'refund' .*"waiting":"6 s".*store\.work\(\{ 'refund': … \}\)/)])
  await store.start('refund', { session: 's' })
  await pass(6000)
  expect(lines).toHaveLength(1)
})

test('the control: a name that another process handles is not said', async () => {
  const { openOne, pass, lines } = await storeInHand()
  await using store = await openOne()
  await using other = await openOne()
  await using _ = other.work({ refund: () => new Promise(() => {}) }, { concurrency: 1, drain: 0 })
  await pass(0)
  await store.start('refund', { session: 's' })
  await store.start('refund', { session: 't' })
  await pass(6000)
  expect(lines).toEqual([])
})

test('a process that waits for the result of a run says so too', async () => {
  const { openOne, pass, lines } = await storeInHand()
  const starter = await openOne()
  const { id } = await starter.start('refund', { session: 's' })
  await starter.close()
  const waiter = await openOne()
  const waiting = (await waiter.runs.handle(id)).result().catch((error) => error.code)
  await pass(0)
  await pass(6000)
  expect(lines).toEqual([expect.stringContaining("nobody handles runs named 'refund'")])
  await waiter.close()
  expect(await waiting).toBe('STORE_CLOSED')
})

test('a process that works says so too, about what it does not handle', async () => {
  const { openOne, pass, lines } = await storeInHand()
  const starter = await openOne()
  await starter.start('refund', { session: 's' })
  await starter.close()
  await using worker = await openOne()
  await using _ = worker.work({ refnd: async () => {} })
  await pass(0)
  await pass(limits.workerRenewMs)
  expect(lines).toEqual([expect.stringContaining("nobody handles runs named 'refund'")])
  await pass(limits.workerRenewMs)
  expect(lines).toHaveLength(1)
})

test('a worker that no longer renews is dead after 15 s, and a name is told 5 s later', async () => {
  const { backend, openOne, pass } = await storeInHand()
  await using store = await openOne()
  await backend.workers.renew(undefined, [{ id: 'w', version: '1.0.0', queues: ['runs/refund'] }], limits.workerLiveMs, limits.workerKeptMs)
  await store.start('refund', { session: 's' })
  await pass(limits.workerLiveMs + limits.unhandledMs - 1)
  expect(await names(store)).toEqual([])
  await pass(1)
  expect(await names(store)).toEqual(['run refund'])
})

test('maintenance forgets workers that ended long ago', async () => {
  let now = 1_700_000_000_000
  const environment = { ...nodeEnvironment, clock: { ...nodeEnvironment.clock, now: () => now } }
  const backend = memoryBackend(environment)
  await using store = await open({ backend, clock: { now: () => now }, schedule: false, logger: false })
  await (await store.session('s')).append('a.b', 1)
  const listed = async () => (await backend.workers.list(store.tenantId)).workers.map(({ queues, version }) => [queues, version])
  await store.work({ refund: async () => {} }).close()
  const node = store.work({ refund: async () => {} })
  await expect.poll(listed).toEqual([[['runs/refund'], expect.stringMatching(/^\d+\.\d+\.\d+/)]])
  await node.close()
  now += limits.workerKeptMs + 1000
  await store.maintain()
  expect(await listed()).toEqual([])
})
