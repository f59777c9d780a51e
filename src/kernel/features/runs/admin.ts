// Runs from outside: lists, reads, cancels and wakes them, and resolves effects with an unknown outcome.

import { InkError, refuse } from '../../../model/errors.ts'
import { optionalId, type SessionId, toId } from '../../../model/ids.ts'
import { checkKnown, checkText, filterOf, invalidOption, optionsOf, quoted } from '../../../model/options.ts'
import { decodeBody } from '../../../model/rows.ts'
import { isOver, RUN_STATES, type RunRow, type RunState, type Slot } from '../../../model/run.ts'
import type { Guard } from '../../../ports/commit.ts'
import { store } from '../../content/json-or-blob.ts'
import { errorData } from '../../failing/error-data.ts'
import { takeName } from '../../naming/names.ts'
import { checkReason } from '../../proof/erase.ts'
import { checkLast } from '../../reading/list-rows.ts'
import { sessionToRead } from '../../session/session-named.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { telling } from '../../writing/draft.ts'
import { part, plan, readRow } from '../../writing/execute.ts'
import { retryConflicts } from '../../writing/retry-conflicts.ts'
import { localRunsOf } from './node/local-runs.ts'
import { effectKey } from './program/effect-key.ts'
import { epochOf } from './program/inherited-checkpoint.ts'
import { wakePart } from './program/signal.ts'
import { failureOf, readRun } from './result.ts'
import { holdingsOf, run } from './run-decider.ts'
import { endingParts } from './writing/ending.ts'

export interface RunListOptions {
  readonly state?: RunState
  /** Only runs of the session with this id. */
  readonly session?: string
  readonly name?: string
  /** Only children of the run with this id. */
  readonly parent?: string
  /** The number of runs, newest first. The default is 50. */
  readonly last?: number
  readonly cursor?: string
}

export async function listRuns(
  scope: Scope,
  options: RunListOptions = {},
): Promise<{ readonly items: readonly RunRow[]; readonly cursor?: string }> {
  checkOpen(scope.engine)
  const { state, session: named, name, parent, last = 50, cursor, ...unknown } = filterOf(options, 'runs.list')
  checkKnown(unknown, 'a list of runs')
  checkText('name', name)
  checkLast(last, 'runs')
  if (state !== undefined && !RUN_STATES.includes(state)) throw refuse('RANGE_INVALID', { why: `unknown run state '${quoted(state)}'` })
  telling(scope, () => optionalId(parent))
  const session = named === undefined ? undefined : await sessionToRead(scope, named)
  const asked = { state, session, name, parent }
  const index = INDEXES.find(([, columns]) => sameNames(columns, asked))
  if (!index) throw refuse('RANGE_INVALID', { why: 'runs can be listed by state, session, session and state, name, or parent' })
  const page = await scope.engine.backend.rows.list(scope.tenant, 'runs', {
    index: index[0],
    equals: index[1].map((column) => asked[column] as string),
    limit: last,
    backwards: true,
    ...(cursor !== undefined && { cursor }),
  })
  return { items: page.rows.map((row) => decodeBody(row.body, row)), ...(page.cursor !== undefined && { cursor: page.cursor }) }
}

type Column = 'state' | 'session' | 'name' | 'parent'
const INDEXES: readonly (readonly [string, readonly Column[]])[] = [
  ['byBorn', []],
  ['byState', ['state']],
  ['bySession', ['session']],
  ['bySessionAndState', ['session', 'state']],
  ['byName', ['name']],
  ['byParent', ['parent']],
]

const sameNames = (columns: readonly Column[], asked: Readonly<Record<Column, unknown>>): boolean =>
  (Object.keys(asked) as Column[]).every((column) => (asked[column] !== undefined) === columns.includes(column))

export async function getRun(scope: Scope, id: string): Promise<RunRow | undefined> {
  checkOpen(scope.engine)
  return readRun(
    scope,
    telling(scope, () => toId<'run'>(id)),
  )
}

/** Reads a run. Throws RUN_UNKNOWN if there is none. */
export async function theRun(scope: Scope, given: string): Promise<RunRow> {
  const row = await getRun(scope, given)
  if (!row) throw refuse('RUN_UNKNOWN', { run: given, tenant: scope.tenant })
  return row
}

/** Cancels a run from outside: its holder can write nothing more. Its open questions are withdrawn in the same commit. */
export async function cancelRun(scope: Scope, given: string, reason: string): Promise<void> {
  checkOpen(scope.engine)
  const why = checkReason(reason)
  const id = telling(scope, () => toId<'run'>(given))
  await retryConflicts(scope, ['runs'], async () => {
    const seen = await readRow(scope, 'runs', id)
    const { body: row } = seen
    if (!row) throw refuse('RUN_UNKNOWN', { run: given, tenant: scope.tenant })
    const { session } = row
    const cancel = part(run, id, { verb: 'cancel', id, holdings: holdingsOf(row), reason: why }, { session, run: id, seen })
    const guard: Guard = { kind: 'row', table: 'runs', id, revision: seen.revision }
    const { rows } = await plan(scope, [cancel, ...(await endingParts(scope, row, 'cancelled'))], { guards: [guard] })
    localRunsOf(scope.engine).end(scope.tenant, id, failureOf(rows[0].body as RunRow))
  })
}

/** Cancels every run of a session that is being deleted. */
export async function cancelRuns(scope: Scope, session: SessionId, reason: string): Promise<void> {
  for (const state of RUN_STATES.filter((one) => !isOver(one))) {
    for (;;) {
      const { items } = await listRuns(scope, { session, state })
      for (const { id } of items) await cancelRun(scope, id, reason).catch(unlessOver)
      if (items.length === 0) break
    }
  }
}

/** Ignores a run that ended in between. */
function unlessOver(error: unknown): void {
  if (!(error instanceof InkError && error.code === 'RUN_FINISHED')) throw error
}

/** `branch`, `ordinal` and `epoch` select one of several waiting effects of this name, as the waits of the run list them. */
export type Resolution = ({ readonly result: unknown } | { readonly error: unknown }) & {
  readonly branch?: string
  readonly ordinal?: number
  /** The number of checkpoints before the effect. The default is the current epoch. */
  readonly epoch?: number
}

/** Records how an effect with an unknown outcome ended, as a person says. The run goes on with that. */
export async function resolveEffect(scope: Scope, given: string, name: string, resolution: Resolution): Promise<void> {
  const { id, session, state } = await theRun(scope, given)
  const effect = takeName(scope, name, 'an effect')
  const { branch, ordinal, epoch, ...settled } = optionsOf(resolution, 'resolve')
  const { result: _, error: _e, ...unknown } = settled as { readonly result?: unknown; readonly error?: unknown }
  checkKnown(unknown, 'a resolution')
  const about = { run: id, state, of: `the effect '${effect}'` }
  const told = 'error' in settled ? { error: errorData(scope, settled.error) } : { result: await store(scope, settled.result, about) }
  await plan(scope, [
    part(run, id, { verb: 'resolve', id, effect, only: { branch, ordinal, epoch }, told }, { session, run: id }),
    wakePart(scope, id, session),
  ])
}

/** The key that the work of an effect receives, for a person who asks the service about it. */
export async function keyOfEffect(scope: Scope, given: string, effect: Slot): Promise<string> {
  const { branch, name, ordinal, epoch, ...unknown } = optionsOf(effect, 'effect')
  checkKnown(unknown, 'an effect key')
  if (typeof branch !== 'string') throw invalidOption('branch', "a string; '' is the run itself", branch)
  if (!Number.isSafeInteger(ordinal) || ordinal < 1) throw invalidOption('ordinal', 'an integer ≥ 1', ordinal)
  if (epoch !== undefined && (!Number.isSafeInteger(epoch) || epoch < 0)) throw invalidOption('epoch', 'an integer ≥ 0', epoch)
  const taken = takeName(scope, name, 'an effect')
  const row = await theRun(scope, given)
  return effectKey(scope, row.id, { kind: 'effect', branch, name: taken, ordinal, epoch: epoch ?? (await epochOf(scope, row)) })
}

/** Wakes a run that waits for a person, so that a node takes it up again. */
export async function wakeRun(scope: Scope, given: string): Promise<void> {
  const { id, session, name, state } = await theRun(scope, given)
  if (isOver(state)) throw refuse('RUN_FINISHED', { run: id, name, state })
  await plan(scope, [wakePart(scope, id, session)])
}
