// Reads items ahead of the handlers, in the order in which they are to be claimed. A prefetched item is a hint: the commit that claims it is
// guarded by the row that was read.

import type { TenantId } from '../../../../model/ids.ts'
import { limits } from '../../../../model/limits.ts'
import { decodeBody, type TableRow } from '../../../../model/rows.ts'
import type { WorkRow } from '../../../../model/work.ts'
import type { Scope } from '../../../wiring/scope.ts'
import type { Seen } from '../claim-item.ts'
import { TenantFeed, type Visit } from '../tenant-feed.ts'
import { keyOf, type WorkerState } from './worker-state.ts'

export interface Candidate {
  readonly scope: Scope
  readonly row: TableRow<'work'>
  readonly item: WorkRow
  readonly seen: Seen
}

/** Many plain items can be claimed in one commit: nobody claimed them before, they have no origin, and their payload is in the row. */
export const isPlain = ({ item: { state, origin, payload } }: Candidate): boolean =>
  state === 'ready' && !origin && !payload?.blob && !payload?.firing

/** A claim counts as an attempt. An item at its last attempt is claimed only when its handler begins, or it would die with the process. */
const mayWait = ({ item: { attempt, attempts } }: Candidate): boolean => attempts === undefined || attempts - attempt > 1

// An empty queue is not read again within this time.
const DRY_MS = 5
// Delay before an item that could not be claimed is tried again.
const REST_MS = 1000

export class Prefetch<T> {
  readonly #state: WorkerState<T>
  readonly #feed: TenantFeed
  /** Items that could not be claimed, with the time of the next try. */
  readonly #resting = new Map<string, number>()
  #candidates: Candidate[] = []
  #readAt = -Infinity
  #reading: Promise<number | undefined> | undefined
  /** Items picked since the current read began: its answer may still contain them. */
  readonly #picked = new Set<string>()
  #hasCollided = false
  /** The last read found at least as many items as it asked for. */
  #hasMore = false

  constructor(state: WorkerState<T>, watch: (tenant: TenantId) => void) {
    this.#state = state
    this.#feed = new TenantFeed(state.scope, { queue: state.queue, tenants: state.terms.tenants, watch })
  }

  get isEmpty(): boolean {
    return this.#candidates.length === 0
  }

  /** The last read found nothing and is very recent. */
  get isDry(): boolean {
    return this.isEmpty && this.#state.now() - this.#readAt < DRY_MS
  }

  pick(most: number): readonly Candidate[] {
    return this.#pickWhile(most, () => true)
  }

  /** Picks plain items of one tenant. Items beyond `room` are claimed ahead, so they must not be at their last attempt. No item is skipped. */
  pickPlain(tenant: TenantId, room: number, most: number): readonly Candidate[] {
    return this.#pickWhile(
      most,
      (candidate, before) => candidate.scope.tenant === tenant && isPlain(candidate) && (before < room || mayWait(candidate)),
    )
  }

  /** Picks from the front. `workTogetherBytes` bounds the commit, because other writers wait for it. */
  #pickWhile(most: number, isFit: (candidate: Candidate, before: number) => boolean): readonly Candidate[] {
    if (this.#state.now() - this.#readAt > limits.workAheadMs) this.#candidates = []
    const picked: Candidate[] = []
    let bytes = 0
    while (picked.length < most) {
      const [first] = this.#candidates
      if (!first || !isFit(first, picked.length)) break
      const next = this.#hasCollided ? this.#anyLike(first, (one) => isFit(one, picked.length)) : first
      bytes += next.row.body.length
      if (picked.length > 0 && bytes > limits.workTogetherBytes) break
      this.#candidates.splice(this.#candidates.indexOf(next), 1)
      if (this.#reading) this.#picked.add(keyOf(next.scope.tenant, next.row.id))
      this.#feed.served(next.scope.tenant)
      picked.push(next)
    }
    return picked
  }

  /** A random candidate with the tenant and priority of the first, so that two workers do not collide again. */
  #anyLike({ scope, item: { priority } }: Candidate, isFit: (candidate: Candidate) => boolean): Candidate {
    const alike = this.#candidates.filter(
      (candidate) => candidate.scope.tenant === scope.tenant && candidate.item.priority === priority && isFit(candidate),
    )
    return alike[(this.#state.scope.engine.environment.entropy.bytes(1)[0] as number) % alike.length] as Candidate
  }

  /** Reads more in the background when few candidates are left and the queue has more. */
  readOn(atLeast: number): void {
    if (!this.#hasMore || this.#reading || this.#candidates.length > atLeast) return
    // The next caller of `read` gets the error.
    this.read().catch(() => {})
  }

  /** Returns candidates that were picked and not claimed. */
  putBack(candidates: readonly Candidate[]): void {
    this.#candidates.unshift(...candidates)
  }

  /** Another worker claims from the same end of the queue. */
  collided(): void {
    this.#hasCollided = true
  }

  /** Skips an item for a while, because it could not be claimed. */
  rest({ scope, row }: Candidate): void {
    this.#resting.set(keyOf(scope.tenant, row.id), this.#state.now() + REST_MS)
  }

  /** Replaces the candidates by what can be claimed now. Returns for how many milliseconds nothing more is due. */
  read(): Promise<number | undefined> {
    if (!this.#reading) {
      this.#picked.clear()
      this.#reading = this.#readNow().finally(() => {
        this.#reading = undefined
      })
    }
    return this.#reading
  }

  async #readNow(): Promise<number | undefined> {
    const { queue, terms, reserve, inHand } = this.#state
    const atATime = (terms.concurrency + reserve.size) * limits.workAhead
    const most = Math.min(Math.max(atATime, limits.workAheadLeast), limits.workWindow)
    // A claimed item may be completed before the answer comes, and still be part of it.
    const before = new Set(inHand)
    const began = this.#state.now()
    for (const [key, until] of this.#resting) if (until <= began) this.#resting.delete(key)
    const isFree = ({ scope, row }: Candidate) => {
      const key = keyOf(scope.tenant, row.id)
      return !before.has(key) && !this.#resting.has(key) && !this.#picked.has(key)
    }
    const lists: (readonly Candidate[])[] = []
    let next = this.#resting.size > 0 ? REST_MS : Infinity
    let found = 0
    const readTenant = async ({ scope }: Visit) => {
      const asked = this.#state.now()
      const { now, rows, next: at = Infinity } = await scope.engine.backend.queries.ready(scope.tenant, queue, most)
      const orphans = await this.#feed.orphans(scope)
      const left = orphans.filter(({ id }) => !rows.some((row) => row.id === id))
      next = Math.min(next, at - now)
      found += rows.length + left.length
      const toCandidate = (row: TableRow<'work'>) => ({ scope, row, seen: { now, asked }, item: decodeBody(row.body, row) })
      const free = [...rows, ...left].map(toCandidate).filter(isFree)
      if (free.length > 0) lists.push(free)
      return free.length > 0
    }
    next = Math.min(next, (await this.#feed.visit(() => found >= most, readTenant)) ?? Infinity)
    this.#hasMore = found >= most
    // While handlers are quick, one commit completes and claims many items of one tenant. Late answers may contain items picked meanwhile.
    this.#candidates = interleave(lists, reserve.size > 0 ? reserve.half : 1).filter(isFree)
    this.#hasCollided = false
    this.#readAt = this.#state.now()
    return next < Infinity ? next : undefined
  }
}

/** Takes `atATime` of each list in turn, until all are empty. */
function interleave<E>(lists: readonly (readonly E[])[], atATime: number): E[] {
  if (lists.length <= 1) return [...(lists[0] ?? [])]
  const all: E[] = []
  for (let from = 0; lists.some((list) => list.length > from); from += atATime)
    for (const list of lists) all.push(...list.slice(from, from + atATime))
  return all
}
