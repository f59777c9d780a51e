// What can be done to a run, each as one step in the model and one against a store, which must come to the same.

import type { AsyncCommand } from 'fast-check'
import { expect } from 'vitest'
import type { Run, Store } from '../../src/index.ts'
import { never } from './crashing-backend.ts'
import type { Asked, Model, Outcome, Who } from './life-model.ts'

/** Two processes at one store, whose time is moved. */
export interface Real {
  readonly stores: Readonly<Record<Who, Store>>
  readonly runs: Partial<Record<Who, Run>>
  /** What a program waits for. */
  readonly pending: Partial<Record<Who, Promise<Outcome>>>
  pass(ms: number): Promise<void>
  /** How often the work of an effect was called by somebody who held the run. */
  calls: number
}

type Command = AsyncCommand<Model, Real>

const command = (name: string, check: (model: Model) => boolean, run: (model: Model, real: Real) => Promise<void>): Command => ({
  check,
  run: async (model, real) => {
    await run(model, real)
    await agree(model, real)
  },
  toString: () => name,
})

export const outcomeOf = (promise: Promise<unknown>): Promise<Outcome> =>
  promise.then(
    (value) => ({ value }),
    (error: { code?: string }) => ({ code: error.code ?? String(error) }),
  )

// What somebody hears who goes on with a run that is lost or over.
const LOST = ['FENCE_LOST', 'RUN_FINISHED', 'RUN_CANCELLED']

export const theRun = async (store: Store) => (await store.runs.list({ last: 100 })).items.find(({ key }) => key === 'k')

const headOf = async ({ stores }: Real): Promise<number> => (await stores.ada.head()).seq

/** The store says what the model says. */
async function agree(model: Model, { stores, pending, runs }: Real): Promise<void> {
  const { waiting, holder } = model
  model.settle()
  if (waiting?.outcome && holder) {
    const told = await Promise.race([pending[holder], new Promise((resolve) => setTimeout(resolve, 1500, 'never told'))])
    expect(told).toEqual(waiting.outcome)
    delete pending[holder]
  }
  const seen = async () => {
    const row = await theRun(stores.bob)
    return { state: row?.state ?? 'none', attempt: row?.attempt ?? 0 }
  }
  await expect.poll(seen, { interval: 1, timeout: 1500 }).toEqual({ state: model.state, attempt: model.attempt })
  // A hand learns what others said when it writes next.
  const told = model.script.at(-1)?.kind === 'unknown'
  for (const who of ['ada', 'bob'] as const)
    if (model.hands[who] === 'live' && !model.isOver && !told) expect(runs[who]?.state).toBe(model.state)
}

function ask(run: Run, { kind, n, fails, within }: Asked, called: () => void): Promise<Outcome> {
  const limit = within === undefined ? {} : { within }
  const work = () => {
    called()
    if (fails) throw new Error(`no ${n}`)
    return n
  }
  switch (kind) {
    case 'effect':
      return outcomeOf(run.effect('e', work))
    case 'unknown':
      return outcomeOf(run.effect('u', () => never(), { ifUnknown: 'ask' }))
    case 'sleep':
      return outcomeOf(run.sleep(within ?? 0))
    case 'signal':
      return outcomeOf(run.signal('go', limit))
    case 'ask':
      return outcomeOf(run.ask('how many?', { n }, limit))
  }
}

const opened = (store: Store) => store.session('s').then((session) => session.run('r', { key: 'k', input: 1 }))

export const open = (who: Who) =>
  command(
    `${who} opens it`,
    ({ hands }) => hands[who] === 'none',
    async (model, real) => {
      const before = await headOf(real)
      const outcome = await outcomeOf(opened(real.stores[who]))
      if (model.isHeld && !model.isOver) {
        expect(outcome).toEqual({ code: 'RUN_HELD' })
        expect(await headOf(real)).toBe(before)
        return
      }
      const run = (outcome as { value: Run }).value
      expect(outcome).toHaveProperty('value')
      if (model.isOver) return expect(run.state).toBe(model.state)
      model.taken(who)
      real.runs[who] = run
      // The program begins anew, and gets the answers it got before.
      for (const asked of model.script) {
        const answer = ask(run, asked, () => {
          throw new Error('called again')
        })
        if (asked.outcome) expect(await answer).toEqual(asked.outcome)
        else real.pending[who] = answer
      }
      if (model.waiting) return
      // It goes on: from here on its tape is read, and what others record is not taken for its own.
      const first: Asked = { kind: 'effect', n: 0, outcome: { value: 0 } }
      expect(await ask(run, first, () => real.calls++)).toEqual(first.outcome)
      model.asked(first)
    },
  )

export const start = (who: Who) =>
  command(
    `${who} starts it for others`,
    ({ state }) => state === 'none',
    async (model, real) => {
      await real.stores[who].start('r', { session: 's', key: 'k', input: 1 })
      model.move('pending')
    },
  )

/** Whoever holds it asks; whoever has lost it is refused, and nothing is written. */
export const asks = (who: Who, given: Omit<Asked, 'outcome' | 'until'>) =>
  command(
    `${who} asks for ${given.kind} ${given.n}`,
    (model) => model.canAsk(who) || model.hands[who] === 'lost',
    async (model, real) => {
      const run = real.runs[who] as Run
      if (model.hands[who] === 'lost') {
        const before = await headOf(real)
        expect(LOST).toContain(((await ask(run, given, () => {})) as { code: string }).code)
        expect(await headOf(real)).toBe(before)
        return close(model, real, who)
      }
      const before = await headOf(real)
      const answer = ask(run, given, () => real.calls++)
      const failed: Outcome = { code: 'EFFECT_FAILED' }
      const waits = given.kind !== 'effect'
      model.asked({
        ...given,
        ...(waits && given.within !== undefined && { until: model.now + given.within }),
        ...(!waits && { outcome: given.fails ? failed : { value: given.n } }),
      })
      if (!waits) return expect(await answer).toEqual(model.script.at(-1)?.outcome)
      real.pending[who] = answer
      await expect.poll(() => headOf(real), { interval: 1 }).toBeGreaterThan(before)
    },
  )

async function close(model: Model, real: Real, who: Who): Promise<void> {
  await real.runs[who]?.close()
  delete real.runs[who]
  delete real.pending[who]
  model.left(who)
}

export const closes = (who: Who) =>
  command(
    `${who} gives it back`,
    ({ hands }) => hands[who] !== 'none',
    (model, real) => close(model, real, who),
  )

export const ends = (who: Who, how: 'finish' | 'fail' | 'cancel') =>
  command(
    `${who} ends it with ${how}`,
    (model) => model.canAsk(who) || model.hands[who] === 'lost',
    async (model, real) => {
      const run = real.runs[who] as Run
      const before = await headOf(real)
      const outcome = await outcomeOf(how === 'finish' ? run.finish(7) : how === 'fail' ? run.fail(new Error('no')) : run.cancel('no'))
      if (model.hands[who] === 'lost') {
        expect(LOST).toContain((outcome as { code: string }).code)
        expect(await headOf(real)).toBe(before)
      } else {
        expect(outcome).toEqual({ value: undefined })
        model.move(how === 'finish' ? 'done' : how === 'fail' ? 'failed' : 'cancelled')
      }
      await close(model, real, who)
    },
  )

export const cancels = (who: Who) =>
  command(
    `${who} cancels it from outside`,
    ({ state }) => state !== 'none',
    async (model, real) => {
      const id = (await theRun(real.stores[who]))?.id ?? ''
      const outcome = await outcomeOf(real.stores[who].runs.cancel(id, 'no'))
      if (model.isOver) return expect(outcome).toEqual({ code: 'RUN_FINISHED' })
      expect(outcome).toEqual({ value: undefined })
      const { holder, waiting } = model
      model.move('cancelled')
      if (!holder) return
      if (waiting && waiting.kind !== 'unknown' && model.hands[holder] === 'live')
        expect(LOST).toContain(((await real.pending[holder]) as { code: string }).code)
      await close(model, real, holder)
    },
  )

export const signals = (who: Who, n: number) =>
  command(
    `${who} sends ${n}`,
    () => true,
    async (model, real) => {
      await real.stores[who].session('s')
      await real.stores[who].signal('s', 'go', n)
      model.signals.push(n)
    },
  )

export const decides = (who: Who, n: number) =>
  command(
    `${who} says ${n}`,
    ({ question }) => question !== undefined && !question.said,
    async (model, real) => {
      const [item] = (await real.stores[who].approvals.list({ state: 'pending' })).items
      const outcome = await outcomeOf(real.stores[who].approvals.decide(item?.id ?? '', { value: n }))
      const { question } = model
      const late = question?.until !== undefined && question.until <= model.now
      if (late) expect(outcome).toEqual({ code: 'APPROVAL_CLOSED' })
      else expect(outcome).toMatchObject({ value: { state: 'answered', value: n } })
      if (question) question.said = { value: late ? undefined : n }
    },
  )

export const resolves = (who: Who, n: number) =>
  command(
    `${who} says that it was ${n}`,
    ({ state }) => state !== 'none',
    async (model, real) => {
      const id = (await theRun(real.stores[who]))?.id ?? ''
      const outcome = await outcomeOf(real.stores[who].runs.resolve(id, 'u', { result: n }))
      if (model.isOver) return expect(outcome).toEqual({ code: 'RUN_FINISHED' })
      if (!model.wondering) return expect(outcome).toEqual({ code: 'EFFECT_UNKNOWN' })
      expect(outcome).toEqual({ value: undefined })
      const { holder, waiting } = model
      model.answered({ value: n })
      if (holder && model.hands[holder] === 'live') expect(await real.pending[holder]).toEqual(waiting?.outcome)
    },
  )

export const passes = (ms: number) =>
  command(
    `${ms} ms pass`,
    () => true,
    async (model, real) => {
      model.now += ms
      await real.pass(ms)
      // Somebody writes, and whoever waits looks at the clock.
      await (await real.stores.ada.session('elsewhere')).append('bell.rung', {})
      await (await real.stores.bob.session('elsewhere')).append('bell.rung', {})
    },
  )

export const forks = (who: Who) =>
  command(
    `${who} forks it`,
    ({ state }) => state !== 'none',
    async (model, real) => {
      const id = (await theRun(real.stores[who]))?.id ?? ''
      const fork = await real.stores[who].runs.fork(id, { at: await headOf(real) })
      for (const asked of model.script) {
        if (!asked.outcome) break
        const again = () => {
          throw new Error('called again')
        }
        expect(await ask(fork, asked, again)).toEqual(asked.outcome)
      }
      expect(await fork.effect('its own', () => 'new')).toBe('new')
      await fork.finish()
      expect(fork.state).toBe('done')
    },
  )
