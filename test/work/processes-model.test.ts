// The life cycle of a process, against a model of it: whatever is done to it and in whatever order, by two who do not know of each other, the
// store and the model say the same.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sqliteBackend } from '../../src/backends/sqlite/backend.ts'
import { freshMemory, handleTo } from '../../src/conformance/shared-memory.ts'
import { open } from '../../src/index.ts'
import type { Backend } from '../../src/ports/backend.ts'
import { unfenced } from '../runs/unfenced.ts'
import { expectSound, tempFile } from '../support/engines.ts'
import { rounds } from '../support/rounds.ts'
import { type Command, commands, START } from './process-commands.ts'
import { Model, type Who } from './process-model.ts'

type MakeBackends = (now: () => number) => Promise<readonly [Backend, Backend]>

const inMemory: MakeBackends = async (now) => {
  const kept = freshMemory(now)
  return [handleTo(kept), handleTo(kept)]
}
const inFile: MakeBackends = async (now) => {
  const path = tempFile()
  return [await sqliteBackend({ path, now, durability: 'normal' }), await sqliteBackend({ path, now, durability: 'normal' })]
}

async function walk(make: MakeBackends, steps: Iterable<Command>): Promise<void> {
  let moved = 0
  const clock = { now: () => START + moved }
  const [one, two] = await make(clock.now)
  const opened = (backend: Backend, name: Who) => open({ backend, clock, lease: { owner: name } })
  const stores = { ada: await opened(one, 'ada'), bob: await opened(two, 'bob') }
  const sessions = { ada: await stores.ada.session('ada'), bob: await stores.bob.session('bob') }
  const woken = await stores.ada.session('woken')
  const pass = (ms: number) => {
    moved += ms
  }
  try {
    await fc.asyncModelRun(() => ({ model: new Model(), real: { stores, sessions, woken, held: {}, pass } }), steps)
    await expectSound(stores.ada)
  } finally {
    await stores.ada.close()
    await stores.bob.close()
  }
}

const property = (make: MakeBackends, size: number) =>
  fc.asyncProperty(fc.commands(commands, { maxCommands: size, size: 'max' }), (steps) => walk(make, steps))

const CONTROL_SEED = 4711

test('a process in memory follows the model through any commands', async () => {
  await fc.assert(property(inMemory, 50), { numRuns: rounds(60, 1000) })
})

test('a process in a file follows the model through any commands', async () => {
  await fc.assert(property(inFile, 30), { numRuns: rounds(5, 100) })
})

test('the model finds out a store without fences', async () => {
  const spoiled: MakeBackends = async (now) => {
    const [one, two] = await inMemory(now)
    return [unfenced(one), unfenced(two)]
  }
  const { failed } = await fc.check(property(spoiled, 50), { numRuns: 200, seed: CONTROL_SEED, endOnFailure: true })
  expect(failed).toBe(true)
})
