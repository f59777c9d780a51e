// Retrying conflicts: which errors are retried, how often, and that every attempt decides on fresh rows.

import { expect, test } from 'vitest'
import { codeOf, later } from '../../test/support/engines.ts'
import { memoryBackend } from '../backends/memory/backend.ts'
import { nodeEnvironment } from '../environment.ts'
import { refuse } from '../model/errors.ts'
import { MAIN } from '../model/ids.ts'
import { limits } from '../model/limits.ts'
import { createEngine } from './engine.ts'
import { execute, readRow } from './execute.ts'
import { retryConflicts } from './retry-conflicts.ts'
import type { Scope } from './scope.ts'
import { openSession } from './sessions/open-session.ts'
import { session as decider } from './sessions/session-decider.ts'

async function openScope(): Promise<Scope> {
  const backend = memoryBackend(nodeEnvironment)
  later(() => backend.close())
  const engine = await createEngine(
    backend,
    nodeEnvironment,
    {},
    [{ name: 'sessions', deciders: [decider] }],
    new AbortController().signal,
    () => {},
  )
  return { engine, tenant: MAIN, actor: '' }
}

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

test('a writer that loses every attempt throws the last conflict after the limit of retries', async () => {
  const errors = Array.from({ length: limits.conflictRetries + 1 }, () => conflict('jobs'))
  const { attempts, write } = failing(...errors)
  await expect(retryConflicts(await openScope(), ['jobs'], write)).rejects.toBe(errors[limits.conflictRetries - 1])
  expect(attempts.length).toBe(limits.conflictRetries)
})

test('a function decides which errors are retried', async () => {
  const { attempts, write } = failing(new Error('again'), new Error('broken'))
  const again = async (error: unknown) => (error as Error).message === 'again'
  await expect(retryConflicts(await openScope(), again, write)).rejects.toThrow('broken')
  expect(attempts).toEqual([1, 2])
})

test('two writers that read the same row both succeed, one of them on its second attempt', async () => {
  const scope = await openScope()
  const { row } = await openSession(scope, 'k')
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
