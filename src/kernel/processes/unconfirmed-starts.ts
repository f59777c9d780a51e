// Starts of which nobody answered this store whether they were saved. Nobody has begun what they were for, here or elsewhere: where one was saved after
// all, it is begun late.

import { InkError } from '../../model/errors.ts'
import type { ProcessId } from '../../model/process.ts'
import { readEvents } from '../read.ts'
import type { Engine, Scope } from '../scope.ts'

/** By tenant and process, the ids of the events of the commit. */
const unheard = new WeakMap<Engine, Map<string, readonly string[]>>()

const keyOf = ({ tenant }: Scope, id: ProcessId): string => `${tenant}/${id}`

export function startUnheard(scope: Scope, id: ProcessId, error: unknown): void {
  if (!(error instanceof InkError) || error.code !== 'OUTCOME_UNKNOWN') return
  const starts = unheard.get(scope.engine) ?? new Map<string, readonly string[]>()
  const before = starts.get(keyOf(scope, id)) ?? []
  unheard.set(scope.engine, starts.set(keyOf(scope, id), [...before, ...(error.details.ids as readonly string[])]))
}

/** It is begun, or over. */
export const startHeard = (scope: Scope, id: ProcessId): void => void unheard.get(scope.engine)?.delete(keyOf(scope, id))

/** Was it started by one of those, and by nothing else? */
export async function wasUnheard(scope: Scope, id: ProcessId): Promise<boolean> {
  const ids = unheard.get(scope.engine)?.get(keyOf(scope, id))
  if (!ids) return false
  for await (const event of readEvents(scope, { subject: id, types: ['process.started'], backwards: true, limit: 1 }))
    return ids.includes(event.id)
  return false
}
