// Names that programs give to runs, effects, signals and branches, and ids that follow from other ids.

import { refuse } from '../model/errors.ts'
import type { Id, RunId, SessionId } from '../model/ids.ts'
import { limits } from '../model/limits.ts'
import { derivedId } from './derived-id.ts'
import type { Scope } from './scope.ts'

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const CONTROL = /[\u0000-\u001f\u007f]/

/** As it is recorded: masked where it holds a secret, which it does the same way every time. */
export function takeName(scope: Scope, name: unknown, of: string): string {
  const usable = typeof name === 'string' && name !== '' && name.length <= limits.runNameChars && name.isWellFormed() && !CONTROL.test(name)
  if (!usable) throw refuse('RUN_NAME_INVALID', { name: String(name).slice(0, 80), of, limit: limits.runNameChars })
  return scope.engine.redactor?.text(name) ?? name
}

/** A branch is part of a path. */
export function takeBranch(scope: Scope, name: string): string {
  const taken = takeName(scope, name, 'a branch')
  if (taken.includes('/')) throw refuse('RUN_NAME_INVALID', { name: taken, of: 'a branch (no slashes)', limit: limits.runNameChars })
  return taken
}

/** The same wherever it is made. */
export const derived = <Name extends string>(scope: Scope, kind: string, id: Id): Id<Name> => derivedId<Name>(scope, `${kind}/${id}`)

/** The lease under which a run writes: its session's, or its own. */
export const leaseId = (scope: Scope, session: SessionId, run: RunId, parallel = false): Id<'lease'> =>
  derived(scope, 'lease', parallel ? run : session)

/** The item by which a run waits for somebody to take it up. */
export const workId = (scope: Scope, run: RunId): Id<'work'> => derived(scope, 'work', run)
