// Stores over backends that are changed on purpose, and the few things that are asked of them.

import { type OfferOptions, open, type Store, type StoreOptions } from '../../src/index.ts'
import type { Backend } from '../../src/ports/backend.ts'
import type { Commit, Outcome } from '../../src/ports/commit.ts'
import { later } from '../support/engines.ts'

export async function openOn(backend: Backend, options: Partial<StoreOptions> = {}): Promise<Store> {
  const store = await open({ ...options, backend })
  later(() => store.close())
  return store
}

type CommitCall = Backend['commit']

export const committing = (backend: Backend, around: (batch: readonly Commit[], go: CommitCall) => ReturnType<CommitCall>): Backend => ({
  ...backend,
  commit: (batch) => around(batch, (some) => backend.commit(some)),
})

export const tells = (batch: readonly Commit[], ...types: readonly string[]): boolean =>
  batch.some(({ events }) => types.every((type) => events.some((event) => event.type === type)))

export const refusing = (batch: readonly Commit[]): readonly Outcome[] =>
  batch.map(() => ({ ok: false, refused: 'failed', found: 'the disk is full', now: Date.now() }))

export const typesOf = async (store: Store): Promise<readonly string[]> => {
  const types: string[] = []
  for await (const { type } of store.events()) types.push(type)
  return types
}

export const moments = (ms = 50): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** So many numbers in the queue `q`, from 0, in their order. */
export async function fill(store: Store, count: number, options: OfferOptions = {}): Promise<void> {
  const queue = store.queue<number>('q')
  // The first tells what time it is for the store, and so the others have an order.
  await queue.offer(0, options)
  await Promise.all(Array.from({ length: count - 1 }, (_, n) => queue.offer(n + 1, options)))
}

/** One by one, so that what is refused takes no other commit with it. */
export const refusingOnly = (backend: Backend, isFaulty: (commit: Commit) => boolean): Backend =>
  committing(backend, async (batch, go) => {
    const outcomes: Outcome[] = []
    for (const commit of batch) outcomes.push(...(isFaulty(commit) ? refusing([commit]) : await go([commit])))
    return outcomes
  })
