// Ids that follow from a process, and lookups by name.

import { refuse } from '../../../model/errors.ts'
import { type Id, isId, type SessionId } from '../../../model/ids.ts'
import type { ProcessId, ProcessRow } from '../../../model/process.ts'
import { derivedId } from '../../naming/derived-id.ts'
import { nameHolder } from '../../naming/erased-names.ts'
import { takeName } from '../../naming/names.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { readRow } from '../../writing/execute.ts'

const derived = <Name extends string>({ engine }: Scope, ...parts: readonly (string | number)[]): Id<Name> =>
  derivedId<Name>({ engine }, `process/${parts.join('\n')}`)

export const eventId = (scope: Scope, id: ProcessId, number: number): Id<'processEvent'> => derived(scope, 'event', id, number)

/** The lease of the process. Its holder may write. */
export const processLease = (scope: Scope, id: ProcessId): Id<'lease'> => derived(scope, 'lease', id)

/** The work item by which a worker finds a process to run. */
export const runItem = (scope: Scope, id: ProcessId): Id<'work'> => derived(scope, 'run', id)

/** The work item of a request to abandon the process. */
export const abandonItem = (scope: Scope, id: ProcessId): Id<'work'> => derived(scope, 'abandon', id)

export const grantId = (scope: Scope, session: SessionId, id: ProcessId): Id<'grant'> => derived(scope, 'grant', session, id)

/** The id of a wake-up. Wake-ups that count as one have the same id. */
export const wakeId = (scope: Scope, session: SessionId, id: ProcessId, dedupe: string): Id<'wake'> =>
  derived(scope, 'wake', session, id, dedupe)

export async function readProcess(scope: Scope, id: ProcessId): Promise<ProcessRow | undefined> {
  return (await readRow(scope, 'processes', id)).body
}

export async function processByName(scope: Scope, name: string): Promise<ProcessRow | undefined> {
  const id = await nameHolder<'process'>(scope, 'process', name)
  return id && readProcess(scope, id)
}

/** Finds a process by its name or its id. */
export async function findProcess(scope: Scope, given: string): Promise<ProcessRow | undefined> {
  checkOpen(scope.engine)
  const name = takeName(scope, given, 'a process')
  return (await processByName(scope, name)) ?? (isId(given) ? readProcess(scope, given as ProcessId) : undefined)
}

export async function thatProcess(scope: Scope, given: string): Promise<ProcessRow> {
  const row = await findProcess(scope, given)
  if (!row) throw refuse('PROCESS_UNKNOWN', { process: takeName(scope, given, 'a process'), tenant: scope.tenant })
  return row
}
