// A program that uses every method of a run, and an outbox that records its side effects: which, under which key and how often.

import type { Branch, EffectFunction, Run, Store } from '../../src/index.ts'
import { never } from './crashing-backend.ts'

export interface Sent {
  readonly name: string
  readonly attempt: number
  /** What the effect was given to hand on: the same after every crash. */
  readonly key: string
}

/** What was done outside, whether it was recorded or not. */
export class Outbox {
  readonly sent: Sent[] = []
  /** What was done again although a program had gone on with what came of it. */
  readonly again: string[] = []
  readonly #seen = new Set<string>()

  /** Done by a process that lives: a dead one does nothing. */
  does<T>(name: string, isDead: () => boolean, value: T): (context: { key: string; attempt: number }) => T | Promise<T> {
    return ({ key, attempt }) => {
      if (isDead()) return never()
      if (this.#seen.has(name)) this.again.push(name)
      this.sent.push({ name, attempt, key })
      return value
    }
  }

  /** The program goes on with this. */
  saw<T>(name: string, value: T): T {
    this.#seen.add(name)
    return value
  }
}

export async function fullProgram(run: Run, outbox: Outbox, isDead: () => boolean): Promise<unknown> {
  const effect = async <T>(branch: Branch, name: string, value: T) =>
    outbox.saw(name, await branch.effect(name, outbox.does(name, isDead, value) as EffectFunction<T>))
  const order = await effect(run, 'order', { id: 4711 })
  const flaky = await run.effect(
    'flaky',
    async (context) => {
      await outbox.does('flaky', isDead, 0)(context)
      if (context.attempt < 2) throw new Error('not yet')
      return 'at last'
    },
    { retry: { attempts: 3, backoff: 1 } },
  )
  const charged = await run.effect(
    'charge',
    async (context) => {
      await outbox.does('charge', isDead, 0)(context)
      // It may have happened from here on, and then a person says how it ended.
      return outbox.saw('charge', 'charged')
    },
    { ifUnknown: 'ask' },
  )
  const half = await run.begin<string>('model')
  const text = half.done ? half.result : await half.settle(await outbox.does('model', isDead, 'hello')({ key: half.key, attempt: 1 }))
  outbox.saw('model', text)
  await run.sleep(3)
  const go = await run.signal('go')
  await run.approval('ship it', { order })
  const child = await run.child('delivery', { input: order })
  const [left, right] = await run.all({
    left: async (r) => [await effect(r, 'left one', 'l1'), await effect(r, 'left two', 'l2')],
    right: (r) =>
      r.race({
        slow: (q) => q.signal('nobody sends'),
        one: async (q) => {
          await q.sleep(1)
          return effect(q, 'right one', 'r1')
        },
      }),
  })
  const won = await run.race({
    slow: (r) => r.sleep('30d'),
    fast: (r) => effect(r, 'fast', 'fast'),
  })
  await run.usage({ model: 'm', source: 'turn', inputTokens: 812, costUsd: 0.004 })
  await run.append('plan.changed', { steps: 3 })
  return { order, flaky, charged, text, go, left, right, won, delivery: await child.result() }
}

export const deliveryProgram = (run: Run, order: { id: number }, outbox: Outbox, isDead: () => boolean): Promise<unknown> =>
  run.effect('pack', outbox.does('pack', isDead, { packed: order.id }))

/** Answers for users until it is stopped: sends the signal the run waits for, resolves unknown effects, approves requests. */
export function answerRuns(store: Store, session: string): () => Promise<void> {
  const stopping = new AbortController()
  const loop = (async () => {
    for await (const { type, data, subject, run } of store.events({ live: true, signal: stopping.signal })) {
      const { name = '', kind } = (data ?? {}) as { name?: string; kind?: string }
      if (type === 'wait.began' && name === 'go') await store.signal(session, 'go', { text: 'now' }, { key: 'once' })
      if (type === 'wait.began' && kind === 'unknown') await store.runs.resolve(run ?? '', name, { result: 'charged' })
      if (type === 'approval.requested') await store.approvals.decide(subject ?? '', { decision: 'approve' })
    }
  })()
  return async () => {
    stopping.abort()
    await loop
  }
}
