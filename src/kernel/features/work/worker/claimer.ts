// Claims items for a worker: as many as it has room for, and several in one commit where that is possible.

import { InkError } from '../../../../model/errors.ts'
import type { TenantId } from '../../../../model/ids.ts'
import type { Scope } from '../../../wiring/scope.ts'
import { isConflict } from '../../../writing/commit-outcome.ts'
import type { ClaimHandle } from '../claim.ts'
import { claimItem } from '../claim-item.ts'
import type { Loop } from '../loop.ts'
import { claimedAfterAll, completeAndClaim } from './complete-and-claim.ts'
import { type Candidate, isPlain, Prefetch } from './prefetch.ts'
import { keyOf, type WorkerState } from './worker-state.ts'

export class Claimer<T> {
  readonly #state: WorkerState<T>
  readonly #loop: Loop
  readonly #deliver: (claims: readonly ClaimHandle<T>[]) => void
  readonly #prefetch: Prefetch<T>

  /** `deliver` gets every claim, also those that come later than the call that asked for them. */
  constructor(state: WorkerState<T>, loop: Loop, deliver: (claims: readonly ClaimHandle<T>[]) => void) {
    this.#state = state
    this.#loop = loop
    this.#deliver = deliver
    this.#prefetch = new Prefetch(state, (tenant) => loop.watch(tenant))
  }

  /** Claims as many items as there is room for. Returns for how many milliseconds nothing more is due. */
  async look(): Promise<number | undefined> {
    while (this.#state.room > 0 && !this.#loop.closing.aborted) {
      const picked = this.#prefetch.pick(this.#state.room)
      if (picked.length > 0) {
        await this.#claimAll(picked)
        continue
      }
      const next = await this.#prefetch.read()
      if (this.#prefetch.isEmpty) return next
    }
    return undefined
  }

  /** Reads candidates for `next`, unless there are some or the queue was empty just now. */
  async readIfEmpty(): Promise<void> {
    if (this.#loop.closing.aborted) return
    this.#prefetch.readOn(this.#state.reserve.half * 2)
    if (!this.#prefetch.isEmpty || this.#prefetch.isDry) return
    await this.#prefetch.read().catch((error: unknown) => this.#state.logError('a worker could not look for work', '', error))
  }

  /** Picks the items to claim in the commit that completes others of this tenant. */
  next(tenant: TenantId): readonly Candidate[] {
    const { room, reserve } = this.#state
    return this.#loop.closing.aborted ? [] : this.#prefetch.pickPlain(tenant, room, reserve.share(room, this.#state.now()))
  }

  /** Completes and claims in one commit, all of one tenant. False when nothing was written: the caller then settles each claim by itself. */
  async write(ended: readonly ClaimHandle<T>[], next: readonly Candidate[]): Promise<boolean> {
    const { terms, inHand, reserve, tasks, count } = this.#state
    const scope = ended[0]?.scope ?? next[0]?.scope
    if (!scope) return true
    for (const { row } of next) inHand.add(keyOf(scope.tenant, row.id))
    const since = this.#state.now()
    let claimed: readonly ClaimHandle<T>[]
    try {
      const write = () => completeAndClaim<T>(scope, ended, next, terms.leaseMs)
      claimed = await this.#state.during(ended.length, next.length, write)
    } catch (error) {
      if (isConflict(error, 'work')) this.#collided()
      if (error instanceof InkError && error.kind === 'unknown') tasks.add(this.#findOut(scope, next, error, since))
      else {
        this.#forget(next)
        if (ended.length > 0) this.#prefetch.putBack(next)
      }
      return false
    }
    const now = this.#state.now()
    reserve.written(now, terms.outstanding === terms.concurrency ? now - since : 0)
    count.completed += ended.length
    this.#state.forget(ended)
    this.#arrived(claimed)
    return true
  }

  /** Claims plain items of one tenant together. The worker does not wait for the others, whose payload may take long to load. */
  async #claimAll(picked: readonly Candidate[]): Promise<void> {
    const isApart = this.#state.reserve.isApart(this.#state.now())
    const { plain = [], others = [] } = Object.groupBy(picked, (candidate) => (isPlain(candidate) ? 'plain' : 'others'))
    for (const candidate of others) this.#state.tasks.add(this.#claimOne(candidate))
    const groups = Map.groupBy(plain, ({ row, scope }) => (isApart ? row.id : scope.tenant))
    await Promise.all([...groups.values()].map((group) => this.#claimGroup(group)))
  }

  async #claimGroup(group: readonly Candidate[]): Promise<void> {
    if (group.length > 1 && (await this.write([], group))) return
    await Promise.all(group.map((candidate) => this.#claimOne(candidate)))
  }

  async #claimOne(candidate: Candidate): Promise<void> {
    const { inHand, terms } = this.#state
    const { scope, row, seen } = candidate
    const key = keyOf(scope.tenant, row.id)
    if (inHand.has(key)) return
    inHand.add(key)
    try {
      const claim = await this.#state.during(0, 1, () => claimItem<T>(scope, row, seen, terms.leaseMs, true))
      if (claim && claim !== 'buried') {
        this.#deliver([claim])
        return
      }
      if (!claim) this.#collided()
    } catch (error) {
      this.#prefetch.rest(candidate)
      this.#state.logError('an item could not be claimed', row.id, error)
    }
    inHand.delete(key)
    this.#loop.hurry()
  }

  #collided(): void {
    this.#prefetch.collided()
    this.#state.reserve.collided(this.#state.now())
  }

  #forget(candidates: readonly Candidate[]): void {
    for (const { scope, row } of candidates) this.#state.inHand.delete(keyOf(scope.tenant, row.id))
  }

  #arrived(claims: readonly ClaimHandle<T>[]): void {
    for (const { tenant, id } of claims) this.#state.inHand.add(keyOf(tenant, id))
    this.#deliver(claims)
  }

  /** The outcome of a commit is unknown: reads which items it has claimed, and delivers those. */
  async #findOut(scope: Scope, next: readonly Candidate[], error: InkError, since: number): Promise<void> {
    const { terms, leaving } = this.#state
    const claimed = await claimedAfterAll<T>(scope, next, error, terms.leaseMs, since, leaving.signal)
    this.#forget(next)
    this.#arrived(claimed)
  }
}
