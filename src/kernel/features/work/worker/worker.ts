// A worker of a queue: runs handlers on claimed items, completes what they have done, and claims the next items in the same commit.

import type { TenantId } from '../../../../model/ids.ts'
import { limits } from '../../../../model/limits.ts'
import { checkOpen, type Scope } from '../../../wiring/scope.ts'
import type { ClaimHandle } from '../claim.ts'
import { localNodesOf } from '../local-nodes.ts'
import { Loop, waitAtMost } from '../loop.ts'
import { schedulerOf } from '../scheduler.ts'
import { serve } from '../unhandled.ts'
import { Claimer } from './claimer.ts'
import { type Ended, giveBack, settle } from './settle.ts'
import { type QueueWorker, takeTerms, type WorkerOptions, type WorkerStats, type WorkHandler } from './worker-options.ts'
import { WorkerState } from './worker-state.ts'

// One commit is at the store while the next is prepared.
const WRITES = 2
const DONE: Ended = { how: 'done' }
const LEFT: Ended = { how: 'left' }

export class Worker<T> implements QueueWorker {
  readonly #state: WorkerState<T>
  readonly #handler: WorkHandler<T>
  readonly #loop: Loop
  readonly #claimer: Claimer<T>
  readonly #unlist: () => void
  readonly #unserve: () => Promise<void>
  #writes = 0
  #isWriteDue = false
  #isWatchingReserve = false
  #closed: Promise<void> | undefined

  constructor(scope: Scope, queue: string, handler: WorkHandler<T>, options: WorkerOptions | undefined, only: TenantId | undefined) {
    checkOpen(scope.engine)
    this.#state = new WorkerState(scope, queue, takeTerms(scope, handler, options, only))
    this.#handler = handler
    this.#loop = new Loop(scope.engine, { of: `a worker of ${queue}`, look: () => this.#claimer.look() })
    this.#claimer = new Claimer(this.#state, this.#loop, (claims) => this.#begin(claims))
    this.#loop.watch(scope.tenant, true)
    this.#unlist = localNodesOf(scope.engine).add(this)
    this.#unserve = serve(scope, this.#state.terms.tenants, [queue])
    schedulerOf(scope.engine).start()
  }

  stats(): WorkerStats {
    return this.#state.stats()
  }

  look(): void {
    this.#loop.hurry()
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    const { scope, terms, tasks, leaving, reserve } = this.#state
    await this.#loop.close()
    const unserved = this.#unserve()
    tasks.add(giveBack(this.#state, reserve.takeBack()))
    const ended = tasks.ended()
    await waitAtMost(scope.engine, ended, terms.drainMs)
    leaving.abort()
    await ended
    await unserved
    this.#unlist()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Hands claims to handlers as slots allow. A worker that closes gives them back instead. */
  #begin(claims: readonly ClaimHandle<T>[]): void {
    const { reserve, tasks } = this.#state
    if (this.#loop.closing.aborted) {
      tasks.add(giveBack(this.#state, claims))
      return
    }
    const now = this.#state.now()
    for (const claim of claims) reserve.put(claim, now)
    this.#fillSlots()
    if (reserve.held > 0 && !this.#isWatchingReserve) tasks.add(this.#watchReserve())
  }

  #fillSlots(): void {
    const { reserve, tasks, count } = this.#state
    while (this.#state.mayBegin && !this.#loop.closing.aborted) {
      const claim = reserve.take()
      if (!claim) return
      if (claim.signal.aborted) {
        tasks.add(settle(this.#state, claim, LEFT))
        continue
      }
      count.taken++
      this.#state.running++
      tasks.add(this.#handle(claim))
    }
  }

  /** Gives back items that were claimed ahead, when handlers have turned slow. */
  async #watchReserve(): Promise<void> {
    const { scope, terms, reserve } = this.#state
    const { closing } = this.#loop
    const heldMs = Math.min(limits.workReserveHeldMs, terms.leaseMs / 2)
    this.#isWatchingReserve = true
    while (reserve.held > 0 && !closing.aborted) {
      await scope.engine.environment.timer.after(heldMs / 2, closing).catch(() => {})
      if (!closing.aborted) await giveBack(this.#state, reserve.takeBack(this.#state.now(), heldMs))
    }
    this.#isWatchingReserve = false
  }

  async #handle(claim: ClaimHandle<T>): Promise<void> {
    const since = this.#state.now()
    const ended = await this.#callHandler(claim)
    this.#state.reserve.handled(this.#state.now() - since)
    this.#state.running--
    if (ended.how === 'done' && !claim.how && !claim.origin && !claim.signal.aborted) {
      this.#state.ended.push(claim)
      this.#fillSlots()
      this.#writeSoon()
      return
    }
    const settled = this.#settleAlone(claim, ended)
    this.#fillSlots()
    await settled
  }

  /** Stops waiting for the handler when the worker leaves. The handler may go on, but its claim is given back. */
  async #callHandler(claim: ClaimHandle<T>): Promise<Ended> {
    const { signal } = this.#state.leaving
    if (signal.aborted) return LEFT
    const left = Promise.withResolvers<Ended>()
    const leave = () => left.resolve(LEFT)
    signal.addEventListener('abort', leave)
    try {
      const done = (async () => this.#handler(claim))()
      return await Promise.race([done.then(() => DONE), left.promise])
    } catch (error) {
      return { how: 'failed', error }
    } finally {
      signal.removeEventListener('abort', leave)
    }
  }

  async #settleAlone(claim: ClaimHandle<T>, ended: Ended): Promise<void> {
    this.#state.settling++
    await settle(this.#state, claim, ended)
    this.#state.settling--
    this.#fillSlots()
    this.look()
  }

  /** Writes everything that ends in this moment in one commit for each tenant, one tenant after the other. */
  #writeSoon(tenant?: TenantId): void {
    if (this.#isWriteDue || this.#writes >= WRITES) return
    this.#isWriteDue = true
    this.#state.tasks.add(this.#writeEnded(tenant))
  }

  /** With a `tenant`, this is the second half of a claim ahead, and nothing needs to have ended. */
  async #writeEnded(tenant?: TenantId): Promise<void> {
    const { reserve, tasks } = this.#state
    // Other running handlers may end in this moment too.
    if (this.#state.running > 0 || tenant !== undefined) await this.#soon()
    this.#isWriteDue = false
    this.#writes++
    try {
      await this.#claimer.readIfEmpty()
      const whose = this.#state.ended[0]?.tenant ?? tenant
      if (whose === undefined) return
      const ended = this.#takeEnded(whose)
      const next = this.#claimer.next(whose)
      const written = this.#claimer.write(ended, next)
      // The worker may claim a second half ahead, once this one is on its way.
      if (next.length > 0 && reserve.isShort(this.#state.room)) tasks.add(this.#soon().then(() => this.#writeSoon(whose)))
      if (!(await written)) for (const claim of ended) tasks.add(this.#settleAlone(claim, DONE))
    } finally {
      this.#writes--
      if (this.#state.ended.length > 0) this.#writeSoon()
      if (this.#state.room > 0) this.look()
    }
  }

  #takeEnded(tenant: TenantId): readonly ClaimHandle<T>[] {
    const { ours = [], others = [] } = Object.groupBy(this.#state.ended, (claim) => (claim.tenant === tenant ? 'ours' : 'others'))
    this.#state.ended = others
    // A handler may settle its claim after it has returned.
    const { open = [], settled = [] } = Object.groupBy(ours, (claim) => (claim.how || claim.signal.aborted ? 'settled' : 'open'))
    for (const claim of settled) this.#state.tasks.add(this.#settleAlone(claim, DONE))
    return open
  }

  #soon(): Promise<void> {
    return new Promise((resolve) => this.#state.scope.engine.environment.timer.soon(resolve))
  }
}
