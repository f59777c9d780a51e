// What a store offers about runs, put together for one tenant's view.

import { refuse } from '../../model/errors.ts'
import type { Event, Receipt } from '../../model/event.ts'
import type { TenantId } from '../../model/ids.ts'
import type { RunRow } from '../../model/run.ts'
import { readEvents } from '../read.ts'
import type { Scope } from '../scope.ts'
import { cancelRun, getRun, listRuns, type Resolution, type RunListOptions, resolveEffect, wakeRun } from './admin.ts'
import { type ForkOptions, forkRun } from './fork.ts'
import { holderOf, type RunHolder } from './holder.ts'
import { type Handler, type RunNode, RunNodeHandle, type RunNodeOptions } from './node.ts'
import type { Run } from './run.ts'
import { type SendOptions, sendSignal } from './signal.ts'
import { handleOf, type RunHandle, type StartOptions, startRun } from './start.ts'
import { tapeOf } from './tape-reader.ts'

export interface RunSurface {
  /** For whoever has a handler of this name, on any node. */
  start(name: string, options: StartOptions): Promise<RunHandle>
  /** Takes up pending, woken and abandoned runs that have a handler here. */
  work(handlers: Readonly<Record<string, Handler>>, options?: RunNodeOptions): RunNode
  /** Tells a session, by its key or id, that something happened. */
  signal(session: string, name: string, data?: unknown, options?: SendOptions): Promise<Receipt>
  readonly runs: {
    list(options?: RunListOptions): Promise<{ readonly items: readonly RunRow[]; readonly cursor?: string }>
    get(id: string): Promise<RunRow | undefined>
    /** To wait for it, whoever runs it. */
    handle(id: string): Promise<RunHandle>
    /** Who may write for it right now. */
    holder(id: string): Promise<RunHolder | undefined>
    cancel(id: string, reason: string): Promise<void>
    /** Says how an effect ended that was begun and of which nothing is known. */
    resolve(id: string, effect: string, resolution: Resolution): Promise<void>
    /** Has a run that waits for the right program taken up again. */
    wake(id: string): Promise<void>
    fork(id: string, options: ForkOptions): Promise<Run>
    tape(id: string): AsyncGenerator<Event, void, undefined>
  }
}

/** `only` is the tenant whose runs a node may take up; without it those of all. */
export function runSurface(scope: Scope, only: TenantId | undefined): RunSurface {
  const that = async (id: string): Promise<RunRow> => {
    const row = await getRun(scope, id)
    if (!row) throw refuse('RUN_UNKNOWN', { run: id, tenant: scope.tenant })
    return row
  }
  return {
    start: (name, options) => startRun(scope, name, options),
    work: (handlers, options) => new RunNodeHandle(scope, handlers, options, only),
    signal: (session, name, data, options) => sendSignal(scope, session, name, data, options),
    runs: {
      list: (options) => listRuns(scope, options),
      get: (id) => getRun(scope, id),
      handle: async (id) => handleOf(scope, await that(id)),
      holder: async (id) => holderOf(scope, await that(id)),
      cancel: (id, reason) => cancelRun(scope, id, reason),
      resolve: (id, effect, resolution) => resolveEffect(scope, id, effect, resolution),
      wake: (id) => wakeRun(scope, id),
      fork: async (id, options) => forkRun(scope, await that(id), options),
      tape: async function* (id) {
        yield* tapeOf(scope, await that(id), (query) => readEvents(scope, query))
      },
    },
  }
}
