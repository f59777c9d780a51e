// State that the parts of one worker share: its free slots, the items it has claimed, and its counts.

import type { TenantId } from '../../../../model/ids.ts'
import type { Scope } from '../../../wiring/scope.ts'
import type { ClaimHandle } from '../claim.ts'
import { TaskGroup } from '../task-group.ts'
import { ClaimedAhead } from './claimed-ahead.ts'
import type { WorkerStats, WorkerTerms } from './worker-options.ts'

export const keyOf = (tenant: TenantId, id: string): string => `${tenant}/${id}`

export class WorkerState<T> {
  readonly scope: Scope
  readonly queue: string
  readonly terms: WorkerTerms
  readonly tasks = new TaskGroup()
  readonly reserve: ClaimedAhead<T>
  /** Items that the worker has claimed or is claiming, by `keyOf`. */
  readonly inHand = new Set<string>()
  /** Aborted when `close` has waited long enough for the handlers. */
  readonly leaving = new AbortController()
  readonly count = { taken: 0, completed: 0, failed: 0, died: 0, lost: 0 }
  /** Claims whose handler is done, and whose completion is not on its way to the store yet. */
  ended: ClaimHandle<T>[] = []
  /** Running handlers. */
  running = 0
  /** Items that are settled by themselves, because their handler failed or they could not be completed with others. */
  settling = 0
  /** Completions on their way to the store. */
  #writing = 0
  /** Claims on their way to the store. */
  #arriving = 0
  /** Slots that both of these take: an item and the one that is claimed in the commit of its completion share one. */
  #moving = 0

  constructor(scope: Scope, queue: string, terms: WorkerTerms) {
    this.scope = scope
    this.queue = queue
    this.terms = terms
    this.reserve = new ClaimedAhead(terms.concurrency)
  }

  stats(): WorkerStats {
    const { held } = this.reserve
    return { running: this.inHand.size - this.#arriving - held, reserved: held, ...this.count }
  }

  /** How many items can be claimed without claiming ahead. */
  get room(): number {
    return this.terms.concurrency - this.running - this.#moving - this.settling - this.reserve.held - this.ended.length
  }

  get mayBegin(): boolean {
    const { concurrency, outstanding } = this.terms
    return this.running < Math.min(concurrency, outstanding - this.ended.length - this.#writing - this.settling)
  }

  /** Counts the items of one commit as on their way to the store until `write` has ended. */
  async during<R>(written: number, claimed: number, write: () => Promise<R>): Promise<R> {
    const moving = Math.max(written, claimed)
    this.#writing += written
    this.#arriving += claimed
    this.#moving += moving
    try {
      return await write()
    } finally {
      this.#writing -= written
      this.#arriving -= claimed
      this.#moving -= moving
    }
  }

  /** The worker no longer has these items. */
  forget(claims: Iterable<Pick<ClaimHandle<T>, 'tenant' | 'id'>>): void {
    for (const { tenant, id } of claims) this.inHand.delete(keyOf(tenant, id))
  }

  now(): number {
    return this.scope.engine.environment.clock.monotonic()
  }

  logError(message: string, item: string, error: unknown): void {
    this.scope.engine.environment.logger.error(message, { queue: this.queue, item, error: String(error) })
  }
}
