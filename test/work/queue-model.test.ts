// The queue against a model of it: whatever is offered, claimed, settled, lost, cancelled and redriven, in whatever order, by two who do not know of
// each other, the store and the model say the same; and the journal, read without either, tells of nothing lost and nothing done twice.

import fc from 'fast-check'
import { Client } from 'pg'
import { describe, expect, test } from 'vitest'
import { sqliteBackend } from '../../src/backends/sqlite/backend.ts'
import { freshMemory, handleTo } from '../../src/conformance/shared-memory.ts'
import { open, type Store } from '../../src/index.ts'
import type { ReadyWork } from '../../src/model/queries.ts'
import type { StoredRow } from '../../src/model/rows.ts'
import type { Backend } from '../../src/ports/backend.ts'
import { unfenced } from '../runs/unfenced.ts'
import { later, lentDatabase, openIn, tempFile } from '../support/engines.ts'
import { rounds, SEED } from '../support/rounds.ts'
import { audit } from './queue-audit.ts'
import * as its from './queue-commands.ts'
import { Model, type Who } from './queue-model.ts'

const { MINUTE } = its

const who = fc.constantFrom<Who>('ada', 'bob')
const nth = fc.nat(99)
const minutes = (...some: readonly number[]) => fc.constantFrom(...some.map((n) => n * MINUTE))

const offer = fc.record({
  key: fc.constantFrom(undefined, undefined, undefined, 'k1', 'k2', 'k3'),
  payload: fc.constantFrom(1, 1, 1, 2),
  delayMs: minutes(0, 0, 0, 1, 3),
  priority: fc.constantFrom(0, 0, 0, 1, -1),
  group: fc.constantFrom(undefined, undefined, 'g', 'h'),
  attempts: fc.integer({ min: 1, max: 3 }),
  backoffMs: minutes(0, 0, 2),
})

const often = <T>(times: number, one: T): readonly T[] => Array.from({ length: times }, () => one)

const commands = [
  ...often(
    8,
    fc.tuple(who, offer).map(([by, given]) => its.offers(by, given)),
  ),
  ...often(
    10,
    fc.tuple(who, minutes(1, 2, 5)).map(([by, ms]) => its.claims(by, ms)),
  ),
  ...often(3, nth.map(its.completes)),
  ...often(5, fc.tuple(nth, fc.integer({ min: 0, max: 4 }), fc.option(minutes(0, 3), { nil: undefined }))).map((given) =>
    given.map(([n, odds, ms]) => its.fails(n, odds === 0, ms)),
  ),
  ...often(2, fc.tuple(nth, minutes(0, 2))).map((given) => given.map(([n, ms]) => its.releases(n, ms))),
  ...often(3, fc.tuple(nth, fc.option(minutes(1, 10), { nil: undefined }))).map((given) => given.map(([n, ms]) => its.renews(n, ms))),
  ...often(5, minutes(1, 1, 2, 6).map(its.passes)),
  fc.tuple(who, nth).map(([by, n]) => its.cancels(by, n)),
  ...often(2, fc.tuple(who, nth)).map((given) => given.map(([by, n]) => its.redrives(by, n))),
  who.map(its.redrivesAll),
]

/** A store with two handles. Every walk has a tenant of its own in it. */
interface Place {
  readonly ada: Store
  readonly bob: Store
  /** How far its clock may have gone on by itself. */
  readonly slackMs: number
  now(): Promise<number>
  pass(ms: number): Promise<void>
}

type Around = (backend: Backend) => Backend

async function placeOf(make: (now: () => number) => Promise<readonly [Backend, Backend]>): Promise<Place> {
  let moved = 0
  const now = () => 1_000_000_000 + moved
  const [one, two] = await make(now)
  const [ada, bob] = [await open({ backend: one, clock: { now } }), await open({ backend: two, clock: { now } })]
  later(() => Promise.all([ada.close(), bob.close()]))
  return {
    ada,
    bob,
    // From looking to taking it goes on by our own steady clock.
    slackMs: 1000,
    now: async () => now(),
    pass: async (ms) => {
      moved += ms
    },
  }
}

const inMemory = (around: Around = (backend) => backend) =>
  placeOf(async (now) => {
    const kept = freshMemory(now)
    return [around(handleTo(kept)), around(handleTo(kept))]
  })

const inFile = () =>
  placeOf(async (now) => {
    const path = tempFile()
    return [await sqliteBackend({ path, now, durability: 'normal' }), await sqliteBackend({ path, now, durability: 'normal' })]
  })

async function inDatabase(): Promise<Place> {
  const url = await lentDatabase()
  const owner = new Client(url)
  await owner.connect()
  later(() => owner.end())
  const [ada, bob] = [await openIn(url), await openIn(url)]
  return {
    ada,
    bob,
    // A walk takes less than that, and everything in it is counted in minutes.
    slackMs: MINUTE / 2,
    now: async () => Number((await owner.query('select inkfast.now_v1() as now')).rows[0]?.now),
    pass: async (ms) => void (await owner.query('update inkfast.clock set offset_ms = offset_ms + $1', [ms])),
  }
}

const MOVES = ['claimed', 'taken over', 'released', 'failed', 'died', 'completed', 'cancelled', 'redriven', 'refused']
const happened = new Map<string, number>()
let walks = 0

async function walk(place: Place, steps: Iterable<fc.AsyncCommand<Model, its.Real>>): Promise<void> {
  const tenant = `walk-${++walks}`
  const real: its.Real = {
    stores: { ada: place.ada.tenant(tenant), bob: place.bob.tenant(tenant) },
    claims: new Map(),
    now: place.now,
    pass: place.pass,
  }
  const model = new Model(place.slackMs)
  await fc.asyncModelRun(() => ({ model, real }), steps)
  await its.workOff(model, real)
  const { ada } = real.stores
  const { complaints, completed, cancelled, offered, left, moves } = await audit(ada)
  for (const [move, times] of [...moves, ['refused', model.refusals] as const]) happened.set(move, (happened.get(move) ?? 0) + times)
  expect(complaints).toEqual([])
  expect([...completed.keys()].sort()).toEqual([...model.done].sort())
  // Nothing is lost: what was offered was done, was cancelled, or lies there dead.
  const accounted = [...completed.keys(), ...cancelled, ...left.keys()]
  expect(new Set(accounted)).toEqual(offered)
  expect([...left.values()].filter((state) => state !== 'dead')).toEqual([])
  expect(await ada.verify()).toMatchObject({ intact: true })
  expect(await ada.rebuild({ check: true })).toMatchObject({ equal: true, differences: [] })
}

const property = (place: Place, size: number) =>
  fc.asyncProperty(fc.noBias(fc.commands(commands, { maxCommands: size, size: 'max' })), (steps) => walk(place, steps))

const CONTROL_SEED = 4711

describe('whatever is done to a queue, it is as it should be', () => {
  test.each([
    ['in memory', inMemory, 60, rounds(60, 600)],
    ['in a file', inFile, 60, rounds(15, 120)],
    ['in PostgreSQL', inDatabase, 60, rounds(6, 40)],
  ] as const)('a queue %s is what the model says, whatever is done to it', async (_, make, size, numRuns) => {
    happened.clear()
    await fc.assert(property(await make(), size), { numRuns, seed: SEED + 4710 })
    // The control: all of it did happen.
    for (const move of MOVES) expect(`${move} ${(happened.get(move) ?? 0) >= rounds(1, 3)}`).toBe(`${move} true`)
  })
})

/** A backend whose answer to what can be claimed is changed. */
const finding =
  (change: (found: ReadyWork, all: readonly StoredRow[]) => readonly StoredRow[]): Around =>
  (backend) => ({
    ...backend,
    queries: {
      ...backend.queries,
      ready: async (tenant, queue, limit) => {
        const found = await backend.queries.ready(tenant, queue, limit)
        const { rows } = await backend.rows.list(tenant, 'work', { index: 'byReady', equals: [queue, 'ready'], limit: 100 })
        return { ...found, rows: change(found, rows) }
      },
    },
  })

const isDue = ({ body }: StoredRow, now: number): boolean => (JSON.parse(body) as { at: number }).at <= now

describe('the model finds out a store', () => {
  test.each<readonly [string, Around]>([
    ['without fences', unfenced],
    ['that takes them in another order', finding(({ rows }) => rows.toReversed())],
    ['that loses the last one', finding(({ rows }) => rows.slice(0, -1))],
    ['that knows no groups', finding(({ now }, all) => all.filter((row) => isDue(row, now)))],
  ])('the model finds out a store %s', async (_, around) => {
    const { failed } = await fc.check(property(await inMemory(around), 50), { numRuns: 60, seed: CONTROL_SEED, endOnFailure: true })
    expect(failed).toBe(true)
  })
})
