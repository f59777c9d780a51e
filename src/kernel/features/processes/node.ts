// A node that runs agent processes: one worker for each kind, and one that abandons processes which nobody holds.

import { refuse } from '../../../model/errors.ts'
import type { TenantId } from '../../../model/ids.ts'
import { checkKnown, invalidOption, optionsOf } from '../../../model/options.ts'
import { processQueue } from '../../../model/process.ts'
import { type Duration, milliseconds } from '../../../model/time.ts'
import { takeName } from '../../naming/names.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import type { Claim, ClaimHandle } from '../work/claim.ts'
import { localNodesOf } from '../work/local-nodes.ts'
import { Loop, waitAtMost } from '../work/loop.ts'
import { Worker } from '../work/worker/worker.ts'
import { type How, type ProcessHandler, reconcile, runProcess, type Underway } from './run-process.ts'

export interface ProcessWorkOptions {
  /** How many processes of each kind run at a time. The default is 8. */
  readonly concurrency?: number
  /** How long `close` waits for running handlers before it gives their processes back. The default is 10 s. */
  readonly drain?: Duration
  /** `'all'` runs processes of every tenant, if the store may see them. The default is `'own'`. */
  readonly tenants?: 'own' | 'all'
}

export interface ProcessNodeStats extends Readonly<Record<How, number>> {
  readonly running: number
}

export interface ProcessNode extends AsyncDisposable {
  stats(): ProcessNodeStats
  /** Claims nothing more and waits for running handlers (`drain`). The other processes are given back, or abandoned if they must not run again. */
  close(): Promise<void>
}

const CONCURRENCY = 8
const DRAIN_MS = 10_000
// Time for the handlers that were left to record how their process ended.
const LEAVE_MS = 10_000

export class ProcessWorker implements ProcessNode {
  readonly #scope: Scope
  readonly #drainMs: number
  readonly #leaving = new AbortController()
  readonly #running = new Set<Underway>()
  readonly #count: Record<How, number> = { completed: 0, failed: 0, cancelled: 0, retried: 0, abandoned: 0, given: 0, lost: 0 }
  readonly #workers: readonly Worker<unknown>[]
  readonly #watch: Loop
  readonly #unlist: () => void
  #closed: Promise<void> | undefined

  constructor(
    scope: Scope,
    handlers: Readonly<Record<string, ProcessHandler>>,
    options: ProcessWorkOptions | undefined,
    only: TenantId | undefined,
  ) {
    checkOpen(scope.engine)
    const { concurrency = CONCURRENCY, drain = DRAIN_MS, tenants = 'own', ...unknown } = optionsOf(options, 'work')
    checkKnown(unknown, 'a node')
    this.#scope = scope
    this.#drainMs = milliseconds(drain)
    const kinds = Object.entries(optionsOf(handlers, 'handlers')).map(([kind, handler]) => {
      if (typeof handler !== 'function') throw invalidOption(`handlers.${kind}`, 'a function', handler)
      return [takeName(scope, kind, 'a process kind'), handler] as const
    })
    const shared = { tenants, drain: this.#drainMs + LEAVE_MS }
    const worker = (queue: string, handle: (claim: ClaimHandle) => Promise<How>, most: number) =>
      new Worker(scope, queue, (claim: Claim) => this.#handle(claim as ClaimHandle, handle), { ...shared, concurrency: most }, only)
    this.#workers = [
      ...kinds.map(([kind, handler]) => worker(processQueue(kind), (claim) => this.#perform(claim, handler), concurrency)),
      worker(processQueue(''), reconcile, 1),
    ]
    this.#watch = new Loop(scope.engine, { of: 'a node of processes', idle: true, look: () => this.#look() })
    this.#unlist = localNodesOf(scope.engine).add(this)
  }

  stats(): ProcessNodeStats {
    return { running: this.#running.size, ...this.#count }
  }

  /** The workers of this node are woken by themselves. */
  look(): void {}

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    const ended = Promise.all(this.#workers.map((worker) => worker.close()))
    await waitAtMost(this.#scope.engine, ended, this.#drainMs)
    this.#leaving.abort(refuse('STORE_CLOSED'))
    await ended
    await this.#watch.close()
    this.#unlist()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #handle(claim: ClaimHandle, handle: (claim: ClaimHandle) => Promise<How>): Promise<void> {
    this.#count[await handle(claim)]++
  }

  #perform(claim: ClaimHandle, handler: ProcessHandler): Promise<How> {
    this.#watch.watch(claim.tenant)
    return runProcess(claim, handler, this.#leaving.signal, {
      add: (child) => void this.#running.add(child),
      remove: (child) => void this.#running.delete(child),
    })
  }

  /** Tells running handlers that their process was asked to stop, or was ended by another caller. */
  async #look(): Promise<undefined> {
    await Promise.all([...this.#running].map((child) => child.check()))
    return undefined
  }
}
