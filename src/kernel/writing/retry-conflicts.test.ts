// Retrying conflicts: which errors are retried, how often, and that every attempt decides on fresh rows.

import { expect, test } from 'vitest'
import { codeOf, later } from '../../../test/support/engines.ts'
import { memoryBackend } from '../../backends/memory/backend.ts'
import { nodeEnvironment } from '../../environment.ts'
import { refuse } from '../../model/errors.ts'
import { MAIN } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import type { Environment } from '../../ports/environment.ts'
import { createEngine } from '../engine.ts'
import { openNamed } from '../features/sessions/open-session.ts'
import { session as decider } from '../features/sessions/session-decider.ts'
import type { Scope } from '../wiring/scope.ts'
import { execute } from './execute.ts'
import { readRow } from './part.ts'
import { pause, retryConflicts } from './retry-conflicts.ts'

async function openScope(environment: Environment = nodeEnvironment): Promise<Scope> {
  const backend = memoryBackend(environment)
  later(() => backend.close())
  const engine = await createEngine(
    backend,
    environment,
    {},
    [{ name: 'sessions', deciders: [decider], onForked: 'not forked here', refs: 'no content' }],
    new AbortController().signal,
    () => {},
  )
  return { engine, tenant: MAIN, actor: '' }
}

/** A clock that the test moves, and pauses that take no time. */
const standing = (time: { readonly now: number }) => ({
  clock: { ...nodeEnvironment.clock, monotonic: () => time.now },
  timer: { ...nodeEnvironment.timer, after: async () => {} },
})

const conflict = (table: string) => refuse('CONFLICT', { table, id: 'x', tries: 1 })

/** Fails with these errors, one per attempt, and then succeeds. */
function failing(...errors: readonly unknown[]): { readonly attempts: number[]; readonly write: (attempt: number) => Promise<string> } {
  const attempts: number[] = []
  const write = async (attempt: number) => {
    attempts.push(attempt)
    if (attempt <= errors.length) throw errors[attempt - 1]
    return 'written'
  }
  return { attempts, write }
}

test('a conflict at one of the tables is retried until the write succeeds', async () => {
  const { attempts, write } = failing(conflict('jobs'), conflict('work'))
  expect(await retryConflicts(await openScope(), ['jobs', 'work'], write)).toBe('written')
  expect(attempts).toEqual([1, 2, 3])
})

test('a conflict at another table is thrown at once', async () => {
  const { attempts, write } = failing(conflict('names'))
  expect(await codeOf(retryConflicts(await openScope(), ['jobs'], write))).toBe('CONFLICT')
  expect(attempts).toEqual([1])
})

test('an error that is no conflict is thrown at once', async () => {
  const { attempts, write } = failing(new Error('broken'))
  await expect(retryConflicts(await openScope(), ['jobs'], write)).rejects.toThrow('broken')
  expect(attempts).toEqual([1])
})

test('a writer that loses every attempt is retried until its time is over, and then throws the last conflict', async () => {
  const time = { now: 0 }
  const scope = await openScope({ ...nodeEnvironment, ...standing(time) })
  const attempts: unknown[] = []
  const lose = async () => {
    time.now += limits.conflictMs / 50
    attempts.push(conflict('jobs'))
    throw attempts.at(-1)
  }
  const thrown = await retryConflicts(scope, ['jobs'], lose).catch((error: unknown) => error)
  expect(attempts.length).toBe(50)
  expect(thrown).toBe(attempts.at(-1))
})

test('a writer on a slow machine has all its attempts, unless they take twice the time', async () => {
  const time = { now: 0 }
  const scope = await openScope({ ...nodeEnvironment, ...standing(time) })
  const attemptsOf = async (ms: number): Promise<number> => {
    let attempts = 0
    const lose = async () => {
      time.now += ms
      attempts++
      throw conflict('jobs')
    }
    expect(await codeOf(retryConflicts(scope, ['jobs'], lose))).toBe('CONFLICT')
    return attempts
  }
  expect(await attemptsOf(limits.conflictMs / 10)).toBe(limits.conflictRetries)
  expect(await attemptsOf(limits.conflictMs)).toBe(2)
})

test('a writer that lost often comes back sooner than one that lost a few times', async () => {
  const waited: number[] = []
  const entropy = { bytes: (count: number) => new Uint8Array(count).fill(255) }
  const timer = { ...nodeEnvironment.timer, after: async (ms: number) => void waited.push(ms) }
  const scope = await openScope({ ...nodeEnvironment, entropy, timer })
  for (let attempt = 1; attempt <= 20; attempt++) await pause(scope, attempt)
  expect(waited.slice(0, 9)).toEqual([2, 4, 8, 16, 32, 64, 64, 64, 64])
  expect(waited.slice(9)).toEqual([32, 16, 8, 4, 2, 2, 2, 2, 2, 2, 2])
})

test('a function decides which errors are retried', async () => {
  const { attempts, write } = failing(new Error('again'), new Error('broken'))
  const again = async (error: unknown) => (error as Error).message === 'again'
  await expect(retryConflicts(await openScope(), again, write)).rejects.toThrow('broken')
  expect(attempts).toEqual([1, 2])
})

test('two writers that read the same row both succeed, one of them on its second attempt', async () => {
  const scope = await openScope()
  const { row } = await openNamed(scope, 'k')
  const { id } = row
  let [met, count] = [0, 0]
  const both = Promise.withResolvers<void>()
  const append = (letter: string) => async (attempt: number) => {
    const { body, revision } = await readRow(scope, 'sessions', id)
    // Both have read before one writes.
    if (attempt === 1 && ++met === 2) both.resolve()
    if (attempt === 1) await both.promise
    const guards = [{ kind: 'row', table: 'sessions', id, revision } as const]
    await execute(scope, decider, id, { verb: 'rename', id, title: `${body?.title ?? ''}${letter}` }, { session: id, guards })
    count += attempt
  }
  await Promise.all(['a', 'b'].map((letter) => retryConflicts(scope, ['sessions'], append(letter))))
  expect((await readRow(scope, 'sessions', id)).body?.title).toMatch(/^(ab|ba)$/)
  expect(count).toBe(3)
})

test('a conflict counts its tries in the singular and in the plural', () => {
  expect(conflict('jobs').message).toContain('(1 try)')
  expect(refuse('CONFLICT', { table: 'jobs', id: 'x', tries: 2 }).message).toContain('(2 tries)')
})
