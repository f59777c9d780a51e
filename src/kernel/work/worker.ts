// A worker of a queue: so many handlers at a time, each item settled when its handler ends, and the next one claimed in the same commit.

import { InkError, refuse } from '../../model/errors.ts'
import type { TenantId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import { optionsOf } from '../../model/options.ts'
import { type Body, decodeBody, type StoredRow } from '../../model/rows.ts'
import { type Duration, milliseconds } from '../../model/time.ts'
import type { WorkRow } from '../../model/work.ts'
import type { DoneRow } from '../execute.ts'
import { FinalError } from '../runs/effect.ts'
import { checkOpen, type Scope } from '../scope.ts'
import { type Claim, type HeldClaim, inHand, taking } from './claim.ts'
import { Loop } from './loop.ts'
import { orphans } from './orphans.ts'
import { claimAs, takeLease } from './queue.ts'

export type WorkHandler<T> = (claim: Claim<T>) => unknown

export interface WorkerOptions {
  /** How many items at a time. The default is 8. */
  readonly concurrency?: number
  /** How long an item is held without a renewal; it is renewed as long as its handler works on it. */
  readonly lease?: Duration
  /** How long `close` waits for handlers that are underway before it lets go of them. The default is 10 s. */
  readonly drain?: Duration
  /** Items of every tenant, where the store may see them all. The default is its own. */
  readonly tenants?: 'own' | 'all'
}

export interface WorkerStats {
  readonly running: number
  readonly taken: number
  readonly completed: number
  /** Tried again later. */
  readonly failed: number
  /** Out of attempts. */
  readonly died: number
  /** Somebody else has them by now. */
  readonly lost: number
}

const CONCURRENCY = 8
const DRAIN_MS = 10_000
const TENANTS_AT_A_TIME = 100

interface Candidate {
  readonly scope: Scope
  readonly row: StoredRow
  readonly item: WorkRow
  /** What the store's clock said when it was read. */
  readonly now: number
}

export class QueueWorker<T> implements AsyncDisposable {
  readonly #scope: Scope
  readonly #queue: string
  readonly #handler: WorkHandler<T>
  readonly #concurrency: number
  readonly #leaseMs: number
  readonly #drainMs: number
  readonly #all: boolean
  readonly #leaving = new AbortController()
  readonly #running = new Map<string, Promise<void>>()
  /** On their way to be claimed here. */
  readonly #taking = new Set<string>()
  readonly #count = { taken: 0, completed: 0, failed: 0, died: 0, lost: 0 }
  readonly #loop: Loop
  readonly #unlist: () => void
  /** Read ahead, in order. */
  #ahead: Candidate[] = []
  #readAt = -Infinity
  #searchedAt = -Infinity
  #reading: Promise<number | undefined> | undefined
  /** Others take from the same end: from then on any of those read ahead will do. */
  #collided = false
  #closed: Promise<void> | undefined

  constructor(scope: Scope, queue: string, handler: WorkHandler<T>, options: WorkerOptions | undefined, only: TenantId | undefined) {
    checkOpen(scope.engine)
    const { concurrency = CONCURRENCY, lease, drain = DRAIN_MS, tenants = 'own' } = optionsOf(options, 'work')
    const wrong = (option: string, why: string) => refuse('OPTION_INVALID', { option, why })
    if (typeof handler !== 'function') throw wrong('handler', 'it is a function of a claim')
    if (!Number.isSafeInteger(concurrency) || concurrency < 1) throw wrong('concurrency', 'it is a whole number from 1 on')
    if (tenants !== 'own' && tenants !== 'all') throw wrong('tenants', "it is 'own' or 'all'")
    if (tenants === 'all' && only !== undefined) throw refuse('TENANT_WALL', { tenant: scope.tenant, call: "work({ tenants: 'all' })" })
    this.#scope = scope
    this.#queue = queue
    this.#handler = handler
    this.#concurrency = concurrency
    this.#leaseMs = takeLease(scope, lease)
    this.#drainMs = milliseconds(drain)
    this.#all = tenants === 'all'
    this.#loop = new Loop(scope.engine, { of: `a worker of ${queue}`, look: () => this.#look() })
    this.#loop.watch(scope.tenant)
    this.#unlist = scope.engine.openRuns.addNode(this)
    scope.engine.scheduler.start()
  }

  stats(): WorkerStats {
    return { running: this.#running.size, ...this.#count }
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
    const patience = new AbortController()
    const ended = Promise.allSettled(this.#running.values()).then(() => patience.abort())
    await this.#scope.engine.environment.timer.after(this.#drainMs, patience.signal).catch(() => {})
    this.#leaving.abort(refuse('STORE_CLOSED'))
    await ended
    this.#unlist()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #look(): Promise<number | undefined> {
    let next: number | undefined
    while (this.#running.size < this.#concurrency && !this.#loop.closing.aborted) {
      const candidate = this.#pick()
      if (candidate) {
        await this.#take(candidate)
        continue
      }
      next = await this.#read()
      if (this.#ahead.length === 0) return next
    }
    return undefined
  }

  #pick(tenant?: TenantId): Candidate | undefined {
    const { clock } = this.#scope.engine.environment
    if (clock.monotonic() - this.#readAt > limits.workAheadMs) this.#ahead = []
    const mine = tenant === undefined ? this.#ahead : this.#ahead.filter(({ scope }) => scope.tenant === tenant)
    // Nothing is put before what is more urgent.
    const alike = this.#collided ? mine.filter(({ item }) => item.priority === mine[0]?.item.priority).length : 1
    const picked = mine[(this.#scope.engine.environment.entropy.bytes(1)[0] as number) % Math.max(alike, 1)]
    if (picked) this.#ahead = this.#ahead.filter((candidate) => candidate !== picked)
    return picked
  }

  /** What can be claimed, of all tenants it is for; the answer is how long, at most, nothing more is due. */
  #read(): Promise<number | undefined> {
    this.#reading ??= this.#readNow().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  async #readNow(): Promise<number | undefined> {
    const { engine } = this.#scope
    const most = Math.min(this.#concurrency * limits.workAhead, limits.workWindow)
    const tenants = this.#all
      ? (await engine.backend.queries.due(this.#queue, TENANTS_AT_A_TIME)).map(({ tenant }) => tenant)
      : [this.#scope.tenant]
    const steady = engine.environment.clock.monotonic()
    const search = steady - this.#searchedAt >= limits.lookEveryMs
    if (search) this.#searchedAt = steady
    const ahead: Candidate[] = []
    let wait: number | undefined
    for (const tenant of tenants) {
      this.#loop.watch(tenant)
      const scope = { ...this.#scope, tenant }
      const { now, rows, next } = await engine.backend.queries.ready(tenant, this.#queue, most)
      const left = search ? await orphans(scope, this.#queue) : []
      if (next !== undefined) wait = Math.min(wait ?? Infinity, next - now)
      for (const row of [...rows, ...left]) ahead.push({ scope, row, now, item: decodeBody<WorkRow & Body>(row.body) })
    }
    this.#ahead = ahead.filter(
      ({ scope: { tenant }, row: { id } }) => !this.#running.has(keyOf(tenant, id)) && !this.#taking.has(keyOf(tenant, id)),
    )
    this.#collided = false
    this.#readAt = engine.environment.clock.monotonic()
    return wait
  }

  async #take({ scope, row, now }: Candidate): Promise<void> {
    const claim = await this.#whileTaking(scope, row, () => claimAs<T>(scope, row, now, this.#leaseMs, true))
    if (!claim) this.#collided = true
    else this.#begin(claim)
  }

  #begin(first: HeldClaim<T>): void {
    this.#count.taken++
    const key = keyOf(first.tenant, first.id)
    const work = this.#perform(first)
      .catch((error: unknown) => {
        this.#scope.engine.environment.logger.error('an item could not be settled', {
          queue: this.#queue,
          item: first.id,
          error: String(error),
        })
      })
      .then((next) => {
        this.#running.delete(key)
        if (next) this.#begin(next)
        else this.look()
      })
    this.#running.set(key, work)
  }

  /** The answer is the item that was claimed with the settling of this one. */
  async #perform(claim: HeldClaim<T>): Promise<HeldClaim<T> | undefined> {
    const left = Promise.withResolvers<never>()
    const leave = () => left.reject(this.#leaving.signal.reason)
    if (this.#leaving.signal.aborted) leave()
    else this.#leaving.signal.addEventListener('abort', leave, { once: true })
    try {
      await Promise.race([this.#handler(claim), left.promise])
      if (claim.isSettled) return undefined
      return await this.#completeAndTake(claim)
    } catch (error) {
      await this.#failed(claim, error)
      return undefined
    } finally {
      this.#leaving.signal.removeEventListener('abort', leave)
    }
  }

  async #failed(claim: HeldClaim<T>, error: unknown): Promise<void> {
    if (claim.isSettled || claim.signal.aborted) {
      this.#count.lost++
      return
    }
    if (error === this.#leaving.signal.reason) return claim.giveBack(0, true)
    const left = await claim.fail(error, { final: error instanceof FinalError })
    this.#count[left === 'dead' ? 'died' : 'failed']++
  }

  async #completeAndTake(claim: HeldClaim<T>): Promise<HeldClaim<T> | undefined> {
    const candidate = await this.#successor(claim)
    if (candidate) {
      const { scope, row, now } = candidate
      const { parts, guards, asked } = await taking(scope, row, now, this.#leaseMs)
      try {
        const { rows } = await this.#whileTaking(scope, row, () => claim.settle({ verb: 'complete' }, 'completed', parts, guards))
        this.#count.completed++
        const claimed = rows[rows.length - parts.length] as DoneRow
        return await inHand<T>(scope, claimed, row.id, this.#leaseMs, asked, true)
      } catch (error) {
        // Somebody took the next one; this one is still ours.
        if (!(error instanceof InkError && error.code === 'CONFLICT' && error.details.id === row.id)) throw error
        this.#collided = true
      }
    }
    await claim.complete()
    this.#count.completed++
    return undefined
  }

  /** The next item of the same tenant, where there is one and it is nobody's. */
  async #successor(claim: HeldClaim<T>): Promise<Candidate | undefined> {
    if (this.#loop.closing.aborted) return undefined
    let candidate = this.#pick(claim.tenant)
    if (!candidate && this.#ahead.length === 0 && !this.#ranDry()) {
      await this.#read()
      candidate = this.#pick(claim.tenant)
    }
    if (!candidate || candidate.row.id === claim.id) return undefined
    // Those that somebody left are taken up one by one.
    return candidate.item.state === 'ready' ? candidate : undefined
  }

  async #whileTaking<R>({ tenant }: Scope, { id }: StoredRow, take: () => Promise<R>): Promise<R> {
    this.#taking.add(keyOf(tenant, id))
    try {
      return await take()
    } finally {
      this.#taking.delete(keyOf(tenant, id))
    }
  }

  /** The last look found nothing and was just now: the loop will see to it. */
  #ranDry(): boolean {
    return this.#ahead.length === 0 && this.#scope.engine.environment.clock.monotonic() - this.#readAt < DRY_MS
  }
}

const DRY_MS = 5
const keyOf = (tenant: TenantId, id: string): string => `${tenant}/${id}`
