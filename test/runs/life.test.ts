// The life cycle of a run, against a model of it: whatever is done to it and in whatever order, by two who do not know of each other, the store
// and the model say the same.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sqliteBackend } from '../../src/backends/sqlite/backend.ts'
import { freshMemory, handleTo } from '../../src/conformance/shared-memory.ts'
import { open } from '../../src/index.ts'
import type { Backend } from '../../src/ports/backend.ts'
import { expectSound, tempFile } from '../support/engines.ts'
import { commands, type Real } from './life-commands.ts'
import { Model } from './life-model.ts'
import { unfenced } from './unfenced.ts'

type MakeBackends = (now: () => number) => Promise<readonly [Backend, Backend]>

const inMemory: MakeBackends = async (now) => {
  const kept = freshMemory(now)
  return [handleTo(kept), handleTo(kept)]
}

const inFile: MakeBackends = async (now) => {
  const path = tempFile()
  return [await sqliteBackend({ path, now, durability: 'normal' }), await sqliteBackend({ path, now, durability: 'normal' })]
}

async function walk(make: MakeBackends, steps: Iterable<fc.AsyncCommand<Model, Real>>): Promise<void> {
  let moved = 0
  const now = () => 1_000_000_000 + moved
  const [one, two] = await make(now)
  const real: Real = {
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

test('whatever is done to a run, in memory it is in the state that it should be in', async () => {
  await fc.assert(property(inMemory, 40), { numRuns: 400, seed: SEED })
})

test('and in a file', async () => {
  await fc.assert(property(inFile, 25), { numRuns: 25, seed: SEED })
})

test('the model finds out a store without fences', async () => {
  const spoiled: MakeBackends = async (now) => {
    const [one, two] = await inMemory(now)
    return [unfenced(one), unfenced(two)]
  }
  const { failed } = await fc.check(property(spoiled, 40), { numRuns: 200, seed: SEED, endOnFailure: true })
  expect(failed).toBe(true)
})

const SEED = 4711
