// Looks, acts, and sleeps until there is something to do again: until something rings, something is due, or it is time to look for what nobody
// told it of. Nodes that take up runs, workers of queues and the scheduler are all such loops.

import type { TenantId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import type { Engine } from '../scope.ts'

export interface LoopOptions {
  /** Whose work is not seen, for the log. */
  readonly of: string
  /** Does what it can; the answer is how long, at most, nothing more is due. */
  readonly look: () => Promise<number | undefined>
  /** Nobody waits for it: it keeps no program alive. */
  readonly idle?: boolean
}

// Rings come at most this often: our own work rings with everything it records.
const PAUSE_MS = 20

/** Until it has ended, and no longer than so many milliseconds. */
export async function patiently({ environment }: Engine, ended: Promise<unknown>, ms: number): Promise<void> {
  const patience = new AbortController()
  const stop = () => patience.abort()
  void ended.then(stop, stop)
  // Rejected when it is let go, and by nothing else.
  await environment.timer.after(ms, patience.signal).catch(() => {})
}

export class Loop {
  readonly #engine: Engine
  readonly #options: LoopOptions
  readonly #closing = new AbortController()
  readonly #watched = new Map<TenantId, () => void>()
  readonly #work: Promise<void>
  readonly #storeCloses = () => this.stop()
  #ringing = false
  #eager = false
  #ring: () => void = () => {}

  constructor(engine: Engine, options: LoopOptions) {
    this.#engine = engine
    this.#options = options
    engine.closing.addEventListener('abort', this.#storeCloses, { once: true })
    // Whoever makes a loop is made first.
    this.#work = Promise.resolve().then(() => this.#run())
  }

  get closing(): AbortSignal {
    return this.#closing.signal
  }

  /** Something was offered here, or room was made: no use in waiting. */
  hurry(): void {
    this.#eager = true
    this.#wake()
  }

  /** Rings when somebody writes for this tenant. */
  watch(tenant: TenantId): void {
    if (this.#watched.has(tenant) || this.#closing.signal.aborted) return
    const { wakeups } = this.#engine.backend
    this.#watched.set(
      tenant,
      wakeups.watch(tenant, () => this.#wake(), this.#options.idle ? { patient: true } : {}),
    )
  }

  /** Begins nothing more. */
  stop(): void {
    this.#closing.abort()
    this.#wake()
  }

  /** Once the last look has ended. */
  async close(): Promise<void> {
    this.stop()
    await this.#work
    this.#engine.closing.removeEventListener('abort', this.#storeCloses)
    for (const unwatch of this.#watched.values()) unwatch()
  }

  #wake(): void {
    this.#ringing = true
    this.#ring()
  }

  async #run(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      this.#ringing = false
      this.#eager = false
      let next: number | undefined
      try {
        next = await this.#options.look()
      } catch (error) {
        if (this.#closing.signal.aborted) return
        this.#engine.environment.logger.warn(`${this.#options.of} could not look for work`, { error: String(error) })
      }
      await this.#sleep(next)
    }
  }

  async #sleep(next: number | undefined): Promise<void> {
    const rung = () => this.#closing.signal.aborted || this.#eager
    await this.#nap(PAUSE_MS, rung)
    await this.#nap(Math.min(next ?? Infinity, limits.lookEveryMs) - PAUSE_MS, () => rung() || this.#ringing)
  }

  async #nap(ms: number, enough: () => boolean): Promise<void> {
    if (enough()) return
    const waking = new AbortController()
    const { timer } = this.#engine.environment
    const after = this.#options.idle ? timer.idly : timer.after
    let over = false
    const timed = after
      .call(timer, Math.max(ms, 0), waking.signal)
      .catch(() => {})
      .then(() => {
        over = true
      })
    while (!over && !enough()) await Promise.race([timed, new Promise<void>((resolve) => (this.#ring = resolve))])
    waking.abort()
  }
}
