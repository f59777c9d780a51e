// A worker of a queue: so many handlers at a time, each item settled when its handler ends, and the next one claimed in the same commit.

import { InkError, refuse } from '../../model/errors.ts'
import type { TenantId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import { optionsOf } from '../../model/options.ts'
import { type Duration, milliseconds } from '../../model/time.ts'
import type { DoneRow } from '../execute.ts'
import { FinalError } from '../runs/effect.ts'
import { checkOpen, type Scope } from '../scope.ts'
import { Ahead, type Candidate, keyOf } from './ahead.ts'
import { type Claim, type HeldClaim, inHand, taking } from './claim.ts'
import { Loop, patiently } from './loop.ts'
import { claimAs, takeLease } from './queue.ts'
import { settling } from './settling.ts'

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

/** How a handler ended. One that was left behind may go on, but not with this claim. */
type Ended = { readonly how: 'done' } | { readonly how: 'left' } | { readonly how: 'failed'; readonly error: unknown }

/** At work until it is closed. */
export interface QueueWorker extends AsyncDisposable {
  stats(): WorkerStats
  /** Takes nothing more; what is underway may end, and what does not is given back. */
  close(): Promise<void>
}

export class Worker<T> implements QueueWorker {
  readonly #scope: Scope
  readonly #queue: string
  readonly #handler: WorkHandler<T>
  readonly #concurrency: number
  readonly #leaseMs: number
  readonly #drainMs: number
  readonly #leaving = new AbortController()
  readonly #running = new Map<string, Promise<void>>()
  /** On their way to be claimed here. */
  readonly #taking = new Set<string>()
  readonly #count = { taken: 0, completed: 0, failed: 0, died: 0, lost: 0 }
  readonly #loop: Loop
  readonly #ahead: Ahead
  readonly #unlist: () => void
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
    this.#ahead = new Ahead(scope, {
      queue,
      all: tenants === 'all',
      most: Math.min(Math.max(concurrency * limits.workAhead, limits.workAheadLeast), limits.workWindow),
      isOurs: (key) => this.#running.has(key) || this.#taking.has(key),
      watch: (tenant) => this.#loop.watch(tenant),
    })
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
    const ended = this.#ended()
    await patiently(this.#scope.engine, ended, this.#drainMs)
    this.#leaving.abort()
    await ended
    this.#unlist()
  }

  /** What was claimed with the settling of another is among them. */
  async #ended(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values())
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #look(): Promise<number | undefined> {
    while (this.#running.size < this.#concurrency && !this.#loop.closing.aborted) {
      const picked = this.#pickSome(this.#concurrency - this.#running.size)
      if (picked.length > 0) {
        // For all that are free at once: their commits share a flush.
        await Promise.all(picked.map((candidate) => this.#take(candidate)))
        continue
      }
      const next = await this.#ahead.read()
      if (this.#ahead.isEmpty) return next
    }
    return undefined
  }

  #pickSome(most: number): readonly Candidate[] {
    const picked: Candidate[] = []
    for (let next = this.#ahead.pick(); next; next = this.#ahead.pick()) if (picked.push(next) >= most) break
    return picked
  }

  async #take(candidate: Candidate): Promise<void> {
    const { scope, row, seen } = candidate
    try {
      const claim = await this.#whileTaking(candidate, () => claimAs<T>(scope, row, seen, this.#leaseMs, true))
      if (!claim) this.#ahead.collided()
      else if (claim !== 'buried') this.#begin(claim)
    } catch (error) {
      this.#ahead.rest(candidate)
      this.#log('an item could not be claimed', row.id, error)
    }
  }

  #begin(claim: HeldClaim<T>): void {
    this.#count.taken++
    const key = keyOf(claim.tenant, claim.id)
    const work = this.#perform(claim)
      .catch((error: unknown) => {
        this.#count.lost++
        this.#log('an item could not be settled', claim.id, error)
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
    // Claimed on the way out, it is given back as it is.
    const ended: Ended = this.#loop.closing.aborted ? { how: 'left' } : await this.#handle(claim)
    if (claim.how) return this.#settledByHandler(claim, ended)
    if (ended.how === 'done') return this.#completeAndTake(claim)
    // Whoever has it by now knows better what becomes of it.
    if (claim.signal.aborted) this.#count.lost++
    else if (ended.how === 'left') await this.#settle(claim, () => claim.giveBack(0, true))
    else await this.#settle(claim, () => claim.fail(ended.error, { final: ended.error instanceof FinalError }))
    return undefined
  }

  async #handle(claim: HeldClaim<T>): Promise<Ended> {
    const left = Promise.withResolvers<Ended>()
    const leave = () => left.resolve({ how: 'left' })
    this.#leaving.signal.addEventListener('abort', leave, { once: true })
    try {
      const work = async (): Promise<Ended> => {
        await this.#handler(claim)
        return { how: 'done' }
      }
      return await Promise.race([work(), left.promise])
    } catch (error) {
      return { how: 'failed', error }
    } finally {
      this.#leaving.signal.removeEventListener('abort', leave)
    }
  }

  #settledByHandler(claim: HeldClaim<T>, ended: Ended): undefined {
    if (claim.signal.aborted) this.#count.lost++
    else {
      this.#settled(claim)
      if (ended.how === 'failed') this.#log('a handler failed after it had settled its item', claim.id, ended.error)
    }
    return undefined
  }

  async #settle(claim: HeldClaim<T>, settle: () => Promise<unknown>): Promise<void> {
    try {
      await settling(claim, settle, this.#leaving.signal)
      this.#settled(claim)
    } catch (error) {
      if (!(error instanceof InkError && error.code === 'FENCE_LOST')) throw error
      // What may have been written was, where nobody has it now.
      if (claim.wasDoubted && error.details.found === 0) this.#settled(claim)
      else this.#count.lost++
    }
  }

  #settled({ how }: HeldClaim<T>): void {
    if (how === 'completed' || how === 'failed' || how === 'died') this.#count[how]++
  }

  async #completeAndTake(claim: HeldClaim<T>): Promise<HeldClaim<T> | undefined> {
    const candidate = await this.#successor(claim)
    const next = candidate && (await this.#completeWith(claim, candidate))
    if (!claim.how) await this.#settle(claim, () => claim.complete())
    else this.#count[claim.signal.aborted ? 'lost' : 'completed']++
    return next
  }

  /** In one commit with taking the next. Where that cannot be, this one may still be to complete. */
  async #completeWith(claim: HeldClaim<T>, candidate: Candidate): Promise<HeldClaim<T> | undefined> {
    const { scope, row, seen } = candidate
    try {
      return await this.#whileTaking(candidate, async () => {
        const { parts, guards, asked } = await taking(scope, row, seen, this.#leaseMs)
        const { rows } = await claim.settle({ verb: 'complete' }, 'completed', parts, guards)
        const claimed = rows[rows.length - parts.length] as DoneRow
        return inHand<T>(scope, claimed, row.id, this.#leaseMs, asked, true)
      })
    } catch (error) {
      // Somebody took the next one, or the store failed: which of the two it was about is seen when this one is completed alone.
      if (error instanceof InkError && error.code === 'CONFLICT') this.#ahead.collided()
      else this.#ahead.putBack(candidate)
      return undefined
    }
  }

  /** The next item of the same tenant, where there is one and it is nobody's. Those that somebody left are taken up one by one. */
  async #successor(claim: HeldClaim<T>): Promise<Candidate | undefined> {
    const { closing } = this.#loop
    if (closing.aborted) return undefined
    const found = this.#ahead.pickReady(claim.tenant)
    this.#ahead.readOn(this.#concurrency)
    if (found || !this.#ahead.isEmpty || this.#ahead.ranDry) return found
    try {
      await this.#ahead.read()
    } catch (error) {
      this.#log('a worker could not look for work', claim.id, error)
    }
    return closing.aborted ? undefined : this.#ahead.pickReady(claim.tenant)
  }

  async #whileTaking<R>({ scope: { tenant }, row: { id } }: Candidate, take: () => Promise<R>): Promise<R> {
    this.#taking.add(keyOf(tenant, id))
    try {
      return await take()
    } finally {
      this.#taking.delete(keyOf(tenant, id))
    }
  }

  #log(message: string, item: string, error: unknown): void {
    this.#scope.engine.environment.logger.error(message, { queue: this.#queue, item, error: String(error) })
  }
}
