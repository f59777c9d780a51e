// Calls through the handle of a session that was deleted. A handle outlives its session, and without a look a deleted session would read as an
// empty one.

import { type ErrorKind, InkError, refuse } from '../../model/errors.ts'
import type { SessionId } from '../../model/ids.ts'
import type { Scope } from '../wiring/scope.ts'
import { readSessionRow } from './session-row.ts'

export interface MembersToRefuse<T> {
  readonly reads: readonly (keyof T & string)[]
  /** Calls that change what is there. Their commit is guarded by the session, but they find nothing to commit in a deleted one. */
  readonly writes?: readonly (keyof T & string)[]
}

/**
 * Makes these methods refuse a deleted session with SESSION_DELETED. Only a call that finds nothing looks at the session, so that what is there
 * costs no read more.
 */
export function refuseDeleted<T extends object>(
  scope: Scope,
  session: SessionId,
  members: T,
  { reads, writes = [] }: MembersToRefuse<T>,
): T {
  const wrap = (name: keyof T & string, check: typeof found): void => {
    const call = members[name] as (...args: unknown[]) => unknown
    const value = (...given: readonly unknown[]): unknown => {
      const answer = call.apply(members, [...given])
      return isGenerator(answer) ? lookedAfter(scope, session, answer) : check(scope, session, answer)
    }
    // A method of a class stays out of what a console shows.
    Object.defineProperty(members, name, { value, configurable: true, writable: true })
  }
  for (const name of reads) wrap(name, found)
  for (const name of writes) wrap(name, changed)
  return members
}

/** The same for one read. */
export const found = <T>(scope: Scope, session: SessionId, read: T | Promise<T>): Promise<T> =>
  checked(scope, session, read, isNothing, ['missing'])

/** A write may answer nothing because it has nothing to say. */
const changed = <T>(scope: Scope, session: SessionId, write: T | Promise<T>): Promise<T> =>
  checked(scope, session, write, (answer) => answer !== undefined && isNothing(answer), ['missing', 'invalid', 'conflict'])

async function checked<T>(
  scope: Scope,
  session: SessionId,
  call: T | Promise<T>,
  isEmpty: (answer: T) => boolean,
  kinds: readonly ErrorKind[],
): Promise<T> {
  try {
    const answer = await call
    if (isEmpty(answer)) await checkThere(scope, session)
    return answer
  } catch (error) {
    if (error instanceof InkError && kinds.includes(error.kind)) await checkThere(scope, session)
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

/** Nothing, an empty list, and a report that counts nothing. */
function isNothing(answer: unknown): boolean {
  if (answer === undefined || answer === false || answer === 0) return true
  if (Array.isArray(answer)) return answer.length === 0
  if (typeof answer !== 'object' || answer === null || Object.getPrototypeOf(answer) !== Object.prototype) return false
  const members = Object.values(answer)
  return members.length > 0 && members.every(isNothing)
}

const isGenerator = (answer: unknown): answer is AsyncGenerator<unknown, void, undefined> =>
  typeof answer === 'object' && answer !== null && Symbol.asyncIterator in answer && 'next' in answer
