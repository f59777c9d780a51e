// Wraps a backend so that it fails on purpose at the calls that `when` selects (the first is call 1). It imitates a network, a disk or
// another process.

import { setTimeout as wait } from 'node:timers/promises'
import type { Backend } from '../ports/backend.ts'
import type { Commit, Outcome } from '../ports/commit.ts'

export type When = (call: number) => boolean

type CommitCall = (batch: readonly Commit[]) => Promise<readonly Outcome[]>

function around(backend: Backend, when: When, faulty: CommitCall): Backend {
  let call = 0
  return { ...backend, commit: (batch) => (when(++call) ? faulty(batch) : backend.commit(batch)) }
}

/** Fails before anything is saved, which the caller cannot know. */
export const failBefore = (backend: Backend, when: When): Backend =>
  around(backend, when, async () => {
    throw new Error('the connection broke before the batch arrived')
  })

/** Saves, then loses the reply. */
export const failAfter = (backend: Backend, when: When): Backend =>
  around(backend, when, async (batch) => {
    await backend.commit(batch)
    throw new Error('the connection broke before the reply came')
  })

/** Never answers; with `saved` the batch is saved all the same. */
export const hang = (backend: Backend, when: When, { saved = false }: { readonly saved?: boolean } = {}): Backend =>
  around(backend, when, async (batch) => {
    if (saved) await backend.commit(batch)
    return new Promise<never>(() => {})
  })

/** Delivers the batch twice; the caller gets the first answer. */
export const repeat = (backend: Backend, when: When): Backend =>
  around(backend, when, async (batch) => {
    const outcomes = await backend.commit(batch)
    await backend.commit(batch)
    return outcomes
  })

/** Delivers the batch late, when the caller may have given up and sent it again. */
export const late = (backend: Backend, when: When, ms: number): Backend =>
  around(backend, when, async (batch) => {
    await wait(ms)
    return backend.commit(batch)
  })
