// A worker of a queue: so many handlers at a time; what they have ended is settled, and the next is claimed in the same commit.

import { InkError } from '../../../model/errors.ts'
import type { TenantId } from '../../../model/ids.ts'
import { limits } from '../../../model/limits.ts'
import { isConflict } from '../../outcome.ts'
import { checkOpen, type Scope } from '../../scope.ts'
import type { HeldClaim } from '../claim.ts'
import { Loop, patiently } from '../loop.ts'
import { TaskGroup } from '../task-group.ts'
import { ClaimedAhead } from './claimed-ahead.ts'
import { Claimer } from './claimer.ts'
import { type Arriving, claimedAfterAll, completeAndTake } from './complete-and-claim.ts'
import { type Ended, Handlers } from './handlers.ts'
import { type Candidate, keyOf } from './prefetch.ts'
import { Settler } from './settling.ts'
import { Slots } from './slots.ts'
import { type QueueWorker, takeTerms, type WorkerOptions, type WorkerStats, type WorkerTerms, type WorkHandler } from './worker-options.ts'

// One on its way, and one that is made ready meanwhile.
const WRITES = 2
const DONE: Ended = { how: 'done' }

export class Worker<T> implements QueueWorker {
  readonly #scope: Scope
  readonly #queue: string
  readonly #terms: WorkerTerms
  readonly #handlers: Handlers<T>
  readonly #settler: Settler<T>
  readonly #leaving = new AbortController()
  /** In hand here, or on their way to it. */
  readonly #ours = new Set<string>()
  readonly #tasks = new TaskGroup()
  readonly #loop: Loop
  readonly #intake: Claimer<T>
  readonly #reserve: ClaimedAhead<T>
  readonly #places: Slots
  readonly #unlist: () => void
  /** Done by their handlers, and not written yet. */
  #ended: HeldClaim<T>[] = []
  #taken = 0
  /** What the last write took, where a handler's place waits for it. */
  #writeMs = 0
  #writes = 0
  #writeDue = false
  #watching = false
  #closed: Promise<void> | undefined

  constructor(scope: Scope, queue: string, handler: WorkHandler<T>, options: WorkerOptions | undefined, only: TenantId | undefined) {
    checkOpen(scope.engine)
    this.#terms = takeTerms(scope, handler, options, only)
    this.#scope = scope
    this.#queue = queue
    this.#handlers = new Handlers(handler)
    this.#settler = new Settler({ ours: this.#ours, leaving: this.#leaving.signal, log: (...what) => this.#log(...what) })
    this.#reserve = new ClaimedAhead(this.#terms.concurrency)
    this.#places = new Slots(this.#terms, () => this.#ended.length)
    this.#loop = new Loop(scope.engine, { of: `a worker of ${queue}`, look: () => this.#intake.look() })
    this.#intake = new Claimer(scope, {
      queue,
      terms: this.#terms,
      ours: this.#ours,
      places: this.#places,
      reserve: this.#reserve,
      closing: () => this.#loop.closing.aborted,
      watch: (tenant) => this.#loop.watch(tenant),
      keep: (claim) => this.#keep(claim),
      together: (group) => this.#write([], group),
      log: (...what) => this.#log(...what),
    })
    this.#loop.watch(scope.tenant)
    this.#unlist = scope.engine.localRuns.addNode(this)
    scope.engine.scheduler.start()
  }

  stats(): WorkerStats {
    const { held } = this.#reserve
    return { running: this.#ours.size - this.#places.arriving - held, reserved: held, taken: this.#taken, ...this.#settler.count }
  }

  look(): void {
    this.#loop.hurry()
  }

  /** Takes nothing more; what is underway may end, and what does not is given back. */
  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    await this.#loop.close()
    this.#tasks.add(this.#settler.giveBack(this.#reserve.takeBack()))
    const ended = this.#tasks.ended()
    await patiently(this.#scope.engine, ended, this.#terms.drainMs)
    this.#leaving.abort()
    this.#handlers.leave()
    await ended
    this.#unlist()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Begun at once where there is room. Claimed on the way out, it is given back as it is. */
  #keep(...claims: readonly HeldClaim<T>[]): void {
    if (this.#loop.closing.aborted) {
      this.#tasks.add(this.#settler.giveBack(claims))
      return
    }
    const now = this.#steady()
    for (const claim of claims) this.#reserve.put(claim, now)
    this.#fill()
    if (this.#reserve.held > 0 && !this.#watching) this.#tasks.add(this.#watchReserve())
  }

  #fill(): void {
    while (this.#places.mayBegin && !this.#loop.closing.aborted) {
      const claim = this.#reserve.take()
      if (!claim) return
      if (claim.signal.aborted) {
        this.#tasks.add(this.#settler.settle(claim, { how: 'left' }))
        continue
      }
      this.#taken++
      this.#places.busy++
      this.#tasks.add(this.#perform(claim))
    }
  }

  /** Handlers may have turned slow: what waits for them meanwhile is for others. */
  async #watchReserve(): Promise<void> {
    const heldMs = Math.min(limits.workReserveHeldMs, this.#terms.leaseMs / 2)
    this.#watching = true
    while (this.#reserve.held > 0 && !this.#loop.closing.aborted) {
      await this.#scope.engine.environment.timer.after(heldMs / 2, this.#loop.closing).catch(() => {})
      if (!this.#loop.closing.aborted) await this.#settler.giveBack(this.#reserve.takeBack(this.#steady(), heldMs))
    }
    this.#watching = false
  }

  async #perform(claim: HeldClaim<T>): Promise<void> {
    const since = this.#steady()
    const ended = await this.#handlers.handle(claim)
    this.#reserve.handled(this.#steady() - since + this.#writeMs)
    this.#places.busy--
    if (ended.how === 'done' && !claim.how && !claim.origin && !claim.signal.aborted) {
      this.#ended.push(claim)
      this.#fill()
      this.#writeSoon()
      return
    }
    const settled = this.#settleAlone(claim, ended)
    this.#fill()
    await settled
  }

  async #settleAlone(claim: HeldClaim<T>, ended: Ended): Promise<void> {
    this.#places.settling++
    await this.#settler.settle(claim, ended)
    this.#places.settling--
    this.#fill()
    this.look()
  }

  /** Everything that ends in this moment is written together, of one tenant after the other. */
  #writeSoon(tenant?: TenantId): void {
    if (this.#writeDue || this.#writes >= WRITES) return
    this.#writeDue = true
    this.#tasks.add(this.#writeEnded(tenant))
  }

  async #writeEnded(tenant?: TenantId): Promise<void> {
    // Where no handler is at work, nobody is waited for, unless it is the half that leaves second.
    if (this.#places.busy > 0 || tenant !== undefined) await this.#soon()
    this.#writeDue = false
    this.#writes++
    try {
      await this.#intake.readIfDry()
      const whose = this.#ended[0]?.tenant ?? tenant
      if (whose === undefined) return
      const ended = this.#takeEnded(whose)
      const next = this.#intake.next(whose)
      const written = this.#write(ended, next)
      // There is room for a second half: once this one has left.
      if (next.length > 0 && this.#reserve.isShort(this.#intake.room)) this.#tasks.add(this.#soon().then(() => this.#writeSoon(whose)))
      if (!(await written)) for (const claim of ended) this.#tasks.add(this.#settleAlone(claim, DONE))
    } finally {
      this.#writes--
      if (this.#ended.length > 0) this.#writeSoon()
      if (this.#intake.room > 0) this.look()
    }
  }

  #takeEnded(tenant: TenantId): readonly HeldClaim<T>[] {
    const { ours = [], others = [] } = Object.groupBy(this.#ended, (claim) => (claim.tenant === tenant ? 'ours' : 'others'))
    this.#ended = others
    // Some handlers settle their item when nobody expects it any more.
    const { open = [], settled = [] } = Object.groupBy(ours, (claim) => (claim.how || claim.signal.aborted ? 'settled' : 'open'))
    for (const claim of settled) this.#tasks.add(this.#settleAlone(claim, DONE))
    return open
  }

  /** All of it in one commit. False where that could not be: which of them it was about is seen when each is settled or taken by itself. */
  async #write(ended: readonly HeldClaim<T>[], next: readonly Candidate[]): Promise<boolean> {
    const scope = ended[0]?.scope ?? next[0]?.scope
    if (!scope) return true
    for (const { row } of next) this.#ours.add(keyOf(scope.tenant, row.id))
    const since = this.#steady()
    const together = () => completeAndTake<T>(scope, ended, next, this.#terms.leaseMs)
    let taken: readonly Arriving<T>[]
    try {
      taken = await this.#places.during(ended.length, next.length, together)
    } catch (error) {
      if (isConflict(error, 'work')) this.#intake.collided()
      if (error instanceof InkError && error.kind === 'unknown') this.#tasks.add(this.#findOut(scope, next, error, since))
      else this.#leaveAlone(next, ended.length > 0)
      return false
    }
    const now = this.#steady()
    if (this.#terms.outstanding === this.#terms.concurrency) this.#writeMs = now - since
    this.#settler.completed(ended)
    this.#reserve.grow(now)
    this.#keepAll(scope.tenant, taken)
    return true
  }

  #leaveAlone(next: readonly Candidate[], forLater: boolean): void {
    for (const { scope, row } of next) this.#ours.delete(keyOf(scope.tenant, row.id))
    if (forLater) this.#intake.putBack(next)
  }

  #keepAll(tenant: TenantId, taken: readonly Arriving<T>[]): void {
    for (const { id } of taken) this.#ours.add(keyOf(tenant, id))
    this.#keep(...taken.flatMap(({ claim }) => (claim instanceof Promise ? [] : [claim])))
    for (const { id, claim } of taken) if (claim instanceof Promise) this.#tasks.add(this.#arrive(tenant, id, claim))
  }

  async #arrive(tenant: TenantId, id: string, claim: Promise<HeldClaim<T>>): Promise<void> {
    try {
      this.#keep(await this.#places.during(0, 1, () => claim))
    } catch (error) {
      // It was set aside already, and comes again when it can be read.
      this.#ours.delete(keyOf(tenant, id))
      this.#log('an item could not be claimed', id, error)
    }
  }

  async #findOut(scope: Scope, next: readonly Candidate[], error: InkError, since: number): Promise<void> {
    const taken = await claimedAfterAll<T>(scope, next, error, this.#terms.leaseMs, since, this.#leaving.signal)
    this.#leaveAlone(next, false)
    this.#keepAll(scope.tenant, taken)
  }

  #soon(): Promise<void> {
    return new Promise((resolve) => this.#scope.engine.environment.timer.soon(resolve))
  }

  #steady(): number {
    return this.#scope.engine.environment.clock.monotonic()
  }

  #log(message: string, item: string, error: unknown): void {
    this.#scope.engine.environment.logger.error(message, { queue: this.#queue, item, error: String(error) })
  }
}
