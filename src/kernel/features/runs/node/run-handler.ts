// Runs a handler: its return value is the result of the run, its error is the failure, and a long wait parks the run.

import { InkError, refuse } from '../../../../model/errors.ts'
import { isOver } from '../../../../model/run.ts'
import { errorData } from '../../../failing/error-data.ts'
import { workId } from '../../../naming/names.ts'
import { storeNow } from '../../../time/store-time.ts'
import type { Scope } from '../../../wiring/scope.ts'
import { part, plan } from '../../../writing/execute.ts'
import { keeperOf } from '../../leases/keeper.ts'
import { retryWrite } from '../../work/retry-write.ts'
import { work } from '../../work/work-decider.ts'
import type { Handler } from '../program.ts'
import type { RunInHand } from '../run.ts'
import { isTheRuns } from '../writing/transient-error.ts'
import { logFailedRun } from './log-failed-run.ts'
import type { Parked } from './parking.ts'

export type How = 'finished' | 'parked' | 'failed'

// The delay before a run is retried that failed because of the store.
const REST_MS = 1000

export async function runHandler(scope: Scope, run: RunInHand, handler: Handler, leaving: AbortSignal): Promise<How> {
  const { open } = run
  const parked = Promise.withResolvers<How>()
  open.parking.allow(async (parking) => {
    const done = await park(scope, run, parking)
    if (done) parked.resolve('parked')
    return done
  })
  const left = Promise.withResolvers<How>()
  const leave = () => left.reject(leaving.reason)
  if (leaving.aborted) leave()
  else leaving.addEventListener('abort', leave, { once: true })
  try {
    return await Promise.race([handle(scope, run, handler), parked.promise, left.promise])
  } catch (error) {
    if (error === leaving.reason) await giveBack(scope, run)
    else throw error
    return 'failed'
  } finally {
    leaving.removeEventListener('abort', leave)
  }
}

async function handle(scope: Scope, run: RunInHand, handler: Handler): Promise<How> {
  const { open } = run
  let result: unknown
  try {
    result = await handler(run, run.input)
    if (run.state === 'running' || run.state === 'waiting') await run.finish(result)
    return 'finished'
  } catch (thrown) {
    const error = lookable(thrown)
    const { logger } = scope.engine.environment
    const code = error instanceof InkError ? error.code : ''
    if (code === 'REPLAY_DIVERGED') {
      logger.error('a run no longer fits its program', { run: run.id, name: run.name, error: String(error) })
      await halt(scope, run, error)
      return 'failed'
    }
    // The run was ended from outside, or lost to another holder: nothing is left to record.
    if (isOver(open.row.state) || (open.signal.aborted && (open.signal.reason !== error || code === 'RUN_CANCELLED'))) {
      logger.warn('a run is left to others', { run: run.id, name: run.name, code })
      await run.close()
      return 'failed'
    }
    if (!isTheRuns(error)) {
      logger.warn('a run is tried again later', { run: run.id, name: run.name, error: String(error) })
      await giveBack(scope, run, REST_MS, keeperOf(scope.engine).ttlMs)
      return 'failed'
    }
    try {
      await run.fail(error)
      logFailedRun(scope, open.row)
    } catch (failure) {
      logger.error('a run could not be ended', { run: run.id, name: run.name, error: String(failure) })
      await giveBack(scope, run, REST_MS, keeperOf(scope.engine).ttlMs)
    }
    return 'failed'
  }
}

/** A handler may throw anything, also a value that throws when it is inspected. */
function lookable(thrown: unknown): unknown {
  try {
    if (thrown instanceof InkError) return thrown
  } catch {
    return new Error('something that cannot be shown was thrown')
  }
  return thrown
}

/** Parks the run in one commit: it waits, its lease is free, its item sleeps. Returns false if the session had an event that the run has not seen. */
async function park(scope: Scope, run: RunInHand, { until, seen }: Parked): Promise<boolean> {
  const { open } = run
  const { session, id } = open.row
  const sleep = part(work, workId(scope, id), { verb: 'park', ...(until !== undefined && { at: until }) }, { session, run: id })
  try {
    await run.leave((release) =>
      open.change({ verb: 'park', id, replayed: open.replay.replayed }, [sleep, ...release], {
        guards: [{ kind: 'quiet', session, after: seen }],
      }),
    )
  } catch (error) {
    if (error instanceof InkError && error.code === 'HEAD_MOVED') return false
    throw error
  }
  open.end(refuse('RUN_CLOSED', open.about))
  return true
}

/** Halts the run instead of failing it, which would be final: it waits for the right program, or for a person. */
async function halt(scope: Scope, run: RunInHand, error: unknown): Promise<void> {
  const { open } = run
  const { session, id } = open.row
  const sleep = part(work, workId(scope, id), { verb: 'park' }, { session, run: id })
  await run.leave((release) =>
    open.change({ verb: 'halt', id, error: errorData(scope, error), replayed: open.replay.replayed }, [sleep, ...release]),
  )
  open.end(error)
}

/** Releases the run for a retry by any node, after a delay. While the store is away the release is retried: a silent node would count as dead. */
async function giveBack(scope: Scope, run: RunInHand, restMs = 0, patientMs = 0): Promise<void> {
  const { id, session } = run
  run.open.end(refuse('RUN_CLOSED', run.open.about))
  const write = async () => {
    const at = restMs === 0 ? 0 : (await storeNow(scope)) + restMs
    const back = part(work, workId(scope, id), { verb: 'release', at }, { session, run: id })
    await run.leave((release) => plan(scope, [back, ...release], { guards: [run.open.hold.guard] }), run.open.replay.replayed)
  }
  try {
    await retryWrite(scope, write, { ms: patientMs, leaving: run.open.hold.signal })
  } catch (error) {
    scope.engine.environment.logger.warn('a run could not be given back', { run: id, error: String(error) })
    await run.close()
  }
}
