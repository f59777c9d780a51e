// The handle of a run: every call of a branch, and the calls that end the run.

import type { TurnState } from '../../../model/checkpoint.ts'
import { InkError, refuse } from '../../../model/errors.ts'
import type { Event } from '../../../model/event.ts'
import type { RunId, SessionId, TenantId } from '../../../model/ids.ts'
import { type ErrorData, isOver, type RunRow, type RunState } from '../../../model/run.ts'
import type { Usage } from '../../../model/usage.ts'
import { load, store } from '../../content/json-or-blob.ts'
import { errorData } from '../../failing/error-data.ts'
import type { RunMembers } from '../../features.ts'
import { WriteTime } from '../../measuring/write-time.ts'
import { checkReason } from '../../proof/erase.ts'
import type { Scope } from '../../wiring/scope.ts'
import { withMembers } from '../../wiring/with-members.ts'
import { type DoneRow, type Part, plan, readRow } from '../../writing/execute.ts'
import { FENCE, type Fence, type HasFence } from '../../writing/fence.ts'
import { retryConflicts } from '../../writing/retry-conflicts.ts'
import type { Components } from '../checkpoints/components.ts'
import type { OwnLease } from '../leases/keeper.ts'
import { keeperOf } from '../leases/keeper.ts'
import { checkKnownRun } from './find-run.ts'
import { type ForkOptions, forkRun } from './fork.ts'
import { localRunsOf } from './node/local-runs.ts'
import { BranchHandle } from './program/branch.ts'
import type { Branch } from './program/branch-calls.ts'
import { restoreCheckpoint, type Saved, saveCheckpoint } from './program/checkpoint.ts'
import type { Run } from './program/run-calls.ts'
import { holdingsOf, type RunCommand } from './run-decider.ts'
import { checkRecordedEnd } from './tape/recorded-end.ts'
import { pastOf, tapeOf } from './tape/tape-reader.ts'
import { endingParts, type RunEnding } from './writing/ending.ts'
import { RunWriter } from './writing/run-writer.ts'

const ENDED = new AbortController()
ENDED.abort()

export class RunInHand extends withMembers<RunMembers>() implements Run, HasFence {
  readonly #scope: Scope
  readonly #open: RunWriter | undefined
  readonly #root: BranchHandle | undefined
  readonly #row: RunRow | undefined
  readonly input: unknown
  #result: unknown
  #turnState: TurnState | undefined
  #closed = false
  /** The lease was released, or is left to expire. */
  #gone = false

  /** `run` is a writer for an open run, or the row of an ended run, which can only be read. */
  constructor(scope: Scope, run: RunWriter | RunRow, input: unknown, result?: unknown) {
    super()
    scope.engine.features.addRunMembers(this, () => this.#live())
    this.#scope = scope
    this.input = input
    this.#result = result
    if (run instanceof RunWriter) {
      this.#open = run
      this.#root = new BranchHandle(run, '', run.since, run.signal)
    } else this.#row = run
  }

  get #seen(): RunRow {
    return (this.#open?.row ?? this.#row) as RunRow
  }
  get id(): RunId {
    return this.#seen.id
  }
  get tenant(): TenantId {
    return this.#scope.tenant
  }
  get session(): SessionId {
    return this.#seen.session
  }
  get name(): string {
    return this.#seen.name
  }
  get key(): string | undefined {
    return this.#seen.key
  }
  get state(): RunState {
    return this.#seen.state
  }
  get attempt(): number {
    return this.#seen.attempt
  }
  get fence(): number {
    return this.#open?.hold.fence ?? 0
  }
  get result(): unknown {
    return this.#result
  }
  get error(): ErrorData | undefined {
    return this.#seen.error
  }
  get ledger(): readonly Usage[] {
    return this.#seen.usage
  }
  get aborted(): AbortSignal {
    return this.#open?.signal ?? ENDED.signal
  }
  /** For the node that executes the run. */
  get open(): RunWriter {
    return this.#live().open
  }

  effect: Branch['effect'] = async (...given) => this.#live().effect(...given)
  begin: Branch['begin'] = async (...given) => this.#live().begin(...given)
  sleep: Branch['sleep'] = async (...given) => this.#live().sleep(...given)
  until: Branch['until'] = async (...given) => this.#live().until(...given)
  signal: Branch['signal'] = async (...given) => this.#live().signal(...given)
  usage: Branch['usage'] = async (...given) => this.#live().usage(...given)
  append: Branch['append'] = async (...given) => this.#live().append(...given)
  all: Branch['all'] = async (...given) => this.#live().all(...given)
  child: Branch['child'] = async (...given) => this.#live().child(...given)
  now: Branch['now'] = () => this.#live().now()
  random: Branch['random'] = () => this.#live().random()

  async checkpoint(components: Components, turn?: TurnState): Promise<Saved> {
    return saveCheckpoint(this.#live(), components, turn)
  }

  async restore<T extends object = Record<string, unknown>>(): Promise<T | undefined> {
    const restored = await restoreCheckpoint(this.#live())
    this.#turnState = restored?.turn
    return restored?.components as T | undefined
  }

  get turnState(): TurnState | undefined {
    return this.#turnState
  }

  race<B extends Readonly<Record<string, (branch: Branch) => unknown>>>(branches: B): Promise<Awaited<ReturnType<B[keyof B]>>> {
    return this.#root ? this.#root.race(branches) : Promise.reject(this.#finished())
  }

  async finish(result?: unknown): Promise<void> {
    const { open } = this.#live()
    if (open.strict) return checkRecordedEnd(open, 'done', result)
    open.checkLive()
    await open.replay.checkDone()
    const time = new WriteTime(this.#scope.engine.environment.clock)
    const stored = await store(this.#scope, result, { ...open.about, of: 'the program' }, false, time)
    const { replayed } = open.replay
    await this.#end(open, 'done', (holdings) => ({ verb: 'finish', id: open.id, holdings, result: stored, replayed }), time)
    this.#result = await load(this.#scope, stored)
  }

  async fail(error: unknown): Promise<void> {
    const { open } = this.#live()
    if (open.strict) return checkRecordedEnd(open, 'failed')
    const told = errorData(this.#scope, error)
    await this.#end(open, 'failed', (holdings) => ({ verb: 'fail', id: open.id, holdings, error: told, replayed: open.replay.replayed }))
  }

  async cancel(reason: string): Promise<void> {
    const { open } = this.#live()
    const why = checkReason(reason)
    if (open.strict) return checkRecordedEnd(open, 'cancelled')
    await this.#end(open, 'cancelled', (holdings) => ({
      verb: 'cancel',
      id: open.id,
      holdings,
      reason: why,
      replayed: open.replay.replayed,
    }))
  }

  tape(options?: { readonly signal?: AbortSignal }): AsyncGenerator<Event, void, undefined> {
    return tapeOf(this.#scope, this.#seen, options)
  }

  async fork(options: ForkOptions): Promise<Run> {
    if (this.#open?.strict) throw refuse('REPLAY_MISSING', { run: this.id, call: 'a fork' })
    return forkRun(this.#scope, this.#seen, options, handOf)
  }

  /** Ends the run, releases its lease and wakes its waiting parent, in one commit. */
  async #end(open: RunWriter, how: RunEnding, command: (holdings: string) => RunCommand, time?: WriteTime): Promise<void> {
    await retryConflicts(this.#scope, ['runs'], async (attempt) => {
      // The conflict: a caller said something to the run. It reads that before it ends.
      if (attempt > 1) await open.look()
      const { row } = open
      // A closed handle has released its lease: releasing again could take it from the next borrower.
      if (this.#closed) throw isOver(row.state) ? this.#finished() : refuse('RUN_CLOSED', open.about)
      const parts = await endingParts(this.#scope, row, how)
      await this.leave((release) => open.change(command(holdingsOf(row)), [...parts, ...release], time && { time }))
    })
    open.end(refuse('RUN_FINISHED', open.about))
  }

  /**
   * Runs `write` with the part that releases the lease, if this is the last borrower, and then drops the lease. The release counts the replay
   * of an attempt that no other event ends.
   */
  async leave(write: (release: readonly Part[]) => Promise<unknown>, replayed?: number): Promise<void> {
    const { open } = this.#live()
    const keeper = keeperOf(this.#scope.engine)
    await keeper.alone(open.hold.tenant, open.hold.id, async () => {
      // The lease is dropped already, and may have a new holder by now.
      if (this.#gone) return void (await write([]))
      const last = keeper.leave(open.hold)
      try {
        await write(last ? [keeper.releasePart(open.hold, { session: this.session, run: this.id }, replayed)] : [])
      } catch (error) {
        keeper.stay(open.hold)
        throw error
      }
      this.#closed = true
      this.#letGo(open)
    })
  }

  #letGo(open: RunWriter): void {
    const { engine, tenant } = this.#scope
    this.#gone = true
    localRunsOf(engine).remove(tenant, open)
    keeperOf(engine).letGo(open.hold)
  }

  async close(): Promise<void> {
    const open = this.#open
    if (!open || this.#closed) return
    this.#closed = true
    open.end(refuse('RUN_CLOSED', open.about))
    if (open.strict) return
    const { engine } = this.#scope
    if (open.hold.signal.aborted || engine.closing.aborted) {
      this.#letGo(open)
      return
    }
    try {
      await this.leave(async (release) => release.length > 0 && plan(this.#scope, release), open.replay.replayed)
    } catch (error) {
      // The lease expires by itself: this process no longer renews it.
      this.#letGo(open)
      engine.environment.logger.warn('a lease could not be given back', { run: this.id, error: String(error) })
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** A lease that has expired may still write, as long as no other node has taken it. */
  [FENCE](): Fence {
    const open = this.#open
    if (!open || this.#closed || open.strict || isOver(this.state))
      throw refuse('CLAIM_SETTLED', { run: this.id, how: isOver(this.state) ? this.state : open?.strict ? 'replay only' : 'closed' })
    const { reason } = open.signal
    if (open.signal.aborted && !(reason instanceof InkError && reason.code === 'FENCE_LOST')) throw reason
    const { id, session, tenant } = this
    const lost = (error: InkError) => keeperOf(this.#scope.engine).lose(open.hold, error)
    return { tenant, guard: open.hold.guard, run: { id, session }, lost }
  }

  toJSON(): RunRow {
    return this.#seen
  }

  #live(): BranchHandle {
    if (!this.#root) throw this.#finished()
    return this.#root
  }

  #finished(): InkError {
    return refuse('RUN_FINISHED', { run: this.id, name: this.name, state: this.state })
  }
}

/** The handle of a run whose lease this process holds. If the handle cannot be made, because the input is gone, the lease is let go. */
export async function handOf(scope: Scope, hold: OwnLease, id: RunId, seen?: DoneRow<RunRow>, fresh = false): Promise<RunInHand> {
  try {
    return await makeHand(scope, hold, id, seen, fresh)
  } catch (error) {
    keeperOf(scope.engine).letGo(hold)
    throw error
  }
}

async function makeHand(scope: Scope, hold: OwnLease, id: RunId, seen: DoneRow<RunRow> | undefined, fresh: boolean): Promise<RunInHand> {
  const { engine, tenant } = scope
  const { body: row, revision } = seen ?? (await readRow(scope, 'runs', id))
  if (!row) throw refuse('RUN_UNKNOWN', { run: id, tenant })
  checkKnownRun(row)
  const input = await load(scope, row.input)
  const underway = localRunsOf(engine).underway(tenant, id)
  const shared = () => localRunsOf(engine).isShared(tenant, id)
  const { sources, since } = await pastOf(scope, row)
  const open = new RunWriter(scope, { row, revision, hold, underway, shared, sources, since, fresh })
  localRunsOf(engine).add(tenant, open)
  return new RunInHand(scope, open, input)
}
