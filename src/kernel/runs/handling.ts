// A handler at work on a run: what it returns is the result, what it throws is the failure, and a long wait gives the run back.

import { InkError, refuse } from '../../model/errors.ts'
import { part, plan } from '../execute.ts'
import type { Scope } from '../scope.ts'
import { workId } from './names.ts'
import type { Handler } from './node.ts'
import type { Parked } from './parking.ts'
import type { RunInHand } from './run.ts'
import { errorData } from './stored.ts'
import { work } from './work-decider.ts'

export type How = 'finished' | 'parked' | 'failed'

// What says something about this worker and nothing about the run.
const NOT_THE_RUNS: readonly string[] = [
  'FENCE_LOST',
  'STORE_CLOSED',
  'RUN_FINISHED',
  'RUN_CANCELLED',
  'RUN_CLOSED',
  'TENANT_CLOSED',
  'OUTCOME_UNKNOWN',
]

export async function perform(scope: Scope, run: RunInHand, handler: Handler, leaving: AbortSignal): Promise<How> {
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
  let result: unknown
  try {
    result = await handler(run, run.input)
    if (run.state === 'running' || run.state === 'waiting') await run.finish(result)
    return 'finished'
  } catch (error) {
    const { logger } = scope.engine.environment
    const code = error instanceof InkError ? error.code : ''
    if (code === 'REPLAY_DIVERGED') {
      logger.error('a run no longer fits its program', { run: run.id, name: run.name, error: String(error) })
      await halt(scope, run, error)
      return 'failed'
    }
    if (NOT_THE_RUNS.includes(code)) {
      logger.warn('a run is left to others', { run: run.id, name: run.name, code })
      await run.close()
      return 'failed'
    }
    await run.fail(error)
    return 'failed'
  }
}

/** In one commit: the run waits, the lease is free, the item sleeps. False when something happened in the session that was not looked at. */
async function park(scope: Scope, run: RunInHand, { until, seen }: Parked): Promise<boolean> {
  const { open } = run
  const { session, id } = open.row
  const sleep = part(work, workId(scope, id), { verb: 'park', ...(until !== undefined && { at: until }) }, { session, run: id })
  try {
    await run.leave((release) =>
      open.change({ verb: 'park', id }, [sleep, ...release], { guards: [{ kind: 'quiet', session, after: seen }] }),
    )
  } catch (error) {
    if (error instanceof InkError && error.code === 'HEAD_MOVED') return false
    throw error
  }
  open.end(refuse('RUN_CLOSED', open.about))
  return true
}

/** Not failed, which would be final: it waits for the right program, or for a person. */
async function halt(scope: Scope, run: RunInHand, error: unknown): Promise<void> {
  const { open } = run
  const { session, id } = open.row
  const sleep = part(work, workId(scope, id), { verb: 'park' }, { session, run: id })
  await run.leave((release) => open.change({ verb: 'halt', id, error: errorData(scope, error) }, [sleep, ...release]))
  open.end(error)
}

/** The node leaves: somebody else may take the run up at once. */
async function giveBack(scope: Scope, run: RunInHand): Promise<void> {
  const { id, session } = run
  run.open.end(refuse('RUN_CLOSED', run.open.about))
  const back = part(work, workId(scope, id), { verb: 'release', at: 0 }, { session, run: id })
  await run.leave((release) => plan(scope, [back, ...release], { guards: [run.open.hold.guard] }))
}
