// Durable runs: started, claimed by nodes under a lease, replayed from their tape after a crash.

import type { Event, Receipt } from '../../../model/event.ts'
import type { RunRow, Slot } from '../../../model/run.ts'
import type { Feature } from '../../feature.ts'
import { manifestRefs } from '../checkpoints/components.ts'
import type { LeaseHolder } from '../leases/lease-holder.ts'
import {
  cancelRun,
  cancelRuns,
  getRun,
  keyOfEffect,
  listRuns,
  type Resolution,
  type RunListOptions,
  resolveEffect,
  theRun,
  wakeRun,
} from './admin.ts'
import { type ForkOptions, forkRun } from './fork.ts'
import { lastRun } from './last-run.ts'
import { type RunNode, RunNodeHandle, type RunNodeOptions } from './node/node.ts'
import { handleById, type RunHandle, type StartOptions, startRun } from './node/start.ts'
import { openRun, type RunOptions } from './node/take-up.ts'
import type { Run } from './program/run-calls.ts'
import { type SendOptions, sendSignal } from './program/signal.ts'
import type { Handlers, InputOf, OptionsFor, Program, ResultOf } from './program.ts'
import { handOf } from './run.ts'
import { run } from './run-decider.ts'
import { signal } from './signal-decider.ts'
import { tapeOf } from './tape/tape-reader.ts'
import { TAPE_TYPES } from './tape/tape-types.ts'
import { holderOf } from './writing/holder.ts'

export interface RunStore {
  /** Starts a run, by its program or by its name. Any node that has a handler of this name takes it up. */
  start<P extends string | Program>(program: P, options: StartOptions<P>): Promise<RunHandle<ResultOf<P>>>
  /** Takes up pending, woken and abandoned runs that have a handler here. */
  work(handlers: Handlers | readonly Program[], options?: RunNodeOptions): RunNode
  /** Sends a signal to a session, named by its key or id. */
  signal(session: string, name: string, data?: unknown, options?: SendOptions): Promise<Receipt>
  readonly runs: {
    list(options?: RunListOptions): Promise<{ readonly items: readonly RunRow[]; readonly cursor?: string }>
    get(id: string): Promise<RunRow | undefined>
    /** Returns a handle that waits for the run, whichever node runs it. */
    handle(id: string): Promise<RunHandle>
    /** The same for a run of this program, with the type of its result. A run of another name is refused. */
    handle<P extends Program>(program: P, id: string): Promise<RunHandle<ResultOf<P>>>
    /** Tells which lease holder may write for the run right now. */
    holder(id: string): Promise<LeaseHolder | undefined>
    cancel(id: string, reason: string): Promise<void>
    /** Records the outcome of an effect that was interrupted by a crash. */
    resolve(id: string, effect: string, resolution: Resolution): Promise<void>
    /** Returns the idempotency key of an effect, the `key` that its work receives. Branch `''` is the run itself; ordinals begin at 1; `epoch` is the current one by default. */
    effectKey(id: string, effect: Slot): Promise<string>
    /** Makes nodes take up a run that waits for a changed program. */
    wake(id: string): Promise<void>
    fork(id: string, options: ForkOptions): Promise<Run>
    /** Reads the run's events, oldest first. */
    tape(id: string, options?: { readonly signal?: AbortSignal }): AsyncGenerator<Event, void, undefined>
  }
}

export interface RunSession {
  /** Starts a run, or takes it up where it stopped. A finished run opens finished. */
  run<P extends string | Program>(program: P, ...options: OptionsFor<RunOptions<P>>): Promise<Run<InputOf<P>, ResultOf<P>>>
}

export const runs: Feature<RunStore, RunSession> = {
  name: 'runs',
  deciders: [run, signal],
  tapeTypes: TAPE_TYPES,
  onForked: 'a fork reads the tapes of its source up to the fork point',
  refs: { runs: ({ checkpoint }: RunRow) => manifestRefs(checkpoint?.manifest), signals: 'data is JSON or { digest, bytes }' },
  onSessionDeleted: cancelRuns,
  summary: lastRun,
  keptWithoutSession: { signals: 'a signal is read only by runs of its session, and those are cancelled' },
  store: (scope, only) => ({
    start: (program, options) => startRun(scope, program, options) as Promise<RunHandle<never>>,
    work: (handlers, options) => new RunNodeHandle(scope, handlers, options, only),
    signal: (session, name, data, options) => sendSignal(scope, session, name, data, options),
    runs: {
      list: (options) => listRuns(scope, options),
      get: (id) => getRun(scope, id),
      handle: (...given: [string] | [Program, string]) => handleById(scope, given),
      holder: async (id) => holderOf(scope, await theRun(scope, id)),
      cancel: (id, reason) => cancelRun(scope, id, reason),
      resolve: (id, effect, resolution) => resolveEffect(scope, id, effect, resolution),
      effectKey: (id, effect) => keyOfEffect(scope, id, effect),
      wake: (id) => wakeRun(scope, id),
      fork: async (id, options) => forkRun(scope, await theRun(scope, id), options, handOf),
      tape: async function* (id, options) {
        yield* tapeOf(scope, await theRun(scope, id), options)
      },
    },
  }),
  session: ({ scope, row }) => ({
    run: (program, ...[options]) => openRun(scope, row(), program, options) as Promise<Run<never, never>>,
  }),
}
