// Turn inputs against a model of them: whatever is said, taken, taken back and ended, in whatever order, by two who do not know of each other, the
// store and the model say the same.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sqliteBackend } from '../../src/backends/sqlite/backend.ts'
import { freshMemory, handleTo } from '../../src/conformance/shared-memory.ts'
import { type InputId, open, type Run, type Session, type Store } from '../../src/index.ts'
import type { Backend } from '../../src/ports/backend.ts'
import { unfenced } from '../runs/unfenced.ts'
import { codeOf, expectSound, tempFile } from '../support/engines.ts'
import { rounds } from '../support/rounds.ts'
import { Model, type Said, type Take, type Who } from './inputs-model.ts'

interface Real {
  readonly stores: Readonly<Record<Who, Store>>
  readonly runs: Partial<Record<Who, Run>>
  readonly ids: Map<Said, InputId>
  pass(ms: number): void
}

type Command = fc.AsyncCommand<Model, Real>

const LOST = ['FENCE_LOST', 'RUN_FINISHED', 'RUN_CANCELLED']
const sessionOf = (store: Store): Promise<Session> => store.session('s')
const command = (name: string, check: (model: Model) => boolean, run: (model: Model, real: Real) => Promise<unknown>): Command => ({
  check,
  run: async (model, real) => {
    await run(model, real)
    await agree(model, real)
  },
  toString: () => name,
})

/** The store says what the model says: who is for whom, and what became of it. */
async function agree(model: Model, { stores, ids }: Real): Promise<void> {
  const { items } = await (await sessionOf(stores.bob)).inputs.list({ first: 1000 })
  const turns = new Map((await stores.bob.runs.list({ last: 1000 })).items.map(({ id, key }) => [id as string, Number(key)]))
  const seen = items.map(({ id, content, state, run }) => ({ id, n: content, state, turn: run && turns.get(run) }))
  expect(seen).toEqual(model.said.map((said) => ({ id: ids.get(said), n: said.n, state: said.state, turn: said.turn })))
}

const take = async (run: Run, given: Take): Promise<readonly unknown[]> =>
  (await run.inputs(given.from === 'next' ? { from: 'next', most: given.most } : { boundary: given.boundary, most: given.most })).map(
    ({ content }) => content,
  )

const opens = (who: Who) =>
  command(
    `${who} opens the turn`,
    ({ hands }) => hands[who] === 'none',
    async (model, { stores, runs }) => {
      const number = model.turn?.number ?? model.turns.length + 1
      const opening = sessionOf(stores[who]).then((session) => session.run('turn', { key: String(number) }))
      if (model.isHeld) return expect(await codeOf(opening)).toBe('RUN_HELD')
      const run = await opening
      runs[who] = run
      // Whoever goes on with it hears what was heard before.
      for (const { take: given, told } of model.opened(who).script) expect(await take(run, given)).toEqual(told)
      // From here on its tape is read, and what others record is not taken for its own.
      return expect(await take(run, FIRST)).toEqual(model.take(FIRST))
    },
  )

const FIRST: Take = { from: 'active', boundary: 'afterWork', most: 1 }

const says = (who: Who, key: number | undefined, boundary: Said['boundary'], to: 'active' | 'next') =>
  command(
    `${who} says something${key === undefined ? '' : ` as ${key}`} to ${to}`,
    () => true,
    async (model, { stores, ids }) => {
      const session = await sessionOf(stores[who])
      const known = key === undefined ? undefined : model.said.find((said) => said.key === String(key))
      const options = { boundary, turn: to, ...(key !== undefined && { key: String(key) }) }
      if (known) {
        const again = { ...options, boundary: known.boundary, turn: known.to }
        expect(await session.input(known.n, again)).toMatchObject({ id: ids.get(known), state: known.state, repeated: true })
        if (boundary !== known.boundary || to !== known.to) expect(await codeOf(session.input(known.n, options))).toBe('KEY_REUSED')
        return expect(await codeOf(session.input(-1, again))).toBe('KEY_REUSED')
      }
      const said = model.say(model.said.length, key === undefined ? undefined : String(key), boundary, to)
      const { id, repeated } = await session.input(said.n, options)
      ids.set(said, id)
      return expect(repeated).toBe(false)
    },
  )

const takes = (who: Who, given: Take) =>
  command(
    `${who} takes ${given.most} of ${given.from} at ${given.boundary}`,
    ({ hands }) => hands[who] !== 'none',
    async (model, real) => {
      const run = real.runs[who] as Run
      if (model.hands[who] === 'live') return expect(await take(run, given)).toEqual(model.take(given))
      expect(LOST).toContain(await codeOf(take(run, given)))
      return close(model, real, who)
    },
  )

const ends = (who: Who, how: 'finish' | 'fail' | 'cancel') =>
  command(
    `${who} ends it with ${how}`,
    ({ hands }) => hands[who] !== 'none',
    async (model, real) => {
      const run = real.runs[who] as Run
      const ending = how === 'finish' ? run.finish() : how === 'fail' ? run.fail(new Error('no')) : run.cancel('no')
      if (model.hands[who] === 'live') {
        await ending
        model.end(how)
      } else expect(LOST).toContain(await codeOf(ending))
      return close(model, real, who)
    },
  )

const cancelsTurn = (who: Who) =>
  command(
    `${who} cancels the turn from outside`,
    ({ turn }) => turn !== undefined,
    async (model, real) => {
      const { items } = await real.stores[who].runs.list({ last: 1000 })
      const id = items.find(({ key }) => Number(key) === model.turn?.number)?.id ?? ''
      await real.stores[who].runs.cancel(id, 'no')
      model.end('cancel')
      for (const one of ['ada', 'bob'] as const) if (real.runs[one]) await close(model, real, one)
    },
  )

const closes = (who: Who) =>
  command(
    `${who} lets go`,
    ({ hands }) => hands[who] !== 'none',
    (model, real) => close(model, real, who),
  )

async function close(model: Model, real: Real, who: Who): Promise<void> {
  await real.runs[who]?.close()
  delete real.runs[who]
  model.left(who)
}

const MISSING = '01J00000000000000000000000' as InputId

const cancels = (who: Who, picked: readonly number[]) =>
  command(
    `${who} takes back ${picked}`,
    () => true,
    async (model, { stores, ids }) => {
      const chosen = [...new Set(picked)].map((n) => model.said[n % (model.said.length + 1)])
      const given = chosen.map((said) => (said ? (ids.get(said) as InputId) : MISSING))
      const outcomes = await (await sessionOf(stores[who])).inputs.cancel([...new Set(given)])
      expect(outcomes.map(({ outcome }) => outcome)).toEqual([...new Set(chosen)].map((said) => model.cancel(said)))
    },
  )

const cancelsFrom = (who: Who, n: number) =>
  command(
    `${who} takes back everything from ${n} on`,
    ({ said }) => said.length > 0,
    async (model, { stores, ids }) => {
      // From somewhere near the end, so that something is left.
      const from = Math.max(0, model.said.length - 1 - (n % 3))
      const outcomes = await (await sessionOf(stores[who])).inputs.cancelFrom(ids.get(model.said[from] as Said) ?? '')
      expect(outcomes.map(({ outcome }) => outcome)).toEqual(model.said.slice(from).map((said) => model.cancel(said)))
    },
  )

const passes = (ms: number) =>
  command(
    `${ms} ms pass`,
    () => true,
    async (model, real) => {
      model.now += ms
      real.pass(ms)
    },
  )

const who = fc.constantFrom<Who>('ada', 'bob')
const boundary = fc.constantFrom('afterWork' as const, 'beforeCompletion' as const)
const to = fc.constantFrom('active' as const, 'next' as const)
const given = fc.record({ from: to, boundary, most: fc.constantFrom(1, 2, 64) })
const often = <T>(times: number, one: T): readonly T[] => Array.from({ length: times }, () => one)

const commands = [
  ...often(5, who.map(opens)),
  ...often(
    8,
    fc.tuple(who, fc.option(fc.integer({ min: 1, max: 9 }), { nil: undefined }), boundary, to).map((all) => says(...all)),
  ),
  ...often(
    6,
    fc.tuple(who, given).map((all) => takes(...all)),
  ),
  ...often(
    2,
    fc.tuple(who, fc.constantFrom('finish' as const, 'fail' as const, 'cancel' as const)).map((all) => ends(...all)),
  ),
  ...often(2, who.map(closes)),
  ...often(3, fc.constantFrom(1000, 31_000, 31_000).map(passes)),
  ...often(
    2,
    fc.tuple(who, fc.array(fc.nat(20), { minLength: 1, maxLength: 4 })).map((all) => cancels(...all)),
  ),
  fc.tuple(who, fc.nat(5)).map((all) => cancelsFrom(...all)),
  who.map(cancelsTurn),
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

async function walk(make: MakeBackends, steps: Iterable<Command>): Promise<void> {
  let moved = 0
  const now = () => 1_000_000_000 + moved
  const [one, two] = await make(now)
  const stores = { ada: await open({ backend: one, clock: { now } }), bob: await open({ backend: two, clock: { now } }) }
  const pass = (ms: number) => {
    moved += ms
  }
  try {
    await fc.asyncModelRun(() => ({ model: new Model(), real: { stores, runs: {}, ids: new Map(), pass } }), steps)
    await expectSound(stores.ada)
  } finally {
    await stores.ada.close()
    await stores.bob.close()
  }
}

const property = (make: MakeBackends, size: number) =>
  fc.asyncProperty(fc.commands(commands, { maxCommands: size, size: 'max' }), (steps) => walk(make, steps))

const CONTROL_SEED = 4712

test('inputs in memory follow the model through any commands', async () => {
  await fc.assert(property(inMemory, 40), { numRuns: rounds(100, 1500) })
})

test('inputs in a file follow the model through any commands', async () => {
  await fc.assert(property(inFile, 25), { numRuns: rounds(5, 75) })
})

test('the model finds out a store without fences', async () => {
  const spoiled: MakeBackends = async (now) => {
    const [one, two] = await inMemory(now)
    return [unfenced(one), unfenced(two)]
  }
  const { failed } = await fc.check(property(spoiled, 40), { numRuns: 200, seed: CONTROL_SEED, endOnFailure: true })
  expect(failed).toBe(true)
})
