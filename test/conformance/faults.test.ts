// The lane over backends that lose replies, hang, fail and repeat: every append ends with exactly one event, a definite error or
// OUTCOME_UNKNOWN, and nothing is there twice.

import { describe, expect, test } from 'vitest'
import { faults } from '../../src/conformance/index.ts'
import { keyOf, MAIN, maker, put } from '../../src/conformance/material.ts'
import { readAll } from '../../src/conformance/picture.ts'
import { nodeEnvironment } from '../../src/environment.ts'
import { Lane } from '../../src/kernel/writing/lane.ts'
import { hex } from '../../src/model/bytes.ts'
import { eventDigest, GENESIS, linkHash } from '../../src/model/chain.ts'
import { InkError } from '../../src/model/errors.ts'
import type { Backend } from '../../src/ports/backend.ts'
import type { Commit, Outcome } from '../../src/ports/commit.ts'
import { sabotages } from './sabotage/index.ts'
import { type Engine, engines } from './support.ts'

const { failAfter, failBefore, hang, repeat } = faults
const { sha256 } = nodeEnvironment.digest

const TIMEOUT_MS = 30
const WAVES = 6
const AT_ONCE = 5

type Answer = { readonly commit: Commit } & ({ readonly outcome: Outcome } | { readonly error: unknown })

/**
 * The lane's clock. It stands still while a backend works on a call, so that only faults make the lane time out, however busy the machine is.
 * Timers run in real time; the watchdog looks at the clock when its timer fires, and waits on.
 */
const patience = { atWork: 0, since: 0, stoodStill: 0 }

const monotonic = (): number => (patience.atWork > 0 ? patience.since : performance.now()) - patience.stoodStill

const environment = { ...nodeEnvironment, clock: { ...nodeEnvironment.clock, monotonic } }

async function whileTimeStands<T>(work: () => Promise<T>): Promise<T> {
  if (patience.atWork++ === 0) patience.since = performance.now()
  try {
    return await work()
  } finally {
    if (--patience.atWork === 0) patience.stoodStill += performance.now() - patience.since
  }
}

/** Waves of appends through one lane; a lane gathers what is sent at once. */
async function appendAll(backend: Backend, next: (i: number) => Commit): Promise<readonly Answer[]> {
  const lane = new Lane(backend, environment, { timeoutMs: TIMEOUT_MS })
  const answers: Answer[] = []
  for (let wave = 0; wave < WAVES; wave++) {
    const commits = Array.from({ length: AT_ONCE }, (_, i) => next(wave * AT_ONCE + i))
    const settled = await Promise.allSettled(commits.map((commit) => lane.submit(commit)))
    settled.forEach((result, i) => {
      const commit = commits[i] as Commit
      answers.push(result.status === 'fulfilled' ? { commit, outcome: result.value } : { commit, error: result.reason })
    })
  }
  return answers
}

/** What is not as promised, in words. */
async function broken(backend: Backend, answers: readonly Answer[]): Promise<readonly string[]> {
  const wrong: string[] = []
  const events = await readAll(backend.journal, MAIN)
  let previous = GENESIS
  for (const e of events) {
    previous = linkHash(sha256, previous, e.seq, eventDigest(sha256, MAIN, e, e.digest))
    if (hex(previous) !== hex(e.hash)) wrong.push(`the chain breaks at ${e.seq}`)
  }
  answers.forEach((answer, i) => {
    const id = answer.commit.events[0]?.id
    const places = events.filter((e) => e.id === id).map((e) => e.seq)
    if (places.length > 1) wrong.push(`append ${i} is there at ${places.join(' and ')}`)
    if ('outcome' in answer) {
      const { outcome } = answer
      if (!outcome.ok && places.length > 0) wrong.push(`append ${i} was refused and is at ${places.join()}`)
      if (outcome.ok && outcome.receipts[0]?.id !== id && !outcome.repeated) wrong.push(`append ${i} has the receipt of another`)
      if (outcome.ok && outcome.receipts[0]?.id === id && outcome.receipts[0]?.seq !== places[0])
        wrong.push(`append ${i} has a receipt for ${outcome.receipts[0]?.seq} and is at ${places.join() || 'no place'}`)
      return
    }
    const { error } = answer
    if (!(error instanceof InkError)) wrong.push(`append ${i} failed with ${String(error)}`)
    else if (error.kind !== 'unknown' && places.length > 0) wrong.push(`append ${i} failed with ${error.code} and is at ${places.join()}`)
  })
  return wrong
}

const told = (answers: readonly Answer[]): Readonly<Record<string, number>> => {
  const count: Record<string, number> = {}
  for (const answer of answers) {
    const what =
      'error' in answer ? (answer.error as InkError).code : !answer.outcome.ok ? 'refused' : answer.outcome.repeated ? 'repeated' : 'saved'
    count[what] = (count[what] ?? 0) + 1
  }
  return count
}

/** Delivers the first batch once the second sending is answered, so that it arrives late on any machine. */
function firstLate(backend: Backend): { readonly backend: Backend; readonly arrived: Promise<unknown> } {
  const again = Promise.withResolvers<void>()
  const arrived = Promise.withResolvers<unknown>()
  let calls = 0
  const commit: Backend['commit'] = async (batch) => {
    const call = ++calls
    if (call === 1) await again.promise
    const outcomes = backend.commit(batch)
    if (call === 1) outcomes.then(arrived.resolve, arrived.reject)
    if (call === 2) outcomes.then(() => again.resolve(), again.reject)
    return outcomes
  }
  return { backend: { ...backend, commit }, arrived: arrived.promise }
}

const ALL = WAVES * AT_ONCE
const first = (call: number) => call === 1
const always = () => true
const third = (call: number) => call % 3 === 1
const often = (call: number) => (call * 7919) % 5 < 2

// Most of the time is spent waiting for answers that do not come, so it is spent on several at once; PGlite is one for all of them.
const alone = ({ name }: Engine) => name === 'pglite'
describe.concurrent.each(engines.filter((engine) => !alone(engine)))('over $name', appendsEndAsPromised)
describe.each(engines.filter(alone))('over $name', appendsEndAsPromised)

function appendsEndAsPromised({ open }: Engine): void {
  /** Closed by whoever leaves the scope. */
  const sound = async (): Promise<Backend & AsyncDisposable> => {
    const { backend, dispose } = await open()
    return {
      ...backend,
      commit: (batch) => whileTimeStands(() => backend.commit(batch)),
      journal: { ...backend.journal, head: (tenant) => whileTimeStands(() => backend.journal.head(tenant)) },
      [Symbol.asyncDispose]: async () => {
        await backend.close()
        await dispose?.()
      },
    }
  }

  const plain = () => {
    const make = maker(3)
    return () => make.commit(MAIN)
  }
  // Each takes a name that is free: a commit that met its own first sending there would be refused.
  const guarded = () => {
    const make = maker(4)
    return (i: number) =>
      make.commit(MAIN, { guards: [{ kind: 'row', table: 'names', id: `n${i}`, revision: 0 }], changes: [put('names', `n${i}`)] })
  }
  const keyed = () => {
    const make = maker(5)
    return (i: number) => make.commit(MAIN, { key: keyOf(MAIN, `k${i}`) })
  }
  const kinds = { plain, guarded, keyed }

  describe.each(Object.entries(kinds))('%s appends', (_, next) => {
    test.each([
      ['fail before saving', (b: Backend) => failBefore(b, first)],
      ['are saved and their reply is lost', (b: Backend) => failAfter(b, first)],
      ['meet a failure every third call', (b: Backend) => failBefore(b, third)],
      ['lose every third reply', (b: Backend) => failAfter(b, third)],
      ['hang without being saved', (b: Backend) => hang(b, first)],
      ['hang after being saved', (b: Backend) => hang(b, first, { saved: true })],
    ])('appends that %s end with one event each', async (_, fault) => {
      await using backend = await sound()
      const answers = await appendAll(fault(backend), next())
      expect(await broken(backend, answers)).toEqual([])
      expect(told(answers)).toEqual({ saved: ALL })
      expect((await backend.journal.head(MAIN)).seq).toBe(ALL)
    })

    test.each([
      ['always fail before saving', 0, (b: Backend) => failBefore(b, always)],
      ['never get a reply', ALL, (b: Backend) => failAfter(b, always)],
    ])('appends that %s are told that nobody knows', async (_, there, fault) => {
      await using backend = await sound()
      const answers = await appendAll(fault(backend), next())
      expect(await broken(backend, answers)).toEqual([])
      expect(told(answers)).toEqual({ OUTCOME_UNKNOWN: ALL })
      expect((await backend.journal.head(MAIN)).seq).toBeLessThanOrEqual(there)
    })

    test('appends that meet every fault by turns are there once or not at all', async () => {
      await using backend = await sound()
      const faulty = failAfter(
        failBefore(
          hang(
            hang(backend, (call) => call % 11 === 3),
            (call) => call % 13 === 5,
            { saved: true },
          ),
          often,
        ),
        third,
      )
      const answers = await appendAll(faulty, next())
      expect(await broken(backend, answers)).toEqual([])
      const { saved = 0, OUTCOME_UNKNOWN = 0 } = told(answers)
      expect(saved + OUTCOME_UNKNOWN).toBe(ALL)
      expect(saved).toBeGreaterThan(0)
    })

    test('appends that were lost and whose second sending is delivered twice are there once', async () => {
      await using backend = await sound()
      const answers = await appendAll(
        failAfter(
          repeat(backend, (call) => call === 2),
          first,
        ),
        next(),
      )
      expect(await broken(backend, answers)).toEqual([])
      expect(told(answers)).toEqual({ saved: ALL })
    })
  })

  // Told apart by the head every sending carries.
  describe.each([
    ['keyed', keyed],
    ['guarded', guarded],
    ['plain', plain],
  ] as const)('%s appends', (_, next) => {
    test('appends that are delivered twice are there once', async () => {
      await using backend = await sound()
      const answers = await appendAll(repeat(backend, always), next())
      expect(await broken(backend, answers)).toEqual([])
      expect(told(answers)).toEqual({ saved: ALL })
    })

    test('appends that arrive after they were given up and sent again are there once', async () => {
      await using backend = await sound()
      const faulty = firstLate(backend)
      const answers = await appendAll(faulty.backend, next())
      await faulty.arrived
      expect(await broken(backend, answers)).toEqual([])
      expect(told(answers)).toEqual({ saved: ALL })
    })
  })

  test('a key settles what nobody knew: sent again it is written once', async () => {
    await using backend = await sound()
    const lost = await appendAll(failAfter(failBefore(backend, third), always), keyed())
    expect(told(lost)).toEqual({ OUTCOME_UNKNOWN: ALL })
    const make = maker(6)
    const again = await appendAll(backend, (i) => make.commit(MAIN, { key: keyOf(MAIN, `k${i}`) }))
    expect(await broken(backend, [...lost, ...again])).toEqual([])
    const { saved = 0, repeated = 0 } = told(again)
    expect(saved + repeated).toBe(ALL)
    expect((await backend.journal.head(MAIN)).seq).toBe(ALL)
  })

  test('a definite error is the answer, and nothing of the batch is there', async () => {
    await using backend = await sound()
    const closed: Backend = { ...backend, commit: () => Promise.reject(new InkError('STORE_CLOSED')) }
    const answers = await appendAll(closed, plain())
    expect(told(answers)).toEqual({ STORE_CLOSED: ALL })
    expect(await broken(backend, answers)).toEqual([])
  })

  // The controls: take away what finds a lost commit again, and the same faults must be seen to do harm.
  test('a backend that does not look for earlier sendings is caught writing twice', async () => {
    await using backend = await sound()
    const forgetful = await sabotages.find(({ name }) => name === 'ignores since')?.open(async () => ({ backend }))()
    const answers = await appendAll(failAfter(forgetful?.backend ?? backend, third), plain())
    expect(await broken(backend, answers)).toContainEqual(expect.stringMatching(/^append \d+ is there at \d+ and \d+$/))
  })

  test('a backend that claims to have written is caught', async () => {
    await using backend = await sound()
    const liar: Backend = {
      ...backend,
      commit: async (batch) =>
        batch.map((c) => ({
          ok: true,
          receipts: c.events.map((e) => ({ id: e.id, seq: 1, hash: '', tenant: c.tenant })),
          repeated: false,
          now: 0,
        })),
    }
    expect(await broken(backend, await appendAll(liar, plain()))).toHaveLength(ALL)
  })

  test('a backend that saves and says that it did not is caught', async () => {
    await using backend = await sound()
    const liar: Backend = {
      ...backend,
      commit: async (batch) => {
        await backend.commit(batch)
        throw new InkError('DISK_FULL')
      },
    }
    expect(await broken(backend, await appendAll(liar, plain()))).toHaveLength(ALL)
  })
}
