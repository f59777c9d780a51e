// Group commit without a timer: while one batch is being written the next one gathers, and a single append leaves at once. The lane is
// bounded: beyond its bound it refuses commits instead of buffering them.

import { type InkError, refuse, refuseLightly } from '../../model/errors.ts'
import { limits } from '../../model/limits.ts'
import type { Backend } from '../../ports/backend.ts'
import type { Commit, Outcome } from '../../ports/commit.ts'
import type { Environment } from '../../ports/environment.ts'
import type { Latency } from '../measuring/histogram.ts'
import { Watchdog } from '../measuring/watchdog.ts'
import { type BudgetStats, WriteBudget, type WriteParts } from '../measuring/write-budget.ts'
import { WriteTime } from '../measuring/write-time.ts'
import { StoreTime } from '../time/store-time.ts'
import { asFirstSaved, isDefinite, reasonOf, saysNothing, unknownOutcome } from './commit-outcome.ts'
import { KnownHeads } from './known-heads.ts'

export interface LaneOptions {
  readonly commits?: number
  readonly bytes?: number
  readonly timeoutMs?: number
  /** The write budget. */
  readonly budgetMs?: number
  /** Called with every commit that was saved, in the order of the journal. */
  readonly saved?: (commit: Commit, outcome: Outcome & { ok: true }) => void
  /** Called with every commit that was refused. */
  readonly refused?: (commit: Commit, outcome: Outcome & { ok: false }) => void
}

export interface LaneStats {
  readonly commits: number
  readonly events: number
  readonly batches: number
  readonly refused: number
  readonly overloaded: number
  readonly resent: number
  readonly waiting: { readonly commits: number; readonly bytes: number }
  /** Writes from the call to the receipt. */
  readonly latency: Latency
  /** The same writes by part. */
  readonly latencyOf: WriteParts<Latency>
  readonly budget: BudgetStats
}

interface Waiting {
  commit: Commit
  readonly bytes: number
  readonly time: WriteTime
  /** When its batch was sent. */
  sent: number
  readonly settle: (outcome: Outcome) => void
  readonly fail: (error: unknown) => void
}

type Sent = { readonly outcomes: readonly Outcome[] } | { readonly error: unknown; readonly timedOut: boolean }

// The number of commits in a row, sent one at a time, that may stay without an answer before the store counts as gone.
const GIVE_UP_AFTER = 3

export class Lane {
  readonly #backend: Backend
  readonly #environment: Environment
  readonly #options: LaneOptions
  readonly #watchdog: Watchdog
  readonly #budget: WriteBudget
  readonly #heads: KnownHeads
  readonly #time: StoreTime
  #waiting: Waiting[] = []
  #taken = 0
  #bytes = 0
  #underway = false
  #closed = false
  #drained: (() => void)[] = []
  #landed: (() => void)[] = []
  #holds = 0
  #count = { commits: 0, events: 0, batches: 0, refused: 0, overloaded: 0, resent: 0 }

  constructor(backend: Backend, environment: Environment, options: LaneOptions = {}) {
    this.#backend = backend
    this.#environment = environment
    this.#options = options
    this.#heads = new KnownHeads(backend, environment, options.timeoutMs ?? limits.commitTimeoutMs)
    this.#time = new StoreTime(environment)
    this.#budget = new WriteBudget(environment, options.budgetMs ?? limits.writeBudgetMs)
    this.#watchdog = new Watchdog(environment, options.timeoutMs ?? limits.commitTimeoutMs)
  }

  /** `time` began with the call. Without it the time of the write begins here. */
  submit(commit: Commit, time: WriteTime = new WriteTime(this.#environment.clock)): Promise<Outcome> {
    if (this.#closed) return Promise.reject(refuse('STORE_CLOSED'))
    const bytes = weigh(commit)
    if (this.#isFull(bytes)) return Promise.reject(this.#overloaded())
    return new Promise((settle, fail) => {
      this.#waiting.push({ commit, bytes, time, sent: 0, settle, fail })
      this.#bytes += bytes
      this.#depart()
    })
  }

  /** Throws what `submit` would, for callers that have work to do before they submit. */
  checkDoor(): void {
    if (this.#isFull(0)) throw this.#overloaded()
  }

  #isFull(bytes: number): boolean {
    const waiting = this.#waiting.length - this.#taken
    return (
      waiting >= (this.#options.commits ?? limits.laneCommits) ||
      (waiting > 0 && this.#bytes + bytes > (this.#options.bytes ?? limits.laneBytes))
    )
  }

  #overloaded(): InkError {
    this.#count.overloaded++
    return refuseLightly('OVERLOADED', { waiting: this.#waiting.length - this.#taken, bytes: this.#bytes })
  }

  /** The backend's clock, as far as its answers tell. Expiry is judged by it. */
  storeTime(): number {
    return this.#time.now()
  }

  /** Whether an answer has told the store's time yet. */
  get hasHeard(): boolean {
    return this.#time.hasHeard
  }

  stats(): LaneStats {
    return {
      ...this.#count,
      waiting: { commits: this.#waiting.length - this.#taken, bytes: this.#bytes },
      ...this.#budget.stats(),
    }
  }

  /** Accepts no more commits, and resolves once all accepted ones have their answers. */
  async close(): Promise<void> {
    this.#closed = true
    if (this.#underway || this.#waiting.length > this.#taken) await new Promise<void>((resolve) => this.#drained.push(resolve))
  }

  /** Stops sending. Once it resolves, nothing is underway, and new commits wait. The returned function lets them go. */
  async hold(): Promise<() => void> {
    this.#holds++
    if (this.#underway) await new Promise<void>((resolve) => this.#landed.push(resolve))
    return () => {
      this.#holds--
      if (this.#waiting.length > this.#taken) this.#depart()
    }
  }

  #depart(): void {
    if (this.#underway || this.#holds > 0) return
    this.#underway = true
    // Callers that append in this turn of the event loop join the batch first.
    this.#environment.timer.soon(() => {
      this.#fly().catch((error) => this.#environment.logger.error('the lane failed', { error: String(error) }))
    })
  }

  async #fly(): Promise<void> {
    const taken = this.#take()
    const batch: Waiting[] = []
    try {
      const sent = this.#environment.clock.monotonic()
      for (const waiting of taken) {
        waiting.sent = sent
        const marked = this.#heads.mark(waiting.commit)
        try {
          waiting.commit = marked instanceof Promise ? await marked : marked
          batch.push(waiting)
        } catch (error) {
          // A head that cannot be read fails only its own tenant, because the others may be in other files.
          waiting.fail(error)
        }
      }
      const asked = this.#time.ask()
      const answer = batch.length > 0 ? await this.#send(batch.map((w) => w.commit)) : { outcomes: [] }
      if ('outcomes' in answer) {
        this.#time.learn(answer.outcomes[0]?.now, asked)
        this.#settle(batch, answer.outcomes)
      } else await this.#recover(batch, answer)
    } catch (error) {
      // Nothing was sent, or an answer was invalid: every caller still gets an answer.
      for (const w of taken) w.fail(error)
    }
    this.#underway = false
    for (const resolve of this.#landed.splice(0)) resolve()
    if (this.#waiting.length > this.#taken) this.#depart()
    else for (const resolve of this.#drained.splice(0)) resolve()
  }

  #take(): readonly Waiting[] {
    const batch: Waiting[] = []
    let bytes = 0
    while (this.#taken < this.#waiting.length && batch.length < limits.batchCommits) {
      const next = this.#waiting[this.#taken] as Waiting
      if (batch.length > 0 && bytes + next.bytes > limits.batchBytes) break
      batch.push(next)
      bytes += next.bytes
      this.#taken++
    }
    this.#bytes -= bytes
    if (this.#taken === this.#waiting.length || this.#taken > 4096) {
      this.#waiting = this.#waiting.slice(this.#taken)
      this.#taken = 0
    }
    return batch
  }

  #send(commits: readonly Commit[]): Promise<Sent> {
    this.#count.batches++
    return new Promise((resolve) => {
      const answered = this.#watchdog.watch((ms) => resolve({ error: new Error(`no answer within ${ms} ms`), timedOut: true }))
      const done = (sent: Sent) => {
        answered()
        resolve(sent)
      }
      this.#backend.commit(commits).then(
        (outcomes) => done({ outcomes }),
        (error: unknown) => done({ error, timedOut: false }),
      )
    })
  }

  /**
   * An InkError with a definite outcome means that nothing was saved; it goes to the callers. Any other error leaves the outcome open. The
   * commits are then sent again, and those that had arrived are found instead of written twice. From then on only an outcome counts: a
   * refusal of the second send says nothing about the first.
   */
  async #recover(batch: readonly Waiting[], failed: { error: unknown; timedOut: boolean }): Promise<void> {
    if (isDefinite(failed.error)) {
      for (const w of batch) w.fail(failed.error)
      return
    }
    this.#environment.logger.warn('a batch was left without an answer and is sent again', {
      commits: batch.length,
      reason: reasonOf(failed.error),
    })
    this.#count.resent += batch.length
    const again = await this.#send(batch.map((w) => w.commit))
    if ('outcomes' in again) return this.#settle(batch, again.outcomes, true)

    // A single commit may make the store fail. It must not fail the others with it.
    let inARow = again.timedOut ? GIVE_UP_AFTER : 0
    let last = again.error
    for (const w of batch) {
      if (inARow < GIVE_UP_AFTER) {
        const alone = await this.#send([w.commit])
        if ('outcomes' in alone) {
          inARow = 0
          this.#settle([w], alone.outcomes, true)
          continue
        }
        inARow = alone.timedOut ? GIVE_UP_AFTER : inARow + 1
        last = alone.error
      }
      w.fail(unknownOutcome(w.commit, last))
    }
  }

  #settle(batch: readonly Waiting[], outcomes: readonly Outcome[], resent = false): void {
    const now = this.#environment.clock.monotonic()
    for (let i = 0; i < batch.length; i++) {
      const { commit, time, sent, settle, fail } = batch[i] as Waiting
      const outcome = asFirstSaved(commit, outcomes[i] as Outcome)
      this.#budget.record(time, sent, now)
      this.#count.commits++
      if (!outcome.ok) {
        this.#count.refused++
        this.#options.refused?.(commit, outcome)
      } else if (!outcome.repeated) {
        this.#count.events += outcome.receipts.length
        const last = outcome.receipts.at(-1)
        if (last) this.#heads.learn(commit.tenant, last.seq)
        this.#options.saved?.(commit, outcome)
      }
      if (resent && saysNothing(commit, outcome)) fail(unknownOutcome(commit, new Error('the tenant was closed meanwhile')))
      else settle(outcome)
    }
  }
}

// The approximate size of a commit in memory: its text, and a constant for every event and row.
function weigh(commit: Commit): number {
  let bytes = 256
  for (const event of commit.events) bytes += event.payload.length + 256
  for (const node of commit.nodes ?? []) bytes += node.body.length + 128
  for (const change of commit.changes) bytes += change.kind === 'put' ? change.body.length + 128 : 128
  return bytes
}
