// What a worker takes up: it looks for what is ready, and claims as much as there is room for, together where that can be.

import type { TenantId } from '../../../model/ids.ts'
import { limits } from '../../../model/limits.ts'
import type { Scope } from '../../scope.ts'
import type { HeldClaim } from '../claim.ts'
import { claimItem } from '../claim-item.ts'
import type { ClaimedAhead } from './claimed-ahead.ts'
import { type Candidate, isPlain, keyOf, Prefetch } from './prefetch.ts'
import type { Slots } from './slots.ts'
import type { WorkerTerms } from './worker-options.ts'

export interface ClaimerOptions<T> {
  readonly queue: string
  readonly terms: WorkerTerms
  readonly ours: Set<string>
  readonly places: Slots
  readonly reserve: ClaimedAhead<T>
  readonly closing: () => boolean
  readonly watch: (tenant: TenantId) => void
  readonly keep: (claim: HeldClaim<T>) => void
  /** In one commit; false where that cannot be. */
  readonly together: (group: readonly Candidate[]) => Promise<boolean>
  readonly log: (message: string, item: string, error: unknown) => void
}

export class Claimer<T> {
  readonly #options: ClaimerOptions<T>
  readonly #ahead: Prefetch
  readonly #steady: () => number

  constructor(scope: Scope, options: ClaimerOptions<T>) {
    const { terms, reserve, ours, queue, watch } = options
    const window = () => Math.max((terms.concurrency + reserve.size) * limits.workAhead, limits.workAheadLeast)
    this.#options = options
    const most = () => Math.min(window(), limits.workWindow)
    // What is completed in one commit makes room for as many of one tenant, where handlers are quick.
    const atATime = () => (reserve.size > 0 ? reserve.half : 1)
    this.#ahead = new Prefetch(scope, { queue, all: terms.all, most, atATime, ours, watch })
    this.#steady = () => scope.engine.environment.clock.monotonic()
  }

  get room(): number {
    const { places, reserve } = this.#options
    return places.room(reserve.held)
  }

  /** Takes what there is room for; the answer is how long, at most, nothing more is due. */
  async look(): Promise<number | undefined> {
    while (this.room > 0 && !this.#options.closing()) {
      const picked = this.#ahead.pick(this.room)
      if (picked.length > 0) {
        await this.#takeAll(picked)
        continue
      }
      const next = await this.#ahead.read()
      if (this.#ahead.isEmpty) return next
    }
    return undefined
  }

  /** What comes next is claimed with what has ended, where that is known or can be. */
  async readIfDry(): Promise<void> {
    const { reserve, closing, log } = this.#options
    if (closing()) return
    this.#ahead.readOn(reserve.half * 2)
    if (!this.#ahead.isEmpty || this.#ahead.ranDry) return
    await this.#ahead.read().catch((error: unknown) => log('a worker could not look for work', '', error))
  }

  next(tenant: TenantId): readonly Candidate[] {
    const { reserve, closing } = this.#options
    return closing() ? [] : this.#ahead.pickPlain(tenant, this.room, reserve.share(this.room, this.#steady()))
  }

  /** Picked, and not taken after all. */
  putBack(candidates: readonly Candidate[]): void {
    this.#ahead.putBack(candidates)
  }

  /** Others take from the same end. */
  collided(): void {
    this.#ahead.collided()
    this.#options.reserve.collided(this.#steady())
  }

  async #takeAll(picked: readonly Candidate[]): Promise<void> {
    const apart = this.#options.reserve.isApart(this.#steady())
    const groups = Map.groupBy(picked, (candidate) => (apart || !isPlain(candidate) ? candidate.row.id : candidate.scope.tenant))
    await Promise.all([...groups.values()].map((group) => this.#takeGroup(group)))
  }

  /** Where they cannot be taken together, each is taken by itself. */
  async #takeGroup(group: readonly Candidate[]): Promise<void> {
    if (group.length > 1 && (await this.#options.together(group))) return
    await Promise.all(group.map((candidate) => this.#take(candidate)))
  }

  async #take(candidate: Candidate): Promise<void> {
    const { ours, places, terms, keep, log } = this.#options
    const { scope, row, seen } = candidate
    const key = keyOf(scope.tenant, row.id)
    if (ours.has(key)) return
    ours.add(key)
    try {
      const claim = await places.during(0, 1, () => claimItem<T>(scope, row, seen, terms.leaseMs, true))
      if (claim && claim !== 'buried') return keep(claim)
      if (!claim) this.collided()
    } catch (error) {
      this.#ahead.rest(candidate)
      log('an item could not be claimed', row.id, error)
    }
    ours.delete(key)
  }
}
