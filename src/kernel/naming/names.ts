// Names and keys that callers choose, as they are stored: checked, and with secrets masked. Also the ids derived from other ids.

import { refuse } from '../../model/errors.ts'
import type { Id, RunId, SessionId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import { checkKey, quoted } from '../../model/options.ts'
import type { Scope } from '../wiring/scope.ts'
import { derivedId } from './derived-id.ts'

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const CONTROL = /[\u0000-\u001f\u007f]/

/** A name as it is recorded: masked the same way every time. */
export function takeName(scope: Scope, name: unknown, of: string): string {
  checkName(name, of)
  return scope.engine.redactor?.text(name) ?? name
}

export function checkName(name: unknown, of: string): asserts name is string {
  const usable = typeof name === 'string' && name !== '' && name.length <= limits.runNameChars && name.isWellFormed() && !CONTROL.test(name)
  if (!usable) throw refuse('RUN_NAME_INVALID', { name: quoted(name).slice(0, 80), of, limit: limits.runNameChars })
}

/** A key that holds a secret is stored and looked up masked. */
export function maskKey(scope: Scope, key: string): string {
  checkKey(key)
  return scope.engine.redactor?.text(key) ?? key
}

/** A branch name is part of a path, so it holds no slash. */
export function takeBranch(scope: Scope, name: string): string {
  const taken = takeName(scope, name, 'a branch')
  if (taken.includes('/')) throw refuse('RUN_NAME_INVALID', { name: taken, of: 'a branch (no slashes)', limit: limits.runNameChars })
  return taken
}

/** Every node derives the same id. */
export const derived = <Name extends string>(scope: Scope, kind: string, id: Id): Id<Name> => derivedId<Name>(scope, `${kind}/${id}`)

/** The lease under which a run writes: its session's lease, or its own if it is parallel. */
export const leaseId = (scope: Scope, session: SessionId, run: RunId, parallel = false): Id<'lease'> =>
  parallel ? derived(scope, 'lease', run) : sessionLeaseId(scope, session)

/** The lease of a session, which its runs share. */
export const sessionLeaseId = (scope: Scope, session: SessionId): Id<'lease'> => derived(scope, 'lease', session)

/** The work item by which a queued run waits for a node. */
export const workId = (scope: Scope, run: RunId): Id<'work'> => derived(scope, 'work', run)

/** The head of a session's conversation. */
export const headId = (scope: Scope, session: SessionId): Id<'head'> => derived(scope, 'head', session)
