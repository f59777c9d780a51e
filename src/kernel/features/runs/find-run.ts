// Finds a run by its name, in its session or in the session that it was forked from.

import { refuse } from '../../../model/errors.ts'
import type { RunId, SessionId } from '../../../model/ids.ts'
import { decodeBody } from '../../../model/rows.ts'
import type { RunRow } from '../../../model/run.ts'
import type { SessionRow } from '../../../model/session.ts'
import { nameHolder } from '../../naming/erased-names.ts'
import { lineageOf } from '../../reading/forked-history.ts'
import type { Scope } from '../../wiring/scope.ts'
import { type DoneRow, readRow } from '../../writing/execute.ts'
import { checkpointAt } from './program/inherited-checkpoint.ts'
import { type Opened, runName } from './run-decider.ts'

export async function runByName(scope: Scope, session: SessionId, name: string, key: string, first = false): Promise<RunRow | undefined> {
  return (await seenByName(scope, session, name, key, first))?.body
}

/** The run with its revision, for callers that change it next. */
export async function seenByName(
  scope: Scope,
  session: SessionId,
  name: string,
  key: string,
  first = false,
): Promise<DoneRow<RunRow> | undefined> {
  const id = await idByName(scope, session, name, key, first)
  return id && readRow(scope, 'runs', id)
}

const idByName = (scope: Scope, session: SessionId, name: string, key: string, first = false): Promise<RunId | undefined> =>
  nameHolder<'run'>(scope, 'run', runName(session, name, key), first)

/** Refuses a run whose opening was erased, because its task is unknown. */
export function checkKnownRun({ id, name }: Pick<RunRow, 'id' | 'name'>): void {
  if (name === '') throw refuse('REPLAY_DIVERGED', { run: id, diff: '- recorded: how it was opened, which was erased' })
}

/** In a forked session, a run continues from what the same run had recorded before the fork. */
export async function forkedFrom(
  scope: Scope,
  { relation }: Pick<SessionRow, 'relation'>,
  name: string,
  key: string,
  id: RunId,
): Promise<Pick<Opened, 'fork' | 'origin' | 'input' | 'checkpoint'>> {
  if (relation?.kind !== 'fork' || relation.at === undefined) return { origin: id }
  let at = relation.at
  // The nearest session with such a run counts: a fork in between may never have opened it.
  for (const { session, to } of (await lineageOf(scope, relation.session)).toReversed()) {
    at = Math.min(at, to)
    const found = await idByName(scope, session, name, key)
    const stored = found && (await scope.engine.backend.rows.get(scope.tenant, 'runs', found))
    // A run that was opened after the fork does not belong to the past.
    if (!stored || stored.born > at) continue
    const { id: run, origin, input } = decodeBody(stored.body, stored)
    const fork = { run, at }
    const checkpoint = await checkpointAt(scope, fork)
    return { origin, fork, ...(checkpoint && { checkpoint }), ...(input && { input }) }
  }
  return { origin: id }
}
