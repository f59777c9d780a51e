// What can be done to a process, each as one step in the model and one against a store, which must come to the same.

import fc from 'fast-check'
import { expect } from 'vitest'
import type { AgentProcess, LeasedProcess, Session, Store } from '../../src/index.ts'
import type { Ending } from '../../src/model/process.ts'
import type { Hand, Model, Outcome, Who } from './process-model.ts'

export interface Real {
  readonly stores: Readonly<Record<Who, Store>>
  readonly sessions: Readonly<Record<Who, Session>>
  readonly woken: Session
  readonly held: Partial<Record<Who, LeasedProcess>>
  pass(ms: number): void
}

export type Command = fc.AsyncCommand<Model, Real>

const command = (
  name: string,
  run: (model: Model, real: Real) => Promise<void>,
  check: (model: Model) => boolean = () => true,
): Command => ({
  check,
  run: async (model, real) => {
    await run(model, real)
    await agree(model, real)
  },
  toString: () => name,
})

const outcomeOf = (promise: Promise<unknown>): Promise<Outcome> =>
  promise.then(
    (value) => ({ value }),
    (error: { code?: string }) => ({ code: error.code ?? String(error) }),
  )

/** The store says what the model says. */
async function agree({ life, grants, holder, heldUntil, now, woken }: Model, { stores, sessions, woken: session }: Real): Promise<void> {
  const child = await stores.bob.processes.get('c')
  expect(child !== undefined).toBe(life !== undefined)
  expect((await session.inbox.list({ last: 500 })).items.length).toBe(woken)
  if (!child || !life) return
  const row = await child.look()
  expect({
    state: row.state,
    started: row.started?.owner,
    wait: row.wait?.kind,
    cancel: row.cancel?.reason,
    abandon: row.abandon?.reason,
    reference: row.reference?.id,
  }).toEqual({
    state: life.state,
    started: life.started,
    wait: life.wait,
    cancel: life.cancel,
    abandon: life.abandon,
    reference: life.reference,
  })
  const events = (await child.events({ limit: 1000 })).items
  expect(events.map(({ number, type }) => `${number} ${type}`)).toEqual(life.said.map(({ type }, i) => `${i + 1} ${type}`))
  const given = (await stores.ada.processes.grants({ process: 'c' })).items.map(({ session: of, label }) => [of, label])
  expect(new Map(given as [string, string][])).toEqual(new Map([...grants].map(([who, label]) => [sessions[who].id, `${label}`])))
  const found = await child.holder()
  expect(found && { owner: found.owner, lapsed: found.lapsed }).toEqual(holder && { owner: holder, lapsed: heldUntil <= now })
  if (life.outcome) expect((await child.result()).state).toBe(life.outcome.state)
}

/** Done by whoever holds it, or by anybody; nothing is written where it is refused. */
const act = (
  name: string,
  who: Who,
  byHolder: boolean,
  expected: (model: Model, hand: Hand) => Outcome,
  doIt: (child: AgentProcess) => Promise<unknown>,
  shown: (value: unknown) => unknown = () => 'fine',
) =>
  command(
    `${who} ${byHolder ? 'as holder ' : ''}${name}`,
    async (model, real) => {
      const { seq } = await real.stores[who].head()
      const child = byHolder ? real.held[who] : await real.stores[who].processes.get('c')
      const wanted = expected(model, byHolder ? model.hands[who] : 'none')
      const outcome: Outcome = child ? await outcomeOf(doIt(child)) : { code: 'PROCESS_UNKNOWN' }
      expect('value' in outcome ? { value: shown(outcome.value) } : outcome).toEqual(wanted)
      if ('code' in wanted) expect((await real.stores[who].head()).seq).toBe(seq)
    },
    ({ hands }) => !byHolder || hands[who] !== 'none',
  )

const told = (value: unknown): unknown => ((value as { repeated: boolean }).repeated ? 'repeated' : 'fine')

const who = fc.constantFrom<Who>('ada', 'bob')
const n = fc.integer({ min: 1, max: 4 })
const key = fc.constantFrom(undefined, undefined, 'k1', 'k2')
const keyed = (given: string | undefined) => (given === undefined ? {} : { key: given })
const by = fc.tuple(who, fc.boolean())

const endings: Readonly<Record<Ending, (child: AgentProcess, m: number, options: object) => Promise<unknown>>> = {
  completed: (child, m, options) => child.complete({ m }, options),
  failed: (child, m, options) => child.fail(new Error(`no ${m}`), options),
  cancelled: (child, m, options) => child.cancelled(`no ${m}`, options),
  abandoned: (child, m, options) => child.abandoned({ writer: 'sweep', fence: m }, options),
}

const says = fc.tuple(by, n, key).map(([[one, held], m, k]) => {
  const said = { type: 'word.said', n: m, key: k }
  return act(
    `says ${m} ${k}`,
    one,
    held,
    (model, hand) => model.say(hand, said),
    (child) => child.event('word.said', { n: m, even: m % 2 === 0 }, keyed(k)),
    told,
  )
})
const ends = fc
  .tuple(by, fc.constantFrom<Ending>('completed', 'failed', 'cancelled', 'abandoned'), n, key)
  .map(([[one, held], state, m, k]) =>
    act(
      `ends it ${state} ${k}`,
      one,
      held,
      (model, hand) => model.end(hand, one, state, m, k),
      (child) => endings[state](child, m, keyed(k)),
      told,
    ),
  )
const reason = (value: unknown) => (value as { reason: string }).reason
const requests = fc.tuple(by, n, fc.constantFrom('cancel', 'abandon')).map(([[one, held], m, what]) =>
  act(
    `${what} ${m}`,
    one,
    held,
    (model, hand) => model.once(hand, what as 'cancel', `why ${m}`),
    (child) => child[what as 'cancel'](`why ${m}`),
    reason,
  ),
)
const owner = (value: unknown) => (value as { owner: string }).owner
const starts = fc.tuple(by, n).map(([[one, held], m]) =>
  act(
    `starts ${m}`,
    one,
    held,
    (model, hand) => model.once(hand, 'started', `w${m}`),
    (child) => child.start({ owner: `w${m}` }),
    owner,
  ),
)
const waits = fc.tuple(by, fc.constantFrom('reply', 'signal', undefined)).map(([[one, held], word]) =>
  act(
    `waits ${word}`,
    one,
    held,
    (model, hand) => model.wait(hand, word),
    (child) => (word ? child.wait(word) : child.resume()),
  ),
)
const refers = fc.tuple(by, n).map(([[one, held], m]) =>
  act(
    `refers ${m}`,
    one,
    held,
    (model, hand) => model.refer(hand, `j${m % 2}`),
    (child) => child.refer({ backend: 'b', id: `j${m % 2}` }),
  ),
)

const registers = fc.tuple(who, fc.constantFrom(1, 1, 1, 2)).map(([one, definition]) =>
  command(`${one} registers ${definition}`, async (model, { stores, woken }) => {
    const events = { 'word.said': { wake: { when: '/even' } }, 'process.cancelled': {} } as const
    const given = { kind: 'tool', recovery: 'external', definition, wake: woken.id, events } as const
    const outcome = await outcomeOf(stores[one].processes.register('c', given).then(() => 'fine'))
    expect(outcome).toEqual(model.register(definition))
  }),
)
const claims = who.map((one) =>
  command(
    `${one} claims`,
    async (model, real) => {
      const child = await real.stores[one].processes.get('c')
      const outcome: Outcome = child ? await outcomeOf(child.claim()) : { code: 'PROCESS_UNKNOWN' }
      const wanted = model.claim(one)
      if ('code' in wanted) return expect(outcome).toEqual(wanted)
      const held = (outcome as { value: LeasedProcess }).value
      expect(held.fence).toBeGreaterThan(0)
      // Entered again, it is held under the same fence, and once.
      if (real.held[one]) expect(held.fence).toBe(real.held[one]?.fence)
      if (real.held[one]) await held.release()
      else real.held[one] = held
    },
    ({ hands }) => hands[one] === 'none' || hands[one] === 'live',
  ),
)
const releases = who.map((one) =>
  command(
    `${one} gives it back`,
    async (model, real) => {
      await real.held[one]?.release()
      delete real.held[one]
      model.release(one)
    },
    ({ hands }) => hands[one] !== 'none',
  ),
)
const passes = fc.constantFrom(1, 1000, 31_000).map((ms) =>
  command(`${ms} ms pass`, async (model, { pass }) => {
    model.now += ms
    pass(ms)
  }),
)
const grants = fc.tuple(who, who, n, fc.constantFrom('grant', 'revoke', 'transfer')).map(([one, other, m, what]) =>
  command(`${one} ${what} ${other} ${m}`, async (model, { stores, sessions }) => {
    const { processes } = stores[one]
    const [from, to] = [sessions[one].id, sessions[other].id]
    const [outcome, wanted] =
      what === 'grant'
        ? [await outcomeOf(processes.grant('c', to, { label: `${m}` }).then(() => 'fine')), model.give(other, m)]
        : what === 'revoke'
          ? [await outcomeOf(processes.revoke('c', to)), model.revoke(other)]
          : [await outcomeOf(processes.transfer(['c'], from, to).then(() => 'fine')), model.transfer(one, other)]
    expect(outcome).toEqual(wanted)
  }),
)
const prunes = fc.tuple(who, fc.boolean()).map(([one, all]) =>
  command(`${one} prunes ${all ? 'all' : 'what is old'}`, async (model, { stores }) => {
    const before = model.now + (all ? 1 : -500)
    const wanted = model.prune(before)
    expect(await outcomeOf(stores[one].processes.prune({ before: START + before }))).toEqual(wanted)
  }),
)

const often = <T>(times: number, one: T): readonly T[] => Array.from({ length: times }, () => one)
/** Ends are rare, so that there is something to end, and time passes past a lease often enough for it to change hands. */
export const commands = [
  ...often(4, registers),
  ...often(8, says),
  ...often(5, claims),
  ...often(2, releases),
  ...often(5, passes),
  ...often(2, waits),
  ...often(2, requests),
  ...[starts, refers, ends, prunes],
  ...often(3, grants),
]

export const START = 1_000_000_000
