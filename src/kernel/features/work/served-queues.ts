// Tells the store what this process handles, and renews it while it works (a heartbeat). Other processes read from it which names nobody
// handles. Nothing depends on it: a row that cannot be written delays no work.

import type { TenantId } from '../../../model/ids.ts'
import { limits } from '../../../model/limits.ts'
import { VERSION } from '../../../model/version.ts'
import type { WorkerData } from '../../../model/worker.ts'
import { enginePart } from '../../wiring/per-engine.ts'
import type { Engine, Scope } from '../../wiring/scope.ts'
import { isClosed } from '../../writing/commit-outcome.ts'

interface Served {
  readonly scope: Scope
  /** Undefined for a worker that serves every tenant. */
  readonly tenant: TenantId | undefined
  readonly worker: WorkerData
}

export class ServedQueues {
  readonly #engine: Engine
  readonly #served = new Set<Served>()
  /** Workers that were never written. */
  #fresh: Served[] = []
  #isRunning = false
  #wake: () => void = () => {}
  /** Writes follow one another: a renewal on its way must not revive a worker that has ended. */
  #writes: Promise<void> = Promise.resolve()
  #beats = 0

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** Returns how to end it. `beat` is called with each heartbeat, for one of the served scopes in turn. */
  add(scope: Scope, tenants: 'own' | 'all', queues: readonly string[], beat: (scope: Scope) => Promise<void>): () => Promise<void> {
    const worker = { id: this.#engine.newId(), version: VERSION, queues }
    const served = { scope, tenant: tenants === 'all' ? undefined : scope.tenant, worker }
    this.#served.add(served)
    this.#fresh.push(served)
    this.#wake()
    if (!this.#isRunning) void this.#run(beat)
    return () => this.#end(served)
  }

  /** Whether a worker of this process takes items from the queue. */
  handles(tenant: TenantId, queue: string): boolean {
    for (const served of this.#served)
      if ((served.tenant === undefined || served.tenant === tenant) && served.worker.queues.includes(queue)) return true
    return false
  }

  #end(served: Served): Promise<void> {
    this.#served.delete(served)
    const isWritten = !this.#fresh.includes(served)
    this.#fresh = this.#fresh.filter((one) => one !== served)
    if (this.#served.size === 0) this.#wake()
    return isWritten ? this.#write([served], 0) : Promise.resolve()
  }

  async #run(beat: (scope: Scope) => Promise<void>): Promise<void> {
    const { closing } = this.#engine
    this.#isRunning = true
    // Workers that are made in one go are written together.
    await Promise.resolve()
    let next = this.#timer()
    while (this.#served.size > 0 && !closing.aborted) {
      const woken = new Promise<void>((resolve) => (this.#wake = resolve))
      if (this.#fresh.length > 0) await this.#write(this.#fresh.splice(0), limits.workerLiveMs)
      await Promise.race([next.over, woken])
      if (!next.isOver() || closing.aborted) continue
      next = this.#timer()
      await this.#write([...this.#served], limits.workerLiveMs)
      const scopes = [...new Map([...this.#served].map(({ scope }) => [scope.tenant, scope])).values()]
      const scope = scopes[this.#beats++ % Math.max(scopes.length, 1)]
      if (scope) await beat(scope)
    }
    next.stop()
    this.#isRunning = false
  }

  /** The time until the next heartbeat. It does not keep the process alive. */
  #timer(): { readonly over: Promise<void>; readonly isOver: () => boolean; readonly stop: () => void } {
    const stop = new AbortController()
    const { environment, closing } = this.#engine
    let isOver = false
    const end = () => {
      isOver = true
    }
    const onClosing = () => stop.abort()
    closing.addEventListener('abort', onClosing, { once: true })
    const over = environment.timer
      .idly(limits.workerRenewMs, stop.signal)
      .then(end, end)
      .finally(() => closing.removeEventListener('abort', onClosing))
    return { over, isOver: () => isOver, stop: onClosing }
  }

  #write(served: readonly Served[], ms: number): Promise<void> {
    this.#writes = this.#writes.then(() => this.#renew(ms === 0 ? served : served.filter((one) => this.#served.has(one)), ms))
    return this.#writes
  }

  async #renew(served: readonly Served[], ms: number): Promise<void> {
    const { backend, environment, options, closing } = this.#engine
    if (options.readOnly) return
    for (const [tenant, group] of Map.groupBy(served, (one) => one.tenant)) {
      const workers = group.map(({ worker }) => worker)
      try {
        await backend.workers.renew(tenant, workers, ms, limits.workerKeptMs)
      } catch (error) {
        // The backend was closed beneath the store: nothing is written any more.
        if (isClosed(error)) this.#served.clear()
        else if (!closing.aborted)
          environment.logger.warn('it could not be noted what this process handles', { workers: workers.length, error: String(error) })
      }
    }
  }
}

export const servedQueuesOf = enginePart((engine) => new ServedQueues(engine))
