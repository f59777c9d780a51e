// Group commit, its bounds, and what happens when the store does not answer. The store is the real memory backend, with a door in front.

import { hash, randomBytes } from 'node:crypto'
import { expect, test, vi } from 'vitest'
import { memoryBackend } from '../../backends/memory/backend.ts'
import { nodeEnvironment } from '../../environment.ts'
import { eventDigest, payloadDigest } from '../../model/chain.ts'
import { refuse } from '../../model/errors.ts'
import { idMaker, MAIN } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import type { Backend } from '../../ports/backend.ts'
import type { Commit } from '../../ports/commit.ts'
import type { Environment } from '../../ports/environment.ts'
import { Histogram } from '../measuring/histogram.ts'
import { Lane, type LaneOptions } from './lane.ts'

const sha256 = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer')
const newId = idMaker(Date.now, randomBytes)

function commitOf(text: string, key?: string): Commit {
  const salt = randomBytes(16)
  const payload = JSON.stringify(text)
  const header = { id: newId<'event'>(), at: Date.now(), type: 'a.b', schema: 1, class: 0 as const, actor: '' }
  const digest = payloadDigest(sha256, salt, payload)
  const event = { ...header, payload, salt, digest, event: eventDigest(sha256, MAIN, header, digest) }
  return {
    tenant: MAIN,
    guards: [],
    events: [event],
    changes: [],
    ...(key && { key: { digest: sha256(Buffer.from(key)).slice(0, 16), body: payload } }),
  }
}

type Door = (batch: readonly Commit[], go: () => ReturnType<Backend['commit']>, call: number) => ReturnType<Backend['commit']>

function laneWith(door: Door, options: LaneOptions = {}, environment: Partial<Environment> = {}) {
  const real = memoryBackend(nodeEnvironment)
  let call = 0
  const batches: number[] = []
  const backend: Backend = {
    ...real,
    commit: (batch) => {
      batches.push(batch.length)
      return door(batch, () => real.commit(batch), ++call)
    },
  }
  const events = async () => (await real.journal.page(MAIN, { from: 0, limit: 10_000 })).events
  return { lane: new Lane(backend, { ...nodeEnvironment, ...environment }, options), batches, events }
}

const straight: Door = (_, go) => go()

test('a single commit leaves at once, those that come together leave together', async () => {
  const { lane, batches } = laneWith(straight)
  await lane.submit(commitOf('alone'))
  await Promise.all(Array.from({ length: 40 }, (_, i) => lane.submit(commitOf(String(i)))))
  expect(batches).toEqual([1, 40])
})

test('while one batch is at the disk the next one gathers', async () => {
  let open: () => void = () => {}
  const closed = new Promise<void>((resolve) => {
    open = resolve
  })
  const { lane, batches } = laneWith(async (_, go, call) => {
    if (call === 1) await closed
    return go()
  })
  const first = lane.submit(commitOf('first'))
  await new Promise((resolve) => setTimeout(resolve, 10))
  const others = Array.from({ length: 25 }, (_, i) => lane.submit(commitOf(String(i))))
  open()
  await Promise.all([first, ...others])
  expect(batches).toEqual([1, 25])
})

test('commits keep their order, and a batch is bounded by count and bytes', async () => {
  const { lane, batches, events } = laneWith(straight)
  const many = limits.batchCommits + 50
  await Promise.all(Array.from({ length: many }, (_, i) => lane.submit(commitOf(String(i)))))
  expect(batches).toEqual([limits.batchCommits, 50])
  const large = 'x'.repeat(limits.batchBytes * 0.6)
  await Promise.all([lane.submit(commitOf(large)), lane.submit(commitOf(large)), lane.submit(commitOf('end'))])
  expect(batches.slice(2)).toEqual([1, 2])
  const texts = (await events()).slice(0, many).map((e) => JSON.parse(Buffer.from(e.payload ?? []).toString()))
  expect(texts).toEqual(Array.from({ length: many }, (_, i) => String(i)))
})

test('past its bound the lane refuses at the door, and what it took it finishes', async () => {
  const { lane, events } = laneWith(straight, { commits: 10 })
  const results = await Promise.allSettled(Array.from({ length: 15 }, (_, i) => lane.submit(commitOf(String(i)))))
  expect(results.map((r) => (r.status === 'rejected' ? r.reason.code : 'ok'))).toEqual([
    ...Array(10).fill('ok'),
    ...Array(5).fill('OVERLOADED'),
  ])
  expect((await events()).length).toBe(10)
  expect(lane.stats()).toMatchObject({ overloaded: 5, waiting: { commits: 0, bytes: 0 } })
  const full = laneWith(straight, { commits: 1 })
  full.lane.checkDoor()
  const taken = full.lane.submit(commitOf('a'))
  expect(() => full.lane.checkDoor()).toThrow(expect.objectContaining({ code: 'OVERLOADED' }))
  await taken
  const heavy = laneWith(straight, { bytes: 5000 })
  const one = heavy.lane.submit(commitOf('x'.repeat(9000)))
  await expect(heavy.lane.submit(commitOf('y'))).rejects.toMatchObject({ code: 'OVERLOADED' })
  await one
})

test('a backend that knows nothing was saved is believed', async () => {
  const { lane, batches, events } = laneWith((_, go, call) => (call === 1 ? Promise.reject(refuse('DISK_FULL', { path: 'x' })) : go()))
  await expect(lane.submit(commitOf('a'))).rejects.toMatchObject({ code: 'DISK_FULL' })
  await lane.submit(commitOf('b'))
  expect(batches).toEqual([1, 1])
  expect((await events()).length).toBe(1)
})

test('a lost reply is found out: what was saved is not saved twice, what was not is saved now', async () => {
  for (const saved of [true, false]) {
    const { lane, events } = laneWith(async (_, go, call) => {
      if (call !== 1) return go()
      if (saved) await go()
      throw new Error('connection reset')
    })
    const outcomes = await Promise.all([lane.submit(commitOf('a')), lane.submit(commitOf('b', 'k'))])
    expect(outcomes).toMatchObject([
      { ok: true, repeated: false, receipts: [{ seq: 1 }] },
      { ok: true, repeated: false, receipts: [{ seq: 2 }] },
    ])
    expect((await events()).length).toBe(2)
    expect(lane.stats().resent).toBe(2)
  }
})

test('one commit the store chokes on does not take its neighbours with it', async () => {
  const { lane, events } = laneWith((batch, go) =>
    batch.some((c) => c.events[0]?.payload === '"poison"') ? Promise.reject(new Error('choked')) : go(),
  )
  const results = await Promise.allSettled(['a', 'poison', 'b'].map((text) => lane.submit(commitOf(text))))
  expect(results.map((r) => (r.status === 'rejected' ? r.reason.code : 'ok'))).toEqual(['ok', 'OUTCOME_UNKNOWN', 'ok'])
  expect((await events()).length).toBe(2)
})

test('an outcome that cannot be found out is called unknown, and says whether a key helps', async () => {
  const { lane } = laneWith(() => Promise.reject(new Error('gone')))
  const [plain, keyed] = await Promise.allSettled([lane.submit(commitOf('a')), lane.submit(commitOf('b', 'k'))])
  expect(plain).toMatchObject({ reason: { code: 'OUTCOME_UNKNOWN', kind: 'unknown', details: { key: false, ids: [expect.any(String)] } } })
  expect(keyed).toMatchObject({ reason: { details: { key: true }, message: expect.stringContaining('same key') } })
})

test('a store that dies for good is given up on instead of being asked for every commit', async () => {
  const { lane, batches } = laneWith(() => Promise.reject(new Error('gone')))
  await Promise.allSettled(Array.from({ length: 100 }, (_, i) => lane.submit(commitOf(String(i)))))
  expect(batches.length).toBe(5)
})

test('once an answer was lost, a refusal of the second sending is no answer to the first', async () => {
  const { lane } = laneWith((_, __, call) =>
    Promise.reject(call === 1 ? new Error('gone') : refuse('FILE_BUSY', { path: 'x', waitedMs: 1 })),
  )
  await expect(lane.submit(commitOf('a'))).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN', cause: { code: 'FILE_BUSY' } })
})

test('a store that does not answer is asked once more, then its outcomes are unknown', async () => {
  const hang = laneWith(() => new Promise(() => {}), { timeoutMs: 20 })
  await expect(hang.lane.submit(commitOf('a'))).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' })
  expect(hang.batches.length).toBe(2)
  const late = laneWith((_, go, call) => (call === 1 ? go().then(() => new Promise(() => {})) : go()), { timeoutMs: 20 })
  expect(await late.lane.submit(commitOf('a'))).toMatchObject({ ok: true, repeated: false })
  expect((await late.events()).length).toBe(1)
})

test('a store that cannot even say where it stands fails the commit and goes on', async () => {
  const real = memoryBackend(nodeEnvironment)
  let sick = true
  const backend: Backend = {
    ...real,
    journal: {
      ...real.journal,
      head: (tenant) => (sick ? Promise.reject(refuse('IO_FAILED', { path: 'x', reason: 'y' })) : real.journal.head(tenant)),
    },
  }
  const lane = new Lane(backend, nodeEnvironment)
  await expect(lane.submit(commitOf('a'))).rejects.toMatchObject({ code: 'IO_FAILED' })
  sick = false
  expect(await lane.submit(commitOf('a'))).toMatchObject({ ok: true })
})

test('the head is read before the first commit of a tenant, and never again, however long nothing was written', async () => {
  const real = memoryBackend(nodeEnvironment)
  let [time, looks] = [0, 0]
  const sinces: unknown[] = []
  const head: Backend['journal']['head'] = (tenant) => {
    looks++
    return real.journal.head(tenant)
  }
  const commit: Backend['commit'] = (batch) => {
    sinces.push(...batch.map(({ since }) => since))
    return real.commit(batch)
  }
  const environment = { ...nodeEnvironment, clock: { now: () => 1000, monotonic: () => time } }
  const lane = new Lane({ ...real, commit, journal: { ...real.journal, head } }, environment, { timeoutMs: 20 })
  await lane.submit(commitOf('first'))
  await real.commit([commitOf('of another node')])
  for (const name of ['second', 'third']) {
    time += 3_600_000
    expect(await lane.submit(commitOf(name))).toMatchObject({ ok: true })
  }
  expect(looks).toBe(1)
  expect(sinces).toEqual([0, 1, 3])
  const mute = new Lane({ ...real, journal: { ...real.journal, head: () => new Promise(() => {}) } }, nodeEnvironment, { timeoutMs: 20 })
  await expect(mute.submit(commitOf('never sent'))).rejects.toMatchObject({ code: 'BACKEND_FAILED' })
})

test('while the lane is held nothing leaves, and what waited leaves when it is let go', async () => {
  const { lane, batches } = laneWith(straight)
  const before = lane.submit(commitOf('before'))
  const release = await lane.hold()
  await before
  const waiting = [lane.submit(commitOf('a')), lane.submit(commitOf('b'))]
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(batches).toEqual([1])
  const closing = lane.close()
  release()
  await Promise.all([...waiting, closing])
  expect(batches).toEqual([1, 2])
  ;(await lane.hold())()
})

test('a clock that fails after the answer is logged, and the answer stands', async () => {
  const warn = vi.fn()
  const now = () => {
    throw new Error('no time')
  }
  const { lane } = laneWith(straight, {}, { clock: { now, monotonic: () => 0 }, logger: { ...nodeEnvironment.logger, warn } })
  expect(await lane.submit(commitOf('a'))).toMatchObject({ ok: true })
  expect(warn).toHaveBeenCalledWith('the clock could not be read', { error: 'no time' })
})

test('closing answers what was taken and takes no more', async () => {
  const { lane, events } = laneWith(straight)
  const taken = Array.from({ length: 20 }, (_, i) => lane.submit(commitOf(String(i))))
  const closing = lane.close()
  await expect(lane.submit(commitOf('late'))).rejects.toMatchObject({ code: 'STORE_CLOSED' })
  await closing
  await Promise.all(taken)
  expect((await events()).length).toBe(20)
  await lane.close()
})

test('a breach of the write budget is counted always and logged once a minute', async () => {
  let time = 0
  const info = vi.fn()
  const slow = laneWith(
    straight,
    {},
    { clock: { now: () => time, monotonic: () => (time += 30) }, logger: { ...nodeEnvironment.logger, info } },
  )
  for (let i = 0; i < 3; i++) await slow.lane.submit(commitOf(String(i)))
  expect(slow.lane.stats().budget).toMatchObject({ breaches: 3, sinceLastBreachMs: expect.any(Number) })
  expect(info).toHaveBeenCalledTimes(1)
  time += 70_000
  await slow.lane.submit(commitOf('later'))
  expect(info.mock.calls.filter(([m]) => m.includes('budget')).length).toBe(2)
})

test('percentiles are right to within a bucket', () => {
  const histogram = new Histogram()
  expect(histogram.read()).toEqual({ count: 0, p50: 0, p95: 0, p99: 0, max: 0 })
  for (let i = 1; i <= 1000; i++) histogram.add(i / 10)
  const { p50, p95, p99, max } = histogram.read()
  for (const [found, right] of [
    [p50, 50],
    [p95, 95],
    [p99, 99],
  ] as const) {
    expect(Math.abs(found / right - 1)).toBeLessThan(0.07)
  }
  expect(max).toBe(100)
  histogram.add(0)
  histogram.add(1e12)
  expect(histogram.read().max).toBe(1e12)
})
