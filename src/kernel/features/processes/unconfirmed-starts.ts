// Starts with an unknown outcome: the backend did not say whether they were saved. No handler has begun yet, here or elsewhere. If the start was
// saved after all, the handler begins late.

import { InkError } from '../../../model/errors.ts'
import type { ProcessId } from '../../../model/process.ts'
import { readEvents } from '../../reading/read-events.ts'
import type { Engine, Scope } from '../../wiring/scope.ts'

/** The ids of the events of the commit, by tenant and process. */
const unconfirmed = new WeakMap<Engine, Map<string, readonly string[]>>()

const keyOf = ({ tenant }: Scope, id: ProcessId): string => `${tenant}/${id}`

export function noteUnconfirmed(scope: Scope, id: ProcessId, error: unknown): void {
  if (!(error instanceof InkError) || error.code !== 'OUTCOME_UNKNOWN') return
  const starts = unconfirmed.get(scope.engine) ?? new Map<string, readonly string[]>()
  const before = starts.get(keyOf(scope, id)) ?? []
  unconfirmed.set(scope.engine, starts.set(keyOf(scope, id), [...before, ...(error.details.ids as readonly string[])]))
}

/** Forgets a start: the process has begun, or is over. */
export const forgetUnconfirmed = (scope: Scope, id: ProcessId): void => void unconfirmed.get(scope.engine)?.delete(keyOf(scope, id))

/** Whether one of these commits started the process. */
export async function wasUnconfirmed(scope: Scope, id: ProcessId): Promise<boolean> {
  const ids = unconfirmed.get(scope.engine)?.get(keyOf(scope, id))
  if (!ids) return false
  for await (const event of readEvents(scope, { subject: id, types: ['process.started'], backwards: true, limit: 1 }))
    return ids.includes(event.id)
  return false
}
