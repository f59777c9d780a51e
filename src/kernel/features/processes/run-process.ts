// Runs the handler of a process. Its return value completes the process, its error fails or retries it, and after the lease is lost nothing is
// written.

import { InkError, refuse } from '../../../model/errors.ts'
import { limits } from '../../../model/limits.ts'
import { hasEnded, type ProcessId, type ProcessRow } from '../../../model/process.ts'
import { errorData } from '../../failing/error-data.ts'
import { FinalError } from '../../failing/final-error.ts'
import { logFailure } from '../../failing/log-failure.ts'
import { storeNow } from '../../time/store-time.ts'
import type { Scope } from '../../wiring/scope.ts'
import { isConflict } from '../../writing/commit-outcome.ts'
import { part, readRow } from '../../writing/execute.ts'
import type { OwnLease } from '../leases/keeper.ts'
import { keeperOf } from '../leases/keeper.ts'
import { isPassing } from '../runs/writing/transient-error.ts'
import type { ClaimHandle } from '../work/claim.ts'
import { retryWrite } from '../work/retry-write.ts'
import type { LeasedProcess } from './agent-process.ts'
import { asCancelled, asFailed, type Ended, endProcess } from './ending.ts'
import { processLease, readProcess } from './ids.ts'
import { processDecider } from './process-decider.ts'
import { LeasedProcessHandle } from './process-handle.ts'
import { rowGuard, take } from './process-lease.ts'
import { freeGuards, seeTo } from './recovery.ts'
import { forgetUnconfirmed, noteUnconfirmed, wasUnconfirmed } from './unconfirmed-starts.ts'
import { holding, outside } from './write-as.ts'

export type ProcessHandler = (child: RunningProcess, input: unknown) => unknown

/** A process that this node runs. */
export interface RunningProcess extends LeasedProcess {
  /** The number of this attempt, from 1. */
  readonly attempt: number
  /** Aborted when the lease is lost, when a caller requests cancellation, and when the node closes. */
  readonly signal: AbortSignal
}

/** `given`: the item is back in its queue, for another node or for later. */
export type How = 'completed' | 'failed' | 'cancelled' | 'retried' | 'abandoned' | 'given' | 'lost'

export class Underway extends LeasedProcessHandle implements RunningProcess {
  readonly attempt: number
  readonly #stop = new AbortController()

  constructor(claim: ClaimHandle, row: ProcessRow, hold: OwnLease) {
    super(claim.scope, row, hold, holding(hold, claim))
    this.attempt = claim.attempt
    for (const lost of [hold.signal, claim.signal]) {
      // The claim may have been lost while the lease was taken.
      if (lost.aborted) this.stop(lost.reason)
      else lost.addEventListener('abort', () => this.stop(lost.reason), { once: true })
    }
  }

  override get signal(): AbortSignal {
    return this.#stop.signal
  }

  stop(reason: unknown): void {
    this.#stop.abort(reason)
  }

  /** Whether a caller has asked the process to stop. */
  async check(): Promise<void> {
    if (this.signal.aborted) return
    const { id, name, state, cancel } = await this.look()
    if (hasEnded(state)) this.stop(refuse('PROCESS_FINISHED', { process: id, name, state }))
    else if (cancel) this.stop(refuse('PROCESS_CANCEL_REQUESTED', { process: id, name, reason: cancel.reason }))
  }
}

export interface Listing {
  add(child: Underway): void
  remove(child: Underway): void
}

/** Runs the process of this item, or recovers it if it must not run. */
export async function runProcess(claim: ClaimHandle, handler: ProcessHandler, leaving: AbortSignal, listing: Listing): Promise<How> {
  const { scope } = claim
  try {
    const how = await takeCare(claim, handler, leaving, listing)
    // The present holder may die. The item stays, so that the process can be found as long as it has not ended.
    if (how === 'lost' && !claim.isSettled && !claim.signal.aborted && (await goesOn(claim)))
      await claim.giveBack(keeperOf(scope.engine).ttlMs, false)
    return how
  } catch (error) {
    // A failure of the store is not a failure of the process: it costs no attempt.
    if (!isPassing(error) || claim.isSettled || claim.signal.aborted) throw error
    scope.engine.environment.logger.warn('a process is looked at again later', { item: claim.id, error: String(error) })
    return giveBack(claim, limits.lookEveryMs)
  }
}

async function goesOn({ scope, row }: ClaimHandle): Promise<boolean> {
  const found = await readProcess(scope, row.origin?.id as ProcessId)
  return found !== undefined && !hasEnded(found.state)
}

async function takeCare(claim: ClaimHandle, handler: ProcessHandler, leaving: AbortSignal, listing: Listing): Promise<How> {
  const { scope } = claim
  const id = claim.row.origin?.id as ProcessId
  const row = await readProcess(scope, id)
  if (!row || hasEnded(row.state) || row.recovery === 'external') {
    forgetUnconfirmed(scope, id)
    return 'given'
  }
  if (row.abandon || (await isBegun(scope, row))) return see(claim, id)
  if (row.cancel && !row.started) return endUnheld(claim, id, asCancelled(scope, row.cancel.reason), ({ started }) => !started)
  if (claim.attempt > (row.attempts ?? Infinity)) return endUnheld(claim, id, asFailed(scope, poisoned(claim)), () => true)
  const hold = await takeUp(claim, id).catch(unlessTaken)
  if (typeof hold === 'number') return giveBack(claim, hold)
  forgetUnconfirmed(scope, id)
  const child = new Underway(claim, row, hold)
  listing.add(child)
  try {
    return await work(claim, child, handler, leaving)
  } finally {
    listing.remove(child)
    await child.release()
  }
}

/** Whether the process must not begin again. */
const isBegun = async (scope: Scope, { id, recovery, started }: ProcessRow): Promise<boolean> =>
  recovery === 'ownerBound' && started !== undefined && !(await wasUnconfirmed(scope, id))

/** Follows a request to abandon a process, as soon as nobody holds it. */
export async function reconcile(claim: ClaimHandle): Promise<How> {
  return see(claim, claim.row.origin?.id as ProcessId)
}

async function see(claim: ClaimHandle, id: ProcessId): Promise<How> {
  const seen = await seeTo(claim.scope, id, outside(claim))
  if (!seen.over) return giveBack(claim, seen.againMs)
  return seen.abandoned ? 'abandoned' : 'given'
}

async function giveBack(claim: ClaimHandle, delayMs: number): Promise<How> {
  await claim.giveBack(delayMs, true)
  return 'given'
}

// The delay until the next look when another node was first.
const MOVED_MS = 100

/** Takes the lease and records the first start in one commit, so that only one of two nodes starts the process. The other gets the time to wait. */
async function takeUp(claim: ClaimHandle, id: ProcessId): Promise<OwnLease | number> {
  const { scope } = claim
  const keeper = keeperOf(scope.engine)
  const lease = processLease(scope, id)
  const seen = await readRow(scope, 'processes', id)
  const row = seen.body
  if (!row || hasEnded(row.state) || (await isBegun(scope, row))) return MOVED_MS
  const starting = row.started ? [] : [part(processDecider, id, { verb: 'start', id, by: keeper.holder }, { seen })]
  const claimed = { kind: 'fence', table: 'work', id: claim.id, fence: claim.fence } as const
  return keeper.alone(scope.tenant, lease, async () => {
    const standing = await keeper.look(scope.tenant, lease)
    // A lease that another caller of this store holds is not shared.
    if (keeper.holds(scope.tenant, lease)) return keeper.ttlMs
    if (!standing.free) return Math.max(standing.until - standing.now, MOVED_MS)
    try {
      return await take(scope, row, standing, [rowGuard(id, seen.revision), claimed], starting)
    } catch (error) {
      if (starting.length > 0) noteUnconfirmed(scope, id, error)
      throw error
    }
  })
}

function unlessTaken(error: unknown): number {
  if (isConflict(error, 'leases', 'processes')) return MOVED_MS
  throw error
}

/** Ends a process that must not begin, or not begin again, as soon as nobody holds it. */
async function endUnheld(claim: ClaimHandle, id: ProcessId, ended: Ended, still: (row: ProcessRow) => boolean): Promise<How> {
  const { scope } = claim
  const guards = async (row: ProcessRow) => (still(row) ? freeGuards(scope, id) : undefined)
  const { repeated, row } = await endProcess(scope, id, outside(claim), ended, {}, guards)
  if (!repeated && row.state === 'failed') logFailed(scope, row)
  return repeated || !hasEnded(row.state) ? giveBack(claim, keeperOf(scope.engine).ttlMs) : row.state
}

/** The error of a process whose nodes died in every attempt. */
const poisoned = ({ attempt }: ClaimHandle) => ({
  name: 'Poisoned',
  message: `no node that started it reported an outcome (attempts: ${attempt - 1})`,
})

async function work(claim: ClaimHandle, child: Underway, handler: ProcessHandler, leaving: AbortSignal): Promise<How> {
  const left = Promise.withResolvers<never>()
  const leave = () => left.reject(leaving.reason)
  if (leaving.aborted) leave()
  else leaving.addEventListener('abort', leave, { once: true })
  // The rejection is handled below. Until then it must not count as unhandled.
  left.promise.catch(() => {})
  // The outcome is retried while the store is away: of an owner-bound process, no other node could record it.
  const said = <R>(write: () => Promise<R>): Promise<R> => retryWrite(claim.scope, write, { ms: 2 * claim.leaseMs, leaving })
  try {
    await beforehand(child, claim.scope)
    const value = await Promise.race([child.input().then((input) => handler(child, input)), left.promise])
    if (!claim.isSettled) await said(() => child.complete(value))
    return endedAs(child)
  } catch (error) {
    if (claim.isSettled) return endedAs(child)
    if (error === leaving.reason) return leaveIt(claim, child, error)
    return said(() => threw(claim, child, error))
  } finally {
    leaving.removeEventListener('abort', leave)
  }
}

/** Tells the handler at once if a caller asked to stop before it began. If the store cannot say so now, the handler begins and is told later. */
async function beforehand(child: Underway, { engine }: Scope): Promise<void> {
  await child.check().catch((error: unknown) => {
    engine.environment.logger.warn('a process begins without having been looked at', { process: child.id, error: String(error) })
  })
}

const endedAs = ({ state }: Underway): How => (hasEnded(state) ? state : 'lost')

/** Abandons an owner-bound process before the node closes, because nobody may run it again. Other processes go back for other nodes. */
async function leaveIt(claim: ClaimHandle, child: Underway, reason: unknown): Promise<How> {
  child.stop(reason)
  const { owner } = keeperOf(claim.scope.engine).holder
  if (child.recovery === 'ownerBound') {
    await child.abandoned({ writer: 'ownerDrain', owner, fence: child.fence })
    return 'abandoned'
  }
  // The lease is released first, so that the next node finds it free.
  await child.release()
  return giveBack(claim, 0)
}

function logFailed(scope: Scope, { id, name, kind, error }: ProcessRow): void {
  if (!error) return
  logFailure(scope, { what: 'a process has failed', of: { process: id, name, kind }, error, look: { verb: 'processes show', words: [id] } })
}

async function threw(claim: ClaimHandle, child: Underway, thrown: unknown): Promise<How> {
  const { scope } = claim
  // The process was lost to another holder or ended from outside: nothing is left to record.
  const row = await readProcess(scope, child.id)
  const code = thrown instanceof InkError ? thrown.code : ''
  if (!row || hasEnded(row.state) || code === 'FENCE_LOST' || claim.signal.aborted) {
    scope.engine.environment.logger.warn('a process is left to others', { process: child.id, name: child.name, code })
    return 'lost'
  }
  try {
    if (row.cancel) await child.cancelled(row.cancel.reason)
    else if (thrown instanceof FinalError || claim.attempt >= (row.attempts ?? 1)) {
      await child.fail(thrown)
      logFailed(scope, child.toJSON())
    } else {
      const error = errorData(scope, thrown)
      await child.release()
      await claim.settle({ verb: 'fail', now: await storeNow(scope), error }, 'failed', [], [])
      return 'retried'
    }
    return endedAs(child)
  } catch (error) {
    if (error instanceof InkError && (error.code === 'FENCE_LOST' || error.code === 'PROCESS_FINISHED')) return 'lost'
    throw error
  }
}
