// Group commit of one canvas: updates that wait while another one is written are written together, each as a version of its own.

import { limits } from '../../../model/limits.ts'
import { enginePart } from '../../wiring/per-engine.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { isDefinite } from '../../writing/commit-outcome.ts'
import { type CanvasPlace, mutexKey, type Request, type Told, updateTogether } from './update.ts'

interface Waiting extends Request {
  readonly resolve: (told: { readonly version: number }) => void
  readonly reject: (error: unknown) => void
}

/** The callers who wait, by canvas and actor: one commit has one actor. */
const groupsOf = enginePart(() => new Map<string, Waiting[]>())

export function updateInGroup(scope: Scope, place: CanvasPlace, request: Request): Promise<{ readonly version: number }> {
  checkOpen(scope.engine)
  const groups = groupsOf(scope.engine)
  const key = `${scope.actor} ${mutexKey(scope, place)}`
  return new Promise((resolve, reject) => {
    const one = { ...request, resolve, reject }
    const group = groups.get(key)
    if (group) {
      group.push(one)
      return
    }
    groups.set(key, [one])
    void drain(scope, place, key)
  })
}

async function drain(scope: Scope, place: CanvasPlace, key: string): Promise<void> {
  const groups = groupsOf(scope.engine)
  const group = groups.get(key) as Waiting[]
  while (group.length > 0) {
    const end = await scope.engine.rowMutex.take([mutexKey(scope, place)])
    try {
      await write(scope, place, group)
    } finally {
      end()
    }
  }
  groups.delete(key)
}

async function write(scope: Scope, place: CanvasPlace, group: Waiting[]): Promise<void> {
  const batch = group.slice(0, limits.canvasBatch)
  try {
    settle(group, await updateTogether(scope, place, batch))
  } catch (error) {
    // A rate that all of them together exceed may have room for some. A commit that may have been saved is not made again.
    const again = batch.length > 1 && isDefinite(error)
    if (!again) for (const _ of batch) settle(group, [{ error }])
    else for (const one of batch) settle(group, await updateTogether(scope, place, [one]).catch((failure: unknown) => [{ error: failure }]))
  }
}

/** Answers the first callers of the group, one for each answer. */
function settle(group: Waiting[], told: readonly Told[]): void {
  for (const [i, one] of group.splice(0, told.length).entries()) {
    const answer = told[i] as Told
    if ('error' in answer) one.reject(answer.error)
    else one.resolve(answer)
  }
}
