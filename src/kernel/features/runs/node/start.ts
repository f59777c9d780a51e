// Starts a run for a node with a handler: the run and its work item are written in one commit.

import { canonical } from '../../../../model/canonical.ts'
import { refuse } from '../../../../model/errors.ts'
import type { RunId, SessionId } from '../../../../model/ids.ts'
import { checkFlag, checkKnown, invalidOption, optionsOf } from '../../../../model/options.ts'
import type { RunRow, RunState } from '../../../../model/run.ts'
import type { SessionRow } from '../../../../model/session.ts'
import { type Duration, milliseconds } from '../../../../model/time.ts'
import { runQueue } from '../../../../model/work.ts'
import { checkValue, store } from '../../../content/json-or-blob.ts'
import { WriteTime } from '../../../measuring/write-time.ts'
import { maskKey, workId } from '../../../naming/names.ts'
import { storeNow } from '../../../time/store-time.ts'
import { fitted } from '../../../wiring/schema.ts'
import { checkOpen, type Scope } from '../../../wiring/scope.ts'
import { isConflict } from '../../../writing/commit-outcome.ts'
import { NOT_THERE, part, plan } from '../../../writing/execute.ts'
import { openNamed } from '../../sessions/open-session.ts'
import { localNodesOf } from '../../work/local-nodes.ts'
import { unhandledWatchOf } from '../../work/unhandled.ts'
import { work } from '../../work/work-decider.ts'
import { cancelRun, theRun } from '../admin.ts'
import { forkedFrom, runByName } from '../find-run.ts'
import { checkpointGuards } from '../program/inherited-checkpoint.ts'
import { type Program, takeProgram, type WithInput } from '../program.ts'
import { readRun, resultOf } from '../result.ts'
import { run } from '../run-decider.ts'

export type StartOptions<P extends string | Program = string> = StartTerms & WithInput<P>

export interface StartTerms {
  /** The session: by its key, opened or created, or by its id. */
  readonly session: string
  /** Idempotency key: the same key returns the same run, and another input with it is refused. The default is a new run. */
  readonly key?: string
  /** Runs in parallel to other runs of the session, not after them. */
  readonly parallel?: boolean
  /** Delay before the run becomes due. */
  readonly delay?: Duration
}

export interface RunHandle<Result = unknown> {
  readonly id: RunId
  readonly session: SessionId
  readonly name: string
  state(): Promise<RunState>
  /** Waits for the result. Throws RUN_FAILED or RUN_CANCELLED if there is none. */
  result<T extends Result = Result>(options?: { readonly signal?: AbortSignal }): Promise<T>
  cancel(reason: string): Promise<void>
}

export async function startRun(scope: Scope, program: string | Program, options: StartOptions): Promise<RunHandle> {
  checkOpen(scope.engine)
  const { session: given, input, key, parallel = false, delay, ...unknown } = optionsOf(options, 'start')
  checkKnown(unknown, 'a start')
  checkFlag('parallel', parallel)
  if (typeof given !== 'string') throw invalidOption('session', 'the key or the id of a session', given)
  const { name, shape } = takeProgram(scope, program)
  const delayMs = delay === undefined ? 0 : milliseconds(delay)
  // Bad options are refused before a session is created.
  if (key !== undefined) maskKey(scope, key)
  const fit = shape ? await fitted(scope, shape, input, `input of '${name}'`) : input
  checkValue(scope, fit, { of: `the input of the run '${name}'` })
  const { row: session } = await openNamed(scope, given)
  const offer = { session: session.id, relation: session.relation, name, input: fit, parallel, delayMs }
  const row = await offerRun(scope, { ...offer, key: key ?? scope.engine.newId() })
  return handleOf(scope, row)
}

/** With a program, a run of another name is refused: its result would have another type. */
export async function handleById(scope: Scope, given: readonly [string] | readonly [Program, string]): Promise<RunHandle<never>> {
  const [program, id] = given.length === 1 ? [undefined, given[0]] : given
  const row = await theRun(scope, id)
  const { name } = program ? takeProgram(scope, program) : row
  if (name !== row.name)
    throw refuse('OPTION_INVALID', { option: 'program', why: `run ${row.id} is a run of '${row.name}', not of '${name}'` })
  return handleOf(scope, row)
}

export function handleOf(scope: Scope, { id, session, name }: Pick<RunRow, 'id' | 'session' | 'name'>): RunHandle {
  return {
    id,
    session,
    name,
    state: async () => {
      const row = await readRun(scope, id)
      if (!row) throw refuse('RUN_UNKNOWN', { run: id, tenant: scope.tenant })
      return row.state
    },
    result: async <T>(options?: { readonly signal?: AbortSignal }) => {
      const { signal, ...unknown } = optionsOf(options, 'result')
      checkKnown(unknown, 'a wait')
      return (await resultOf(scope, id, signal)) as T
    },
    cancel: (reason) => cancelRun(scope, id, reason),
  }
}

interface Offer {
  readonly session: SessionId
  /** The relation of the session, if it was forked. */
  readonly relation?: SessionRow['relation']
  readonly name: string
  readonly key: string
  readonly input: unknown
  readonly parallel: boolean
  readonly parent?: RunId
  readonly delayMs?: number
}

/** Writes the run once for each key. */
export async function offerRun(scope: Scope, offered: Offer): Promise<RunRow> {
  const { session, relation, name, key: given, input, parallel, parent, delayMs = 0 } = offered
  const { engine } = scope
  const key = maskKey(scope, given)
  const time = new WriteTime(engine.environment.clock)
  const stored = await store(scope, input, { of: `the input of the run '${name}'` }, false, time)
  const known = await runByName(scope, session, name, key, true)
  // A run with a forked past takes the input of that past, unless the caller gives one.
  const same = (row: RunRow) => (input === undefined && row.fork ? row : sameInput(row, stored, key))
  if (known) return same(known)
  const id = engine.newId<'run'>()
  const past = await forkedFrom(scope, { relation }, name, key, id)
  const asked = input === undefined && past.input ? {} : { input: stored }
  const set = { session, name, key, ...past, ...asked, queued: true, ...(parallel && { parallel }), ...(parent && { parent }) }
  try {
    const now = await storeNow(scope)
    const offer = { verb: 'offer', queue: runQueue(name), at: now + delayMs, run: id } as const
    const fresh = { session, run: id, seen: NOT_THERE }
    const item = part(work, workId(scope, id), offer, fresh)
    const { rows } = await plan(
      scope,
      [part(run, id, { verb: 'open', set }, { ...fresh, guards: checkpointGuards(past.checkpoint) }), item],
      { open: session, time },
    )
    localNodesOf(engine).wake()
    if (delayMs === 0) unhandledWatchOf(engine).expect(scope, runQueue(name))
    return rows[0].body as RunRow
  } catch (error) {
    if (!isConflict(error, 'names')) throw error
    // Another caller was first with this key.
    const first = await runByName(scope, session, name, key)
    if (!first) throw error
    return same(first)
  }
}

function sameInput(row: RunRow, input: RunRow['input'], key: string): RunRow {
  if (canonical(row.input ?? {}) !== canonical(input ?? {}))
    throw refuse('KEY_REUSED', { run: row.id, name: row.name, state: row.state, key, ...(row.name === '' && { erased: true }) })
  return row
}
