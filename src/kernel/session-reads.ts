// Reads through the handle of a session. A handle outlives its session, and without a look a deleted session would read as an empty one.

import { InkError, refuse } from '../model/errors.ts'
import type { SessionId } from '../model/ids.ts'
import type { Scope } from './scope.ts'
import { readSessionRow } from './session-row.ts'

/**
 * Makes these methods refuse a deleted session with SESSION_DELETED. Only a read that finds nothing looks at the session, so that what is there
 * costs no read more.
 */
export function sessionReads<T extends object>(scope: Scope, session: SessionId, members: T, names: readonly (keyof T & string)[]): T {
  for (const name of names) {
    const read = members[name] as (...args: unknown[]) => unknown
    const value = (...given: readonly unknown[]): unknown => {
      const answer = read.apply(members, [...given])
      return isGenerator(answer) ? lookedAfter(scope, session, answer) : found(scope, session, answer)
    }
    // A method of a class stays out of what a console shows.
    Object.defineProperty(members, name, { value, configurable: true, writable: true })
  }
  return members
}

/** The same for one read. */
export async function found<T>(scope: Scope, session: SessionId, read: T | Promise<T>): Promise<T> {
  try {
    const answer = await read
    if (isNothing(answer)) await checkThere(scope, session)
    return answer
  } catch (error) {
    if (error instanceof InkError && error.kind === 'missing') await checkThere(scope, session)
    throw error
  }
}

function lookedAfter<T>(scope: Scope, session: SessionId, items: AsyncGenerator<T, void, undefined>): AsyncGenerator<T, void, undefined> {
  const next = items.next.bind(items)
  let any = false
  items.next = async () => {
    // Its first step says whether there is anything.
    const step = any ? await next() : await found(scope, session, next().then(asFound))
    any = true
    return step ?? { done: true, value: undefined }
  }
  return items
}

/** Throws SESSION_DELETED for a session that was deleted. */
export async function checkThere(scope: Scope, session: SessionId): Promise<void> {
  // A deleted session stays deleted, so what this node remembers is enough.
  const seen = scope.engine.sessions.get(scope.tenant, session)?.state
  const state = seen === 'deleted' ? seen : (await readSessionRow(scope, session)).body?.state
  if (state === 'deleted') throw refuse('SESSION_DELETED', { session })
}

const asFound = <Step extends IteratorResult<unknown, void>>(step: Step): Step | undefined => (step.done ? undefined : step)

function isNothing(answer: unknown): boolean {
  if (answer === undefined || answer === false) return true
  if (Array.isArray(answer)) return answer.length === 0
  return typeof answer === 'object' && answer !== null && 'items' in answer && isNothing(answer.items)
}

const isGenerator = (answer: unknown): answer is AsyncGenerator<unknown, void, undefined> =>
  typeof answer === 'object' && answer !== null && Symbol.asyncIterator in answer && 'next' in answer
