// The inbox against a model of it: batches offered, claimed, completed, given back, interrupted and taken over, by two who do not know of each other.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { freshMemory, handleTo } from '../../src/conformance/shared-memory.ts'
import { open, type Run, type Store } from '../../src/index.ts'
import type { Backend } from '../../src/ports/backend.ts'
import { codeOf, expectSound } from '../support/engines.ts'
import { rounds } from '../support/rounds.ts'
import { type Ask, ask, type Batch, given, LEASE_MS, Model, often, type Turn, type Who, who } from './inbox-model.ts'

/** How often the walks came where they should come. */
const reached = new Map<string, number>()
const reach = (where: string): void => void reached.set(where, (reached.get(where) ?? 0) + 1)

interface Real {
  readonly stores: Readonly<Record<Who, Store>>
  readonly runs: Partial<Record<Who, Run>>
  readonly ids: string[]
  pass(ms: number): void
}

// What somebody hears who goes on with what is somebody else's by now, or over.
const LOST = ['FENCE_LOST', 'RUN_FINISHED', 'INBOX_CLAIM_LOST']

type Command = fc.AsyncCommand<Model, Real>

const command = (name: string, check: (model: Model) => boolean, run: (model: Model, real: Real) => Promise<unknown>): Command => ({
  check,
  run: async (model, real) => {
    await run(model, real)
    const { items } = await (await real.stores.bob.session('s')).inbox.list({ first: 1000 })
    expect(items.map(({ payload, state }) => [payload, state])).toEqual(model.batches.map(({ n, state }) => [n, state]))
  },
  toString: () => name,
})

const asked = ({ kind, at, most }: Ask) => (kind === 'command' ? { kind, at } : { at, most })

const offers = (who: Who, given: Omit<Batch, 'n' | 'state' | 'claim' | 'due'>, delay: number) =>
  command(
    `${who} offers ${JSON.stringify(given)} in ${delay} ms`,
    () => true,
    async (model, { stores, ids }) => {
      const n = model.batches.length
      const { merge, ...rest } = given
      const { id } = await (await stores[who].session('s')).inbox.offer(n, { ...rest, ...(merge !== undefined && { merge }), delay })
      ids.push(id)
      model.batches.push({ ...given, n, due: model.now + delay, state: 'pending' })
    },
  )

const opens = (who: Who, picked: number) =>
  command(
    `${who} opens a turn (${picked})`,
    ({ open: hands }) => hands[who] === undefined,
    async (model, real) => {
      // One that was left, or a new one.
      const left = model.turns.filter(({ over }) => !over)
      const number = left[picked]?.number ?? model.turns.length + 1
      const opening = real.stores[who].session('s').then((session) => session.run('turn', { key: String(number) }))
      if (model.isHeld) return expect(await codeOf(opening)).toBe('RUN_HELD')
      const run = await opening
      real.runs[who] = run
      const turn = model.turns[number - 1] ?? { number, over: false, script: [], claims: [] }
      if (!model.turns.includes(turn)) model.turns.push(turn)
      model.open[who] = turn
      model.holder = who
      model.heldUntil = model.now + LEASE_MS
      model.generation++
      // Whoever goes on with it is told what was told before, whatever has become of it.
      for (const step of turn.script) {
        if ('ask' in step) expect(await run.inbox(asked(step.ask))).toEqual(step.answer)
        else if ('done' in step) await run.inboxDone(step.done)
        else await run.inboxRelease(step.released)
      }
      // From here on its tape is read, and what others record is not taken for its own.
      return claim(model, run, turn, { kind: 'turn', at: 'idle', most: 2 })
    },
  )

async function claim(model: Model, run: Run, turn: Turn, ask: Ask): Promise<void> {
  const answer = await run.inbox(asked(ask))
  turn.script.push({ ask, answer })
  const expected = model.claim(turn, ask)
  reach(answer.why ?? (answer.redriven ? 'redriven' : 'claimed'))
  if ('why' in expected) return expect(answer).toMatchObject({ why: expected.why, batches: [] })
  expect(answer).toMatchObject({ redriven: expected.redriven, batches: expected.batches.map(({ n }) => ({ payload: n })) })
  const id = answer.claim ?? ''
  expect(model.groups.get(id) ?? expected.group).toBe(expected.group)
  model.groups.set(id, expected.group)
  model.got(
    turn,
    id,
    expected.batches.map(({ n }) => n),
  )
}

const claims = (who: Who, ask: Ask) =>
  command(
    `${who} claims ${JSON.stringify(ask)}`,
    ({ open: hands }) => hands[who] !== undefined,
    async (model, real) => {
      const run = real.runs[who] as Run
      if (model.holds(who)) return claim(model, run, model.open[who] as Turn, ask)
      expect(LOST).toContain(await codeOf(run.inbox(asked(ask))))
      return close(model, real, who)
    },
  )

/** What it claimed first and has not completed. */
const completes = (who: Who) =>
  command(
    `${who} completes a claim`,
    (model) => model.holds(who) && (model.open[who]?.claims.length ?? 0) > 0,
    async (model, real) => {
      const turn = model.open[who] as Turn
      const [made] = turn.claims
      const id = made?.id ?? ''
      const done = (real.runs[who] as Run).inboxDone(id)
      if (!model.has(turn, id)) return lost(model, real, who, done)
      await done
      for (const n of made?.batches ?? []) (model.batches[n] as Batch).state = 'completed'
      turn.claims.shift()
      turn.script.push({ done: id })
    },
  )

/** What it claimed first and has not completed. Another run that took it over keeps it. */
const releases = (who: Who) =>
  command(
    `${who} releases a claim`,
    (model) => model.holds(who) && (model.open[who]?.claims.length ?? 0) > 0,
    async (model, real) => {
      const turn = model.open[who] as Turn
      const [made] = turn.claims
      const id = made?.id ?? ''
      await (real.runs[who] as Run).inboxRelease(id)
      reach(model.has(turn, id) ? 'released' : 'released what it lost')
      const held = model.of(turn).filter(({ claim }) => claim?.group === model.groups.get(id))
      for (const batch of held) Object.assign(batch, { state: 'pending', claim: undefined })
      turn.claims.shift()
      turn.script.push({ released: id })
    },
  )

/** Another run has it: nothing is written, and the run can only fail. */
async function lost(model: Model, real: Real, who: Who, refused: Promise<unknown>): Promise<void> {
  const [code, { seq }] = await Promise.all([codeOf(refused), real.stores.ada.head()])
  expect(code).toBe('INBOX_CLAIM_LOST')
  reach('lost')
  expect((await real.stores.ada.head()).seq).toBe(seq)
  await (real.runs[who] as Run).fail(new Error('lost'))
  giveBack(model, model.open[who] as Turn)
  await close(model, real, who)
}

function giveBack(model: Model, turn: Turn): void {
  turn.over = true
  for (const batch of model.of(turn)) {
    batch.state = 'pending'
    batch.claim = undefined
  }
}

const ends = (who: Who, how: 'finish' | 'fail' | 'cancel') =>
  command(
    `${who} ends its turn with ${how}`,
    ({ open: hands }) => hands[who] !== undefined,
    async (model, real) => {
      const run = real.runs[who] as Run
      const turn = model.open[who] as Turn
      const ending = how === 'finish' ? run.finish() : how === 'fail' ? run.fail(new Error('no')) : run.cancel('no')
      if (!model.holds(who)) expect(LOST).toContain(await codeOf(ending))
      else if (how === 'finish') {
        if (turn.claims.some(({ id }) => !model.has(turn, id))) return lost(model, real, who, ending)
        await ending
        turn.over = true
        for (const batch of model.of(turn)) batch.state = 'completed'
      } else {
        await ending
        giveBack(model, turn)
      }
      return close(model, real, who)
    },
  )

const closes = (who: Who) =>
  command(
    `${who} lets go`,
    ({ open: hands }) => hands[who] !== undefined,
    (model, real) => close(model, real, who),
  )

async function close(model: Model, real: Real, who: Who): Promise<void> {
  await real.runs[who]?.close()
  delete real.runs[who]
  if (model.holder === who) model.holder = undefined
  delete model.open[who]
}

const cancels = (who: Who, n: number) =>
  command(
    `${who} cancels ${n}`,
    ({ batches }) => n < batches.length,
    async (model, { stores, ids }) => {
      const batch = model.batches[n] as Batch
      const expected = { pending: 'cancelled', claimed: 'held', completed: 'alreadyCompleted', cancelled: 'alreadyCancelled' }[batch.state]
      expect(await (await stores[who].session('s')).inbox.cancel(ids[n] as string)).toMatchObject({ outcome: expected })
      if (batch.state === 'pending') batch.state = 'cancelled'
    },
  )

/** Lets go of its turn; another one takes over what it had in hand, and is done with it; then it goes on. */
const robbed = (by: Who): Command => {
  const steps = [closes(by), opens(by, Infinity), completes(by), closes(by), opens(by, 0), completes(by)]
  return {
    check: (model) => model.holds(by) && (model.open[by]?.claims.length ?? 0) > 0,
    run: async (model, real) => {
      for (const step of steps) if (step.check(model)) await step.run(model, real)
    },
    toString: () => steps.join(', '),
  }
}

const passes = (ms: number) =>
  command(
    `${ms} ms pass`,
    () => true,
    async (model, real) => {
      model.now += ms
      real.pass(ms)
    },
  )

const commands = [
  ...often(6, fc.tuple(who, given, fc.constantFrom(0, 0, 0, 5000))).map((one) => one.map((all) => offers(...all))),
  ...often(5, fc.tuple(who, fc.nat(3))).map((one) => one.map((all) => opens(...all))),
  ...often(6, fc.tuple(who, ask)).map((one) => one.map((all) => claims(...all))),
  ...often(5, who.map(completes)),
  ...often(2, who.map(releases)),
  ...often(
    2,
    fc.tuple(who, fc.constantFrom('finish' as const, 'fail' as const, 'cancel' as const)).map((all) => ends(...all)),
  ),
  ...often(7, who.map(closes)),
  ...often(3, fc.constantFrom(1000, 6000, 31_000, 31_000).map(passes)),
  ...often(3, who.map(robbed)),
  fc.tuple(who, fc.nat(12)).map((all) => cancels(...all)),
]

async function walk(around: (backend: Backend) => Backend, steps: Iterable<Command>): Promise<void> {
  let moved = 0
  const now = () => 1_000_000_000 + moved
  const kept = freshMemory(now)
  const store = () => open({ backend: around(handleTo(kept)), clock: { now } })
  const stores = { ada: await store(), bob: await store() }
  const pass = (ms: number) => {
    moved += ms
  }
  try {
    await fc.asyncModelRun(() => ({ model: new Model(), real: { stores, runs: {}, ids: [], pass } }), steps)
    await expectSound(stores.ada)
  } finally {
    await stores.ada.close()
    await stores.bob.close()
  }
}

const property = (around: (backend: Backend) => Backend) =>
  fc.asyncProperty(fc.commands(commands, { maxCommands: 50, size: 'max' }), (steps) => walk(around, steps))

const CONTROL_SEED = 4713

test('an inbox follows the model through any offers, claims, interruptions and takeovers', async () => {
  await fc.assert(
    property((backend) => backend),
    { numRuns: rounds(120, 1500) },
  )
  for (const where of ['claimed', 'redriven', 'lost', 'released', 'empty', 'notDue', 'held', 'boundary', 'commandAtHead', 'turnAtHead'])
    expect(reached.get(where) ?? 0, where).toBeGreaterThan(3)
})

test('the model finds out a store that forgets a batch of a claim', async () => {
  // Of the rows that a commit puts, the second is left as it was.
  const forgetful = (backend: Backend): Backend => ({
    ...backend,
    commit: (batch) =>
      backend.commit(
        batch.map((commit) => {
          const claimed = commit.changes.filter(
            ({ kind: how, ...change }) => how === 'put' && 'table' in change && change.table === 'inbox',
          )
          return claimed.length < 2 ? commit : { ...commit, changes: commit.changes.filter((change) => change !== claimed[1]) }
        }),
      ),
  })
  const { failed } = await fc.check(property(forgetful), { numRuns: 100, seed: CONTROL_SEED, endOnFailure: true })
  expect(failed).toBe(true)
})
