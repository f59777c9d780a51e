// A claim: the exclusive right to one work item, under a fence. Only the claim with the newest fence can settle the item, and only once.

import { InkError, refuse } from '../../../model/errors.ts'
import type { EventId, Id, TenantId } from '../../../model/ids.ts'
import { checkFlag, checkKnown, optionsOf } from '../../../model/options.ts'
import type { ErrorData } from '../../../model/run.ts'
import { type Duration, milliseconds } from '../../../model/time.ts'
import type { WorkRow } from '../../../model/work.ts'
import type { Guard } from '../../../ports/commit.ts'
import { errorData } from '../../failing/error-data.ts'
import { findById } from '../../reading/find-event.ts'
import type { Renewable } from '../../time/renewals.ts'
import { storeNow } from '../../time/store-time.ts'
import type { Scope } from '../../wiring/scope.ts'
import type { Done } from '../../writing/execute.ts'
import { FENCE, type Fence, type HasFence } from '../../writing/fence.ts'
import { type DoneRow, type Part, part } from '../../writing/part.ts'
import { type DueOptions, takeDue } from './due-time.ts'
import { following, type Move } from './item-origin.ts'
import { logDeadItem } from './log-dead-item.ts'
import { isSpent, type WorkCommand, work } from './work-decider.ts'

/** `delay` or `at` replace the item's backoff. */
export interface FailOptions extends DueOptions {
  /** Makes the item a dead letter: a retry would not help. */
  readonly final?: boolean
}

export interface Claim<T = unknown> extends AsyncDisposable {
  readonly id: Id<'work'>
  readonly tenant: TenantId
  readonly queue: string
  readonly payload: T
  /** Counts attempts from 1. */
  readonly attempt: number
  readonly fence: number
  readonly key: string | undefined
  readonly group: string | undefined
  /** Source of the item: an occurrence of a job with its scheduled time, or a trigger. */
  readonly origin: WorkRow['origin']
  /** Aborted when the claim is lost. */
  readonly signal: AbortSignal
  /** FENCE_LOST when another holder has claimed the item since. */
  complete(): Promise<void>
  /** Schedules a retry after the backoff. Without attempts left, or with `final`, the item becomes a dead letter. */
  fail(error: unknown, options?: FailOptions): Promise<'ready' | 'dead'>
  /** Extends the claim to `lease` from now; by default to the lease it was claimed with. */
  renew(lease?: Duration): Promise<void>
  /** Gives the item back, due at once, after `delay` or at `at`. */
  release(options?: DueOptions): Promise<void>
  /** Gives the item back if the claim is not settled, as leaving the scope of `await using` does. */
  close(): Promise<void>
}

type Settle = Extract<WorkCommand, { verb: 'complete' | 'fail' | 'release' }>

export class ClaimHandle<T = unknown> implements Claim<T>, HasFence {
  // Private, so that a logged claim does not show the options of the store.
  readonly #scope: Scope
  readonly id: Id<'work'>
  readonly payload: T
  /** When the item was due, unless it was claimed before. */
  readonly dueAt: number | undefined
  readonly #row: DoneRow<WorkRow>
  readonly #hold: Renewable & { readonly id: Id<'work'> }
  #how: Move | undefined
  /** Ids of events of settling commits whose outcome was unknown. */
  #unsure: readonly EventId[] = []
  /** A newer holder has the item, or it is gone. */
  #isLost = false

  constructor(scope: Scope, row: DoneRow<WorkRow>, payload: T, hold: Renewable & { readonly id: Id<'work'> }, dueAt?: number) {
    this.#scope = scope
    this.id = hold.id
    this.payload = payload
    this.dueAt = dueAt
    this.#row = row
    this.#hold = hold
  }

  get scope(): Scope {
    return this.#scope
  }
  get row(): WorkRow {
    return this.#row.body as WorkRow
  }
  get tenant(): TenantId {
    return this.scope.tenant
  }
  get queue(): string {
    return this.row.queue
  }
  get attempt(): number {
    return this.row.attempt
  }
  get key(): string | undefined {
    return this.row.key
  }
  get group(): string | undefined {
    return this.row.group
  }
  get origin(): WorkRow['origin'] {
    return this.row.origin
  }
  get fence(): number {
    return this.#hold.fence
  }
  get signal(): AbortSignal {
    return this.#hold.lost.signal
  }
  /** How the item was settled, or is being settled right now. */
  get how(): Move | undefined {
    return this.#how
  }
  get isSettled(): boolean {
    return this.#how !== undefined
  }

  get leaseMs(): number {
    return this.#hold.leaseMs
  }

  complete(): Promise<void> {
    return this.#settleOnce('completed', () => this.settle({ verb: 'complete' }, 'completed'))
  }

  async fail(thrown: unknown, options?: FailOptions): Promise<'ready' | 'dead'> {
    const { final = false, delay, at, ...unknown } = optionsOf(options, 'fail')
    checkKnown(unknown, 'a failure')
    checkFlag('final', final)
    const error = errorData(this.scope, thrown)
    const { delayMs, notBefore } = takeDue({ delay, at })
    const dies = final || isSpent(this.row)
    const now = await storeNow(this.scope)
    const command = { verb: 'fail', now, error, final, restMs: delayMs, at: notBefore } as const
    const move = dies ? 'died' : 'failed'
    await this.#settleOnce(move, () => this.settle(command, move, [], [], error))
    return dies ? 'dead' : 'ready'
  }

  async release(options?: DueOptions): Promise<void> {
    const { delay, at, ...unknown } = optionsOf(options, 'release')
    checkKnown(unknown, 'a release')
    const { delayMs = 0, notBefore } = takeDue({ delay, at })
    await this.giveBack(delayMs, false, notBefore)
  }

  /** With `unused` the handler never began: the attempt does not count, and the item keeps its place in the queue. */
  async giveBack(delayMs: number, unused: boolean, notBefore?: number): Promise<void> {
    const now = await storeNow(this.scope, delayMs > 0)
    const at = notBefore ?? (unused && delayMs === 0 ? (this.dueAt ?? now) : now + delayMs)
    const dies = !unused && isSpent(this.row)
    const error = { name: 'GivenBack', message: 'given back at the last attempt' }
    const command = { verb: 'release', at, ...(unused && { unused }) } as const
    const move = dies ? 'died' : 'released'
    await this.#settleOnce(move, () => this.settle(command, move, [], [], dies ? error : undefined))
  }

  async renew(lease?: Duration): Promise<void> {
    this.#checkOpen()
    await this.scope.engine.renewals.renew([this.#hold], lease === undefined ? undefined : milliseconds(lease))
    if (this.signal.aborted) throw this.signal.reason
  }

  /** Settles the item, or finds that an earlier try has settled it in the same way and only its reply was lost. */
  async #settleOnce(move: Move, settle: () => Promise<unknown>): Promise<void> {
    const unsure = this.#unsure
    try {
      await settle()
    } catch (error) {
      const isLost = error instanceof InkError && error.code === 'FENCE_LOST'
      if (!isLost || !(await this.#wasSaved(`work.${move}`, unsure))) throw error
      this.#isLost = false
    }
  }

  async #wasSaved(type: string, ids: readonly EventId[]): Promise<boolean> {
    for (const id of ids) {
      const event = await findById(this.scope, id)
      if (event?.type === type && event.subject === this.id) return true
    }
    return false
  }

  /** Settles the item in one commit with `more` parts. */
  async settle(command: Settle, move: Move, more: readonly Part[] = [], guards: readonly Guard[] = [], error?: ErrorData): Promise<Done> {
    const own = this.settlement(command, move)
    try {
      const { row, id } = this
      const done = await following<Done>(
        this.scope,
        { item: id, row, move, ...(error && { error }) },
        { parts: [own, ...more], guards: [this.#guard, ...guards], committed: (rows, done) => ({ rows, ...done }) },
      )
      this.letGo()
      if (move === 'died' && error) logDeadItem(this.scope, id, row, error)
      return done
    } catch (refusal) {
      this.unsettled(refusal)
      throw refusal
    }
  }

  /** A claim that has expired may still write, as long as no other worker has claimed the item. */
  [FENCE](): Fence {
    this.#checkOpen()
    // A refusal is no loss if this claim has settled the item meanwhile.
    const lost = (error: InkError) => this.#how === undefined && this.unsettled(error)
    return { tenant: this.tenant, guard: this.#guard, lost }
  }

  get #guard() {
    return { kind: 'fence', table: 'work', id: this.id, fence: this.fence } as const
  }

  /** The part of a commit that settles the item. The caller then calls `letGo`, or `unsettled` with the refusal. */
  settlement(command: Settle, move: Move): Part<WorkRow> {
    this.#checkOpen()
    this.#how = move
    this.#hold.releasing = true
    const { id, fence } = this
    return part(work, id, { ...command, by: { id, fence } }, { seen: this.#row })
  }

  unsettled(refusal: unknown): void {
    if (refusal instanceof InkError && refusal.code === 'FENCE_LOST') {
      this.letGo()
      this.#isLost = true
      this.#hold.lost.abort(refusal)
      return
    }
    this.#how = undefined
    this.#hold.releasing = false
    if (refusal instanceof InkError && refusal.kind === 'unknown')
      this.#unsure = [...this.#unsure, ...((refusal.details.ids ?? []) as readonly EventId[])]
  }

  /** Stops renewing, so that another worker can claim the item once the lease has run out. */
  letGo(): void {
    this.scope.engine.renewals.letGo(this.#hold)
  }

  #checkOpen(): void {
    if (this.#isLost) throw this.signal.reason
    if (this.#how) throw refuse('CLAIM_SETTLED', { item: this.id, how: this.#how })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async close(): Promise<void> {
    if (this.#how || this.#isLost) return
    try {
      await this.release()
    } catch (error) {
      // Another holder has the item by now, and the caller did not ask for the release by name.
      if (!(error instanceof InkError && error.code === 'FENCE_LOST')) throw error
      this.scope.engine.environment.logger.warn('a claim was lost before it was settled', { item: this.id, queue: this.queue })
    } finally {
      this.letGo()
    }
  }
}
