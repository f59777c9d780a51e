// A worker of a queue: so many handlers at a time; what they have ended is settled, and the next is claimed in the same commit.

import type { TenantId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import { isConflict } from '../outcome.ts'
import { checkOpen, type Scope } from '../scope.ts'
import { Ahead, type Candidate, isPlain, keyOf } from './ahead.ts'
import type { HeldClaim } from './claim.ts'
import { Handlers } from './handlers.ts'
import { Loop, patiently } from './loop.ts'
import { Places } from './places.ts'
import { claimAs } from './queue.ts'
import { Reserve } from './reserve.ts'
import { Settler } from './settling.ts'
import { Tasks } from './tasks.ts'
import { completeAndTake } from './together.ts'
import { type QueueWorker, takeTerms, type WorkerOptions, type WorkerStats, type WorkerTerms, type WorkHandler } from './worker-options.ts'

// One on its way, and one that is made ready meanwhile.
const WRITES = 2

export class Worker<T> implements QueueWorker {
  readonly #scope: Scope
  readonly #queue: string
  readonly #terms: WorkerTerms
  readonly #handlers: Handlers<T>
  readonly #settler: Settler<T>
  readonly #leaving = new AbortController()
  /** In hand here, or on their way to it. */
  readonly #ours = new Set<string>()
  readonly #tasks = new Tasks()
  readonly #loop: Loop
  readonly #ahead: Ahead
  readonly #reserve: Reserve<T>
  readonly #places: Places
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
    const { concurrency, all } = this.#terms
    this.#scope = scope
    this.#queue = queue
    this.#handlers = new Handlers(handler)
    this.#settler = new Settler({ ours: this.#ours, leaving: this.#leaving.signal, log: (...what) => this.#log(...what) })
    this.#reserve = new Reserve(concurrency)
    this.#places = new Places(this.#terms)
    this.#ahead = new Ahead(scope, {
      queue,
      all,
      most: () => Math.min(Math.max((concurrency + this.#reserve.size) * limits.workAhead, limits.workAheadLeast), limits.workWindow),
      ours: this.#ours,
      watch: (tenant) => this.#loop.watch(tenant),
    })
    this.#loop = new Loop(scope.engine, { of: `a worker of ${queue}`, look: () => this.#look() })
    this.#loop.watch(scope.tenant)
    this.#unlist = scope.engine.openRuns.addNode(this)
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

  get #room(): number {
    return this.#places.room(this.#reserve.held)
  }

  async #look(): Promise<number | undefined> {
    while (this.#room > 0 && !this.#loop.closing.aborted) {
      const picked = this.#ahead.pick(this.#room)
      if (picked.length > 0) {
        await this.#takeAll(picked)
        continue
      }
      const next = await this.#ahead.read()
      if (this.#ahead.isEmpty) return next
    }
    return undefined
  }

  async #takeAll(picked: readonly Candidate[]): Promise<void> {
    const apart = this.#reserve.isApart(this.#steady())
    const groups = Map.groupBy(picked, (candidate) => (apart || !isPlain(candidate) ? candidate.row.id : candidate.scope.tenant))
    await Promise.all([...groups.values()].map((group) => this.#takeGroup(group)))
  }

  /** Where they cannot be taken together, each is taken by itself. */
  async #takeGroup(group: readonly Candidate[]): Promise<void> {
    if (group.length > 1 && (await this.#write([], group))) return
    await Promise.all(group.map((candidate) => this.#take(candidate)))
  }

  async #take(candidate: Candidate): Promise<void> {
    const { scope, row, seen } = candidate
    const key = keyOf(scope.tenant, row.id)
    this.#ours.add(key)
    const claiming = () => claimAs<T>(scope, row, seen, this.#terms.leaseMs, true)
    const claim = await this.#places.during(0, 1, claiming).catch((error: unknown) => {
      this.#unclaimed(candidate, error)
      return 'failed' as const
    })
    if (!claim) this.#collided()
    if (claim && claim !== 'buried' && claim !== 'failed') this.#keep(claim)
    else this.#ours.delete(key)
  }

  #collided(): void {
    this.#ahead.collided()
    this.#reserve.collided(this.#steady())
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
      this.#places.ended = this.#ended.push(claim)
      this.#writeSoon()
      this.#fill()
      return
    }
    this.#places.settling++
    this.#fill()
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
    await this.#soon()
    this.#writeDue = false
    this.#writes++
    try {
      await this.#readIfDry()
      const whose = this.#ended[0]?.tenant ?? tenant
      if (whose === undefined) return
      const of = Map.groupBy(this.#ended, (claim) => claim.tenant === whose)
      this.#ended = of.get(false) ?? []
      this.#places.ended = this.#ended.length
      const ended = of.get(true) ?? []
      const written = this.#write(ended, this.#pickNext(whose))
      // There is room for a second half: once this one has left.
      if (this.#reserve.isShort(this.#room) && !this.#ahead.isEmpty) this.#soon().then(() => this.#writeSoon(whose))
      if (await written) return
      this.#places.settling += ended.length
      await Promise.all(ended.map((claim) => this.#settler.settle(claim, { how: 'done' })))
      this.#places.settling -= ended.length
      this.#fill()
    } finally {
      this.#writes--
      if (this.#ended.length > 0) this.#writeSoon()
      if (this.#room > 0) this.look()
    }
  }

  /** What comes next is claimed with what has ended, where that is known or can be. */
  async #readIfDry(): Promise<void> {
    if (this.#loop.closing.aborted) return
    this.#ahead.readOn(this.#reserve.half * 2)
    if (!this.#ahead.isEmpty || this.#ahead.ranDry) return
    await this.#ahead.read().catch((error: unknown) => this.#log('a worker could not look for work', '', error))
  }

  #pickNext(tenant: TenantId): readonly Candidate[] {
    return this.#loop.closing.aborted ? [] : this.#ahead.pickPlain(tenant, this.#reserve.share(this.#room, this.#steady()))
  }

  /** All of it in one commit. False where that could not be: which of them it was about is seen when each is settled or taken by itself. */
  async #write(ended: readonly HeldClaim<T>[], next: readonly Candidate[]): Promise<boolean> {
    const scope = ended[0]?.scope ?? next[0]?.scope
    if (!scope) return true
    for (const { row } of next) this.#ours.add(keyOf(scope.tenant, row.id))
    const since = this.#steady()
    const together = async () => Promise.allSettled(await completeAndTake<T>(scope, ended, next, this.#terms.leaseMs))
    let taken: readonly PromiseSettledResult<HeldClaim<T>>[]
    try {
      taken = await this.#places.during(ended.length, next.length, together)
    } catch (error) {
      if (isConflict(error, 'work')) this.#collided()
      for (const { row } of next) this.#ours.delete(keyOf(scope.tenant, row.id))
      if (ended.length > 0) this.#ahead.putBack(next)
      return false
    }
    const now = this.#steady()
    if (this.#terms.outstanding === this.#terms.concurrency) this.#writeMs = now - since
    this.#settler.completed(ended)
    this.#reserve.grow(now)
    this.#keep(...taken.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : [])))
    for (const [i, result] of taken.entries()) if (result.status === 'rejected') this.#unclaimed(next[i] as Candidate, result.reason)
    return true
  }

  #unclaimed(candidate: Candidate, error: unknown): void {
    this.#ours.delete(keyOf(candidate.scope.tenant, candidate.row.id))
    this.#ahead.rest(candidate)
    this.#log('an item could not be claimed', candidate.row.id, error)
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
