// What can be done to a queue, each as one step in the model and one against a store, which must come to the same.

import type { AsyncCommand } from 'fast-check'
import { expect } from 'vitest'
import type { Claim, Queue, Store } from '../../src/index.ts'
import { codeOf } from '../support/engines.ts'
import type { Hand, Item, Model, Offered, Who } from './queue-model.ts'

export const MINUTE = 60_000

/** Two processes at one store, whose time is moved. */
export interface Real {
  readonly stores: Readonly<Record<Who, Store>>
  readonly claims: Map<Hand, Claim<number>>
  now(): Promise<number>
  pass(ms: number): Promise<void>
}

type Command = AsyncCommand<Model, Real>

const command = (name: string, check: (model: Model) => boolean, run: (model: Model, real: Real) => Promise<void>): Command => ({
  check,
  run: async (model, real) => {
    model.now = await real.now()
    await run(model, real)
    await agree(model, real)
  },
  toString: () => name,
})

const queueOf = ({ stores }: Real, who: Who): Queue<number> => stores[who].queue<number>('q')
const headOf = async ({ stores }: Real): Promise<number> => (await stores.ada.head()).seq

/** Refused so, and nothing is written. */
async function refused(real: Real, code: string, call: () => Promise<unknown>): Promise<void> {
  const before = await headOf(real)
  expect(await codeOf(call())).toBe(code)
  expect(await headOf(real)).toBe(before)
}

/** The store says what the model says. */
async function agree(model: Model, real: Real): Promise<void> {
  const queue = queueOf(real, 'bob')
  model.now = await real.now()
  for (const state of ['ready', 'claimed', 'dead'] as const) {
    const { items } = await queue.list({ state, last: 200 })
    const expected = model.items.filter((item) => item.state === state)
    for (const item of expected) {
      const told = items.find(({ id }) => id === item.id)?.at ?? 0
      if (!item.sought) expect(told).toBe(item.at)
      else {
        expect(told).toBeGreaterThanOrEqual(item.sought.from)
        expect(told).toBeLessThanOrEqual(item.sought.to)
      }
      item.at = told
      item.sought = undefined
    }
    const shown = ({
      id,
      attempt,
      priority,
      group,
    }: Pick<Item, 'id' | 'attempt'> & { priority?: number | undefined; group?: string | undefined }) =>
      [id, attempt, priority, group] as const
    const byId = (a: readonly unknown[], b: readonly unknown[]) => String(a[0]).localeCompare(String(b[0]))
    expect(items.map(shown).sort(byId)).toEqual(expected.map(shown).sort(byId))
  }
  const count = (is: (item: Item) => boolean) => model.items.filter(is).length
  expect(await queue.stats()).toMatchObject({
    ready: count(({ state, at }) => state === 'ready' && at <= model.now),
    delayed: count(({ state, at }) => state === 'ready' && at > model.now),
    claimed: count(({ state }) => state === 'claimed'),
    dead: count(({ state }) => state === 'dead'),
    asleep: 0,
  })
}

export interface Offer extends Offered {
  readonly key: string | undefined
  readonly payload: number
  readonly delayMs: number
}

export const offers = (who: Who, { key, payload, delayMs, ...offered }: Offer) =>
  command(
    `${who} offers ${JSON.stringify({ key, payload, delayMs, ...offered })}`,
    ({ items }) => items.length < 30,
    async (model, real) => {
      const { priority, group, attempts, backoffMs } = offered
      const options = { priority, attempts, backoff: { first: backoffMs, factor: 2, most: 8 * MINUTE } }
      const ask = () =>
        queueOf(real, who).offer(payload, {
          ...options,
          ...(key !== undefined && { key }),
          ...(group !== undefined && { group }),
          ...(delayMs > 0 && { delay: delayMs }),
        })
      const known = key === undefined ? undefined : model.keys.get(key)
      if (known && known.payload !== payload) return refused(real, 'KEY_REUSED', ask)
      const before = await headOf(real)
      const { id, state, repeated } = await ask()
      expect(repeated).toBe(known !== undefined)
      if (known) {
        expect({ id, state }).toEqual({
          id: known.id,
          state: model.find(known.id)?.state ?? (model.cancelled.has(known.id) ? 'cancelled' : 'done'),
        })
        expect(await headOf(real)).toBe(before)
        return
      }
      if (key !== undefined) model.keys.set(key, { id, payload })
      model.offered(id, payload, offered, delayMs)
    },
  )

export const claims = (who: Who, leaseMs: number) =>
  command(
    `${who} claims for ${leaseMs / MINUTE} min`,
    () => true,
    async (model, real) => {
      const item = model.next()
      const { claim, ...rest } = await queueOf(real, who).tryClaim({ lease: leaseMs })
      if (!item) {
        expect({ claim, ...rest }).toMatchObject(model.why())
        return
      }
      expect(rest).toEqual({})
      expect(claim).toMatchObject({ id: item.id, payload: item.payload, attempt: item.attempt + 1, group: item.group })
      expect(claim?.attempt).toBeLessThanOrEqual(item.attempts)
      expect(claim?.fence).toBeGreaterThan(model.fence)
      model.fence = claim?.fence ?? 0
      real.claims.set(model.claimed(item, leaseMs), claim as Claim<number>)
    },
  )

/** Mostly one of those that something can come of, sometimes any. */
function pick<T>(nth: number, likely: readonly T[], all: readonly T[]): T {
  const pool = nth < 75 && likely.length > 0 ? likely : all
  return pool[nth % pool.length] as T
}

/** Something that a hand, whether it still holds its item or not, asks of its claim. */
const asks = (
  name: string,
  nth: number,
  ask: (claim: Claim<number>) => Promise<unknown>,
  then: (model: Model, hand: Hand) => unknown,
  settles = true,
) =>
  command(
    name,
    ({ hands }) => hands.length > 0,
    async (model, real) => {
      const hand = pick(
        nth,
        model.hands.filter(({ isOver }) => !isOver),
        model.hands,
      )
      const claim = real.claims.get(hand) as Claim<number>
      if (hand.isOver) return refused(real, hand.isLost ? 'FENCE_LOST' : 'CLAIM_SETTLED', () => ask(claim))
      if (!model.isCurrent(hand)) {
        await refused(real, 'FENCE_LOST', () => ask(claim))
        expect(claim.signal.aborted).toBe(true)
        model.refusals++
        hand.isOver = settles
        hand.isLost = settles
        return
      }
      expect(claim.signal.aborted).toBe(false)
      const answer = await ask(claim)
      expect(answer).toBe(then(model, hand))
      hand.isOver = settles
    },
  )

export const completes = (nth: number) =>
  asks(
    `hand ${nth} completes`,
    nth,
    (claim) => claim.complete(),
    (model, hand) => model.completed(hand),
  )

export const fails = (nth: number, final: boolean, delayMs: number | undefined) =>
  asks(
    `hand ${nth} fails${final ? ' for good' : ''}, to rest ${delayMs}`,
    nth,
    (claim) => claim.fail(new Error('no'), { final, ...(delayMs !== undefined && { delay: delayMs }) }),
    (model, hand) => {
      const { backoffMs, attempt } = hand.item
      // A rest is counted by the store's own clock, also where there is none.
      const answer = model.givenBack(hand, delayMs ?? Math.min(8 * MINUTE, backoffMs * 2 ** (attempt - 1)), final)
      if (hand.item.sought) hand.item.sought = { ...hand.item.sought, from: Math.max(hand.item.sought.from, model.now) }
      return answer
    },
  )

export const releases = (nth: number, delayMs: number) =>
  asks(
    `hand ${nth} gives back for ${delayMs}`,
    nth,
    (claim) => claim.release(delayMs > 0 ? { delay: delayMs } : {}),
    (model, hand) => void model.givenBack(hand, delayMs),
  )

export const renews = (nth: number, leaseMs: number | undefined) =>
  asks(
    `hand ${nth} renews for ${leaseMs}`,
    nth,
    (claim) => claim.renew(leaseMs),
    (model, hand) => {
      hand.item.renewed = model.now + (leaseMs ?? hand.leaseMs)
    },
    false,
  )

export const cancels = (who: Who, nth: number) =>
  command(
    `${who} cancels item ${nth}`,
    ({ known }) => known.length > 0,
    async (model, real) => {
      const there = model.items.map(({ id }) => id)
      const id = pick(nth, there, model.known)
      const item = model.find(id)
      if (!item) return refused(real, 'WORK_UNKNOWN', () => queueOf(real, who).cancel(id))
      expect(await queueOf(real, who).cancel(id, { reason: 'no' })).toMatchObject({ id, state: 'cancelled' })
      model.gone(item)
      model.cancelled.add(id)
    },
  )

export const redrives = (who: Who, nth: number) =>
  command(
    `${who} redrives item ${nth}`,
    ({ known }) => known.length > 0,
    async (model, real) => {
      const dead = model.items.filter(({ state }) => state === 'dead').map(({ id }) => id)
      const id = pick(nth, dead, model.known)
      const item = model.find(id)
      const ask = () => queueOf(real, who).redrive(id)
      if (!item) return refused(real, 'WORK_UNKNOWN', ask)
      if (item.state !== 'dead') return refused(real, 'WORK_NOT_DEAD', ask)
      expect(await ask()).toMatchObject([{ id, state: 'ready', attempt: 0 }])
      model.redriven(item)
    },
  )

export const redrivesAll = (who: Who) =>
  command(
    `${who} redrives everything`,
    () => true,
    async (model, real) => {
      const driven = await queueOf(real, who).redrive()
      const dead = model.items.filter(({ state }) => state === 'dead')
      expect(driven.map(({ id }) => id).sort()).toEqual(dead.map(({ id }) => id).sort())
      for (const { id } of driven) model.redriven(model.find(id) as Item)
    },
  )

export const passes = (ms: number) =>
  command(
    `${ms / MINUTE} min pass`,
    () => true,
    async (_, real) => {
      await real.pass(ms)
    },
  )

/** Everything that is left is worked off by one who holds on, so that what is lost would be missed. */
export async function workOff(model: Model, real: Real): Promise<void> {
  for (let rounds = 0; model.items.some(({ state }) => state !== 'dead'); rounds++) {
    expect(rounds).toBeLessThan(500)
    model.now = await real.now()
    await claims('ada', MINUTE).run(model, real)
    const hand = model.hands.at(-1)
    if (hand && model.isCurrent(hand) && hand.item.at > model.now) {
      await real.claims.get(hand)?.complete()
      model.completed(hand)
      hand.isOver = true
      await agree(model, real)
    } else await passes(30 * MINUTE).run(model, real)
  }
}
