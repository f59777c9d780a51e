// The life cycle of a run, against a model of it: whatever is done to it and in whatever order, by two who do not know of each other, the store
// and the model say the same.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sqliteBackend } from '../../src/backends/sqlite/backend.ts'
import { freshMemory, handleTo } from '../../src/conformance/shared-memory.ts'
import { open } from '../../src/index.ts'
import type { Backend } from '../../src/ports/backend.ts'
import { expectSound, tempFile } from '../support/engines.ts'
import { rounds } from '../support/rounds.ts'
import * as its from './life-commands.ts'
import { Model, type Who } from './life-model.ts'
import { unfenced } from './unfenced.ts'

const who = fc.constantFrom<Who>('ada', 'bob')
const n = fc.integer({ min: 1, max: 99 })
const within = fc.constantFrom(undefined, 1000, 40_000)

const often = <T>(times: number, one: T): readonly T[] => Array.from({ length: times }, () => one)

/** Endings are rare, so that there is something to end, and time passes past a lease often enough for it to change hands. */
const commands = [
  ...often(8, who.map(its.open)),
  ...often(6, fc.tuple(who, n, fc.boolean())).map((given) => given.map(([by, m, fails]) => its.asks(by, { kind: 'effect', n: m, fails }))),
  ...often(3, fc.tuple(who, fc.constantFrom(0, 1000, 40_000))).map((given) =>
    given.map(([by, ms]) => its.asks(by, { kind: 'sleep', n: 0, within: ms })),
  ),
  ...often(3, fc.tuple(who, within)).map((given) => given.map(([by, ms]) => its.asks(by, { kind: 'signal', n: 0, within: ms }))),
  ...often(3, fc.tuple(who, n, within)).map((given) => given.map(([by, m, ms]) => its.asks(by, { kind: 'ask', n: m, within: ms }))),
  ...often(3, who).map((given) => given.map((by) => its.asks(by, { kind: 'unknown', n: 0 }))),
  ...often(3, who.map(its.closes)),
  ...often(3, fc.tuple(who, n)).map((given) => given.map(([by, m]) => its.signals(by, m))),
  ...often(3, fc.tuple(who, n)).map((given) => given.map(([by, m]) => its.decides(by, m))),
  ...often(3, fc.tuple(who, n)).map((given) => given.map(([by, m]) => its.resolves(by, m))),
  ...often(8, fc.constantFrom(1, 1000, 31_000, 31_000).map(its.passes)),
  ...often(2, who.map(its.forks)),
  who.map(its.start),
  who.map(its.cancels),
  fc.tuple(who, fc.constantFrom('finish', 'fail', 'cancel')).map(([by, how]) => its.ends(by, how as 'finish')),
]

type MakeBackends = (now: () => number) => Promise<readonly [Backend, Backend]>

const inMemory: MakeBackends = async (now) => {
  const kept = freshMemory(now)
  return [handleTo(kept), handleTo(kept)]
}

const inFile: MakeBackends = async (now) => {
  const path = tempFile()
  return [await sqliteBackend({ path, now, durability: 'normal' }), await sqliteBackend({ path, now, durability: 'normal' })]
}

async function walk(make: MakeBackends, steps: Iterable<fc.AsyncCommand<Model, its.Real>>): Promise<void> {
  let moved = 0
  const now = () => 1_000_000_000 + moved
  const [one, two] = await make(now)
  const real: its.Real = {
    stores: { ada: await open({ backend: one, clock: { now } }), bob: await open({ backend: two, clock: { now } }) },
    runs: {},
    pending: {},
    pass: async (ms) => {
      moved += ms
    },
    calls: 0,
  }
  const model = new Model()
  try {
    await fc.asyncModelRun(() => ({ model, real }), steps)
    expect(real.calls).toBe(model.script.filter(({ kind }) => kind === 'effect').length)
    await expectSound(real.stores.ada)
  } finally {
    await real.stores.ada.close()
    await real.stores.bob.close()
  }
}

const property = (make: MakeBackends, size: number) =>
  fc.asyncProperty(fc.commands(commands, { maxCommands: size, size: 'max' }), (steps) => walk(make, steps))

test('a run in memory follows the model through any commands', async () => {
  await fc.assert(property(inMemory, 40), { numRuns: rounds(60, 3000) })
})

test('a run in a file follows the model through any commands', async () => {
  await fc.assert(property(inFile, 25), { numRuns: rounds(4, 100) })
})

test('the model finds out a store without fences', async () => {
  const spoiled: MakeBackends = async (now) => {
    const [one, two] = await inMemory(now)
    return [unfenced(one), unfenced(two)]
  }
  const { failed } = await fc.check(property(spoiled, 40), { numRuns: 200, seed: CONTROL_SEED, endOnFailure: true })
  expect(failed).toBe(true)
})

const CONTROL_SEED = 4711
