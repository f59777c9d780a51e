// Takes a run up: finds or opens it, and takes its lease, in one commit.

import { InkError, refuse } from '../../../../model/errors.ts'
import type { RunId, SessionId } from '../../../../model/ids.ts'
import { checkFlag, checkKnown, invalidOption, optionsOf } from '../../../../model/options.ts'
import { isOver, type RunRow } from '../../../../model/run.ts'
import type { SessionRow } from '../../../../model/session.ts'
import { type Duration, milliseconds } from '../../../../model/time.ts'
import { load, store } from '../../../content/json-or-blob.ts'
import { leaseId, maskKey } from '../../../naming/names.ts'
import { stopIfAsked } from '../../../reading/abortable.ts'
import { Bell } from '../../../reading/read-events.ts'
import { fitted } from '../../../wiring/schema.ts'
import { checkOpen, type Scope } from '../../../wiring/scope.ts'
import { isConflict } from '../../../writing/commit-outcome.ts'
import { type DoneRow, NOT_THERE, type Part, part, plan } from '../../../writing/execute.ts'
import type { OwnLease } from '../../leases/keeper.ts'
import { keeperOf } from '../../leases/keeper.ts'
import { checkKnownRun, forkedFrom, seenByName } from '../find-run.ts'
import { checkpointGuards } from '../program/inherited-checkpoint.ts'
import type { Run } from '../program/run-calls.ts'
import { type Program, takeProgram, type WithInput } from '../program.ts'
import { handOf, RunInHand } from '../run.ts'
import { run as decider, type Opened } from '../run-decider.ts'
import { replayStrictly } from '../tape/strict-replay.ts'
import { localRunsOf } from './local-runs.ts'

export type RunOptions<P extends string | Program = string> = RunTerms & WithInput<P>

export interface RunTerms {
  /** Distinguishes several runs of one name in one session. */
  readonly key?: string
  /** Gives the run a lease of its own, so that it runs in parallel to other runs of the session. */
  readonly parallel?: boolean
  /** How long to wait for the present holder. The default is not to wait. */
  readonly wait?: Duration
  /**
   * `strict` answers every call from the tape of a run that exists, ended or not. Nothing is executed or written, and no lease is taken. A call
   * without a record is REPLAY_MISSING.
   */
  readonly replay?: 'strict'
  readonly signal?: AbortSignal
}

/** Starts a run, or resumes it where it stopped. A finished run opens finished. */
export async function openRun(
  scope: Scope,
  within: Pick<SessionRow, 'id' | 'relation'>,
  program: string | Program,
  options?: RunOptions,
  first = true,
): Promise<Run> {
  checkOpen(scope.engine)
  const { input, key: given = '', parallel = false, wait = 0, replay, signal, ...unknown } = optionsOf(options, 'run')
  checkKnown(unknown, 'a run')
  checkFlag('parallel', parallel)
  if (replay !== undefined && replay !== 'strict') throw invalidOption('replay', "'strict'", replay)
  const { name: taken, shape } = takeProgram(scope, program)
  const key = given === '' ? '' : maskKey(scope, given)
  const waitMs = milliseconds(wait)
  const { id: session } = within
  const seen = await seenByName(scope, session, taken, key, first)
  const known = seen?.body
  if (replay && !known) throw refuse('RUN_UNKNOWN', { run: taken, tenant: scope.tenant })
  if (replay && known) return replayStrictly(scope, known)
  if (known && isOver(known.state)) return finished(scope, known)
  // An input that is gone is refused before a lease is taken.
  if (known) checkKnownRun(known)
  if (known) await load(scope, known.input)
  const fit = known ? undefined : await fitted(scope, shape, input, `input of '${taken}'`)
  const id = known?.id ?? scope.engine.newId<'run'>()
  const set: Opened | undefined = known
    ? undefined
    : {
        session,
        name: taken,
        ...(key !== '' && { key }),
        ...(parallel && { parallel }),
        ...(await forkedFrom(scope, within, taken, key, id)),
        ...(fit !== undefined && { input: await store(scope, fit, { of: `the input of the run '${taken}'` }) }),
      }
  const wanted = { id, session, name: taken, parallel: known ? known.parallel === true : parallel }
  try {
    return await takeUp(scope, { ...wanted, seen: seen ?? NOT_THERE }, set, { waitMs, signal })
  } catch (error) {
    // Another caller opened it first, or it has just ended: look again, and hold it, wait for it, or open it finished.
    const ended = error instanceof InkError && error.code === 'RUN_FINISHED'
    if (!isConflict(error, 'names') && !ended) throw error
    return openRun(scope, within, program, options, false)
  }
}

interface Wanted {
  readonly id: RunId
  readonly session: SessionId
  readonly name: string
  readonly parallel: boolean
  /** The row of the run when it was looked up. */
  readonly seen: DoneRow<RunRow>
}

/** What came of one attempt to take the lease. Empty when another node was first. */
interface Took {
  readonly hand?: Run
  readonly borrowed?: OwnLease
  /** Delay until the next look at a lease that another node holds. */
  readonly heldMs?: number
}

async function takeUp(
  scope: Scope,
  wanted: Wanted,
  set: Opened | undefined,
  { waitMs, signal }: { readonly waitMs: number; readonly signal?: AbortSignal | undefined },
): Promise<Run> {
  const { engine, tenant } = scope
  const { id, session, name, parallel, seen } = wanted
  const keeper = keeperOf(engine)
  const lease = leaseId(scope, session, id, parallel)
  const about = { session, run: id }
  const begin = part(decider, id, { verb: 'begin', id, ...(set && { set }) }, { ...about, seen, guards: checkpointGuards(set?.checkpoint) })
  const start = engine.environment.clock.monotonic()
  const bell = new Bell(scope, [signal, engine.closing])
  try {
    for (;;) {
      bell.reset()
      stopIfAsked(scope, signal)
      const { borrowed, heldMs, hand } = await keeper.alone(tenant, lease, async (): Promise<Took> => {
        const shared = keeper.borrow(tenant, lease)
        if (shared) return { borrowed: shared }
        const standing = await keeper.look(tenant, lease)
        const left = waitMs - (engine.environment.clock.monotonic() - start)
        if (!standing.free && left > 0) return { heldMs: Math.min(left, standing.until - standing.now, LOOK_MS) }
        const take = keeper.takePart(lease, name, standing, about)
        return localRunsOf(engine).opening(tenant, id, async () => {
          const taken = await plan(scope, [take, begin], { open: session, guards: [standing.guard] }).catch(unlessMoved)
          if (!taken) return {}
          const hold = keeper.keep(tenant, lease, taken.rows[0])
          return { hand: await handOf(scope, hold, id, taken.rows[1], set !== undefined && set.fork === undefined) }
        })
      })
      if (hand) return hand
      if (borrowed) {
        const parts = localRunsOf(engine).isOpen(tenant, id) ? [] : [begin]
        return await localRunsOf(engine).opening(tenant, id, () => inHand(scope, borrowed, wanted, parts))
      }
      // Otherwise another node was first: look again.
      if (heldMs !== undefined) await bell.rung(heldMs)
    }
  } finally {
    bell.close()
  }
}

function unlessMoved(error: unknown): undefined {
  if (isConflict(error, 'leases')) return undefined
  throw error
}

// The longest time between two looks at a lease: a released lease rings the bell, an expired one does not.
const LOOK_MS = 1000

async function inHand(scope: Scope, hold: OwnLease, { id, session }: Wanted, parts: readonly Part[]): Promise<Run> {
  const { engine } = scope
  try {
    if (parts.length > 0) await plan(scope, parts, { guards: [hold.guard], open: session })
  } catch (error) {
    keeperOf(engine).letGo(hold)
    throw error
  }
  return handOf(scope, hold, id)
}

async function finished(scope: Scope, row: RunRow): Promise<Run> {
  return new RunInHand(scope, row, await load(scope, row.input), await load(scope, row.result))
}
