// Polls for work and sleeps in between: until a wakeup arrives, something is due, or `lookEveryMs` has passed. Run nodes, queue workers and the
// scheduler are such loops.

import type { TenantId } from '../../../model/ids.ts'
import { limits } from '../../../model/limits.ts'
import type { Engine } from '../../wiring/scope.ts'

export interface LoopOptions {
  /** Names the owner in the log. */
  readonly of: string
  /** Does what is due now. Returns for how many milliseconds nothing more is due. */
  readonly look: () => Promise<number | undefined>
  /** An idle loop does not keep the process alive. */
  readonly idle?: boolean
}

interface Watching {
  readonly stop: () => void
  /** When the tenant last had something due, by our monotonic clock. */
  wanted: number
}

// Pause between two looks, because everything that a node records wakes it too.
const PAUSE_MS = 20

/** Waits until the promise is settled, or for `ms` at most. */
export async function waitAtMost({ environment }: Engine, ended: Promise<unknown>, ms: number): Promise<void> {
  const timeout = new AbortController()
  const stop = () => timeout.abort()
  void ended.then(stop, stop)
  // The timer rejects only when it is aborted.
  await environment.timer.after(ms, timeout.signal).catch(() => {})
}

export class Loop {
  readonly #engine: Engine
  readonly #options: LoopOptions
  readonly #closing = new AbortController()
  readonly #watched = new Map<TenantId, Watching>()
  readonly #work: Promise<void>
  readonly #onStoreClosing = () => this.stop()
  #unwatchedAt: number
  /** A wakeup arrived since the last look began. */
  #isWoken = false
  /** The next look does not even wait for the pause. */
  #isHurried = false
  #interruptNap: () => void = () => {}

  constructor(engine: Engine, options: LoopOptions) {
    this.#engine = engine
    this.#options = options
    this.#unwatchedAt = this.#steady()
    engine.closing.addEventListener('abort', this.#onStoreClosing, { once: true })
    // The first look waits until the constructor of the owner has returned.
    this.#work = Promise.resolve().then(() => this.#run())
  }

  get closing(): AbortSignal {
    return this.#closing.signal
  }

  /** Looks at once, because an item was offered in this process or a slot became free. */
  hurry(): void {
    this.#isHurried = true
    this.#wake()
  }

  /** Subscribes to wakeups of this tenant: for good, or until it has had nothing due for `limits.unwatchAfterMs`. */
  watch(tenant: TenantId, forGood = false): void {
    const wanted = forGood ? Infinity : this.#steady()
    const known = this.#watched.get(tenant)
    if (known) known.wanted = Math.max(known.wanted, wanted)
    if (known || this.#closing.signal.aborted) return
    const { wakeups } = this.#engine.backend
    const stop = wakeups.watch(tenant, () => this.#wake(), this.#options.idle ? { patient: true } : {})
    this.#watched.set(tenant, { stop, wanted })
  }

  /** A tenant that is due again is found by the next look, a second later at most, and watched again. */
  #unwatchIdle(): void {
    const now = this.#steady()
    if (now - this.#unwatchedAt < limits.unwatchAfterMs / 2) return
    this.#unwatchedAt = now
    for (const [tenant, { stop, wanted }] of this.#watched) {
      if (now - wanted < limits.unwatchAfterMs) continue
      this.#watched.delete(tenant)
      stop()
    }
  }

  #steady(): number {
    return this.#engine.environment.clock.monotonic()
  }

  /** Begins no further look. */
  stop(): void {
    this.#closing.abort()
    this.#wake()
  }

  /** Waits for the last look. */
  async close(): Promise<void> {
    this.stop()
    await this.#work
    this.#engine.closing.removeEventListener('abort', this.#onStoreClosing)
    for (const { stop } of this.#watched.values()) stop()
  }

  #wake(): void {
    this.#isWoken = true
    this.#interruptNap()
  }

  async #run(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      this.#isWoken = false
      this.#isHurried = false
      let next: number | undefined
      try {
        next = await this.#options.look()
      } catch (error) {
        if (this.#closing.signal.aborted) return
        this.#engine.environment.logger.warn(`${this.#options.of} could not look for work`, { error: String(error) })
      }
      this.#unwatchIdle()
      await this.#sleep(next)
    }
  }

  async #sleep(next: number | undefined): Promise<void> {
    const isHurried = () => this.#closing.signal.aborted || this.#isHurried
    await this.#nap(PAUSE_MS, isHurried)
    await this.#nap(Math.min(next ?? Infinity, limits.lookEveryMs) - PAUSE_MS, () => isHurried() || this.#isWoken)
  }

  async #nap(ms: number, isOver: () => boolean): Promise<void> {
    if (isOver()) return
    const stopTimer = new AbortController()
    const { timer } = this.#engine.environment
    const after = this.#options.idle ? timer.idly : timer.after
    let isTimedOut = false
    const timed = after
      .call(timer, Math.max(ms, 0), stopTimer.signal)
      .catch(() => {})
      .then(() => {
        isTimedOut = true
      })
    while (!isTimedOut && !isOver()) await Promise.race([timed, new Promise<void>((resolve) => (this.#interruptNap = resolve))])
    stopTimer.abort()
  }
}
