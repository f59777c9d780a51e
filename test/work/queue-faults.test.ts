// The store loses a sending, loses a reply, refuses, or stays silent, at each commit of a story in turn: offering, claiming, completing with the next
// claim, failing, redriving, a job that comes up. Whatever the program heard, each thing has one outcome in the journal.

import { describe, expect, test } from 'vitest'
import { faults } from '../../src/conformance/index.ts'
import { freshMemory, handleTo } from '../../src/conformance/shared-memory.ts'
import { FinalError, InkError, open, type Store } from '../../src/index.ts'
import type { Backend } from '../../src/ports/backend.ts'
import type { Commit, Outcome } from '../../src/ports/commit.ts'
import { makePlace } from '../runs/crashing-backend.ts'
import { later } from '../support/engines.ts'
import { share } from '../support/rounds.ts'
import { audit } from './queue-audit.ts'

const { failAfter, failBefore } = faults

type Around = (backend: Backend, at: number) => Backend

/** The lane sends a commit three times before it says that it does not know. */
const again = (at: number) => (call: number) => call === at + 1 || call === at + 2

const FAULTS: Readonly<Record<string, Around>> = {
  'a sending is lost': (backend, at) => failBefore(backend, (call) => call === at),
  'a reply is lost': (backend, at) => failAfter(backend, (call) => call === at),
  'it never arrives': (backend, at) => failBefore(backend, (call) => call === at || again(at)(call)),
  'it arrives and nobody knows': (backend, at) =>
    failBefore(
      failAfter(backend, (call) => call === at),
      again(at),
    ),
  'it is refused': (backend, at) => answering(backend, (call) => call === at, refusal),
}

const refusal = (): Outcome => ({ ok: false, refused: 'failed', found: 'the disk is full', now: Date.now() })

function answering(
  backend: Backend,
  when: (call: number, batch: readonly Commit[]) => boolean,
  answer: (commit: Commit) => Outcome,
): Backend {
  let call = 0
  return { ...backend, commit: async (batch) => (when(++call, batch) ? batch.map(answer) : backend.commit(batch)) }
}

function counting(backend: Backend): { readonly backend: Backend; readonly calls: () => number } {
  let calls = 0
  const counted: Backend = {
    ...backend,
    commit: (batch) => {
      calls++
      return backend.commit(batch)
    },
  }
  return { backend: counted, calls: () => calls }
}

/** As a program does that wants it done: again, as long as it may not have been. */
async function insist<T>(ask: () => Promise<T>, ...settled: readonly string[]): Promise<T | undefined> {
  for (let tries = 1; ; tries++) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof InkError) || tries === 10) throw error
      if (settled.includes(error.code)) return undefined
      if (!['unknown', 'unavailable'].includes(error.kind)) throw error
    }
  }
}

const NAMES = ['a', 'b', 'c', 'd']
// Long enough for a busy machine, short enough to wait for where a claim was written and nobody knows.
const LEASE_MS = 400

/** `world` looks on, and hears everything right. */
async function story(store: Store, world: Store): Promise<ReadonlyMap<string, number>> {
  const calls = new Map<string, number>()
  const queue = store.queue<string>('q')
  for (const name of NAMES) await insist(() => queue.offer(name, { key: name, attempts: 9, backoff: 0 }))
  const worker = queue.work(
    ({ payload }) => {
      const times = (calls.get(payload) ?? 0) + 1
      calls.set(payload, times)
      if (payload === 'a' && times === 1) throw new Error('once')
      if (payload === 'b' && times === 1) throw new FinalError('never')
    },
    { concurrency: 1, lease: LEASE_MS },
  )
  const isDrained = async () => {
    const { ready, delayed, claimed } = await world.queue('q').stats()
    return ready + delayed + claimed === 0
  }
  await expect.poll(isDrained, { interval: 5 }).toBe(true)
  for (const { id } of (await world.queue('q').list({ state: 'dead' })).items)
    await insist(() => queue.redrive(id), 'WORK_NOT_DEAD', 'WORK_UNKNOWN')
  const at = Date.now() - 1
  await insist(() => store.cron.set('once', { at, queue: 'q', payload: 'tick', attempts: 9 }))
  const isOver = async () => (await world.cron.occurrences('once')).items.some(({ state }) => state === 'done') && (await isDrained())
  await expect.poll(isOver, { interval: 5 }).toBe(true)
  await worker.close()
  return calls
}

/** What is not as it should be, in words. */
async function judge(world: Store, calls: ReadonlyMap<string, number>): Promise<readonly string[]> {
  const { complaints, completed, offered, left } = await audit(world)
  const wrong = [...complaints]
  if (offered.size !== NAMES.length + 1) wrong.push(`${offered.size} items were offered`)
  for (const id of offered) if (!completed.has(id)) wrong.push(`${id} is not done, and ${left.get(id) ?? 'gone'}`)
  for (const name of [...NAMES, 'tick']) if (!calls.has(name)) wrong.push(`nobody did ${name}`)
  const counts = new Map<string, number>()
  for await (const { type, data } of world.events()) {
    const { error, state } = (data ?? {}) as { error?: { message: string }; state?: string }
    const what = [type, state, error?.message].filter(Boolean).join(' ')
    counts.set(what, (counts.get(what) ?? 0) + 1)
    // An item fails because its handler did, and not because the store would not write that it succeeded.
    if (type === 'work.failed' && error?.message !== 'once') wrong.push(`it failed with ${error?.message}`)
    if (type === 'work.died' && error?.message !== 'never') wrong.push(`it died of ${error?.message}`)
  }
  for (const once of [
    'work.failed once',
    'work.died never',
    'work.redriven',
    'job.set',
    'job.fired',
    'occurrence.opened waiting',
    'occurrence.finished done',
  ])
    if ((counts.get(once) ?? 0) > 1) wrong.push(`${counts.get(once)} times: ${once}`)
  const report = await world.verify()
  if (!report.intact) wrong.push(`broken: ${report.reason}`)
  const { equal } = await world.rebuild({ check: true })
  if (!equal) wrong.push('the rows are not what the journal says')
  return wrong
}

/** A store that stories are told in, each in a tenant of its own, one after the other: a scheduler looks after all tenants it sees. */
interface Scene {
  readonly world: Store
  backend(): Promise<Backend>
}

async function sceneOf(engine: 'memory' | 'sqlite' | 'postgres'): Promise<Scene> {
  if (engine !== 'memory') return makePlace(engine)
  const kept = freshMemory()
  const world = await open({ backend: handleTo(kept) })
  later(() => world.close())
  return { world, backend: async () => handleTo(kept) }
}

let stories = 0

async function tell(
  { world, backend }: Scene,
  around: (backend: Backend) => Backend,
): Promise<{ wrong: readonly string[]; commits: number }> {
  const tenant = `t${++stories}`
  const counted = counting(around(await backend()))
  const store = await open({ backend: counted.backend })
  const calls = await story(store.tenant(tenant), world.tenant(tenant))
  await store.close()
  return { wrong: await judge(world.tenant(tenant), calls), commits: counted.calls() }
}

describe.each(['memory', 'sqlite', 'postgres'] as const)('on %s', (engine) => {
  test('a commit that fails, before it is saved or after, leaves one outcome', async () => {
    const clean = await tell(await sceneOf(engine), (backend) => backend)
    expect(clean.wrong).toEqual([])
    expect(clean.commits).toBeGreaterThan(12)
    const every = Array.from({ length: clean.commits }, (_, i) => Object.keys(FAULTS).map((fault) => ({ fault, at: i + 1 })))
    // Shares that do not divide the number of faults, so that each fault meets some commits.
    const courses = [...share(every.flat(), { memory: 5, sqlite: 13, postgres: 23 }[engine])]
    const wrong: string[] = []
    const lane = async () => {
      const scene = await sceneOf(engine)
      for (let course = courses.shift(); course; course = courses.shift()) {
        const { fault, at } = course
        const told = await tell(scene, (backend) => (FAULTS[fault] as Around)(backend, at))
        wrong.push(...told.wrong.map((why) => `${fault} at commit ${at}: ${why}`))
      }
    }
    await Promise.all(Array.from({ length: engine === 'memory' ? 10 : 6 }, lane))
    expect(wrong).toEqual([])
  })

  test('a reply that is lost would be found written twice where nothing guards what is sent again', async () => {
    const bare = (backend: Backend): Backend => ({
      ...backend,
      commit: (batch) => backend.commit(batch.map(({ since: _, ...commit }) => ({ ...commit, guards: [] }))),
    })
    const found: string[] = []
    const scene = await sceneOf(engine)
    for (const at of [8, 9, 10]) found.push(...(await tell(scene, (backend) => failAfter(bare(backend), (call) => call === at))).wrong)
    expect(found.join('; ')).toContain('work.')
  })
})
