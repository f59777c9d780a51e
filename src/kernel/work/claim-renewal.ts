// The claims this process holds: those that are to be kept are renewed while they are held, and whoever lost one is told.

import { refuse } from '../../model/errors.ts'
import type { Id, TenantId } from '../../model/ids.ts'
import type { Backend } from '../../ports/backend.ts'
import type { Environment } from '../../ports/environment.ts'

export interface ClaimHold {
  readonly tenant: TenantId
  readonly id: Id<'work'>
  readonly fence: number
  readonly leaseMs: number
  /** Aborted when it is lost. */
  readonly lost: AbortController
  /** By our own steady clock: from then on it may be somebody else's. */
  sureUntil: number
  /** Its holder settles it: that its fence is not the newest any more is then no loss. */
  settling: boolean
}

// Two renewals in a row may fail.
const RENEWALS = 3

export class ClaimRenewal {
  readonly #backend: Backend
  readonly #environment: Environment
  readonly #closing: AbortSignal
  readonly #taking = new Set<string>()
  readonly #kept = new Set<ClaimHold>()
  readonly #asking = new Set<ClaimHold>()
  #running = false
  /** The shortest lease that the nap was measured by. */
  #shortest = Infinity
  #wake: () => void = () => {}

  constructor(backend: Backend, environment: Environment, closing: AbortSignal) {
    this.#backend = backend
    this.#environment = environment
    this.#closing = closing
    closing.addEventListener('abort', () => this.#wake(), { once: true })
  }

  /** On its way to be claimed by somebody in this process, who is not to be met there. */
  isTaking(tenant: TenantId, id: string): boolean {
    return this.#taking.has(`${tenant}/${id}`)
  }

  async taking<T>(tenant: TenantId, id: string, take: () => Promise<T>): Promise<T> {
    const key = `${tenant}/${id}`
    this.#taking.add(key)
    try {
      return await take()
    } finally {
      this.#taking.delete(key)
    }
  }

  take(tenant: TenantId, id: Id<'work'>, fence: number, leaseMs: number, asked: number): ClaimHold {
    return { tenant, id, fence, leaseMs, lost: new AbortController(), sureUntil: asked + leaseMs, settling: false }
  }

  /** Renews it from now on, until it is let go. */
  keep(hold: ClaimHold): void {
    this.#kept.add(hold)
    if (!this.#running) void this.#run()
    else if (hold.leaseMs < this.#shortest) this.#wake()
  }

  letGo(hold: ClaimHold): void {
    this.#kept.delete(hold)
  }

  /** Once, now. A claim that is lost is not revived. */
  async renew(holds: readonly ClaimHold[], ms?: number): Promise<void> {
    const asked = this.#environment.clock.monotonic()
    const [first] = holds
    if (!first) return
    const leaseMs = ms ?? first.leaseMs
    const { leases } = await this.#backend.leases.renew(first.tenant, holds, leaseMs, 'work')
    for (const [i, hold] of holds.entries()) {
      if (leases[i]?.fence === hold.fence) hold.sureUntil = asked + leaseMs
      else this.#lose(hold, leases[i]?.fence)
      // Held for a shorter time than it is kept by.
      if (leaseMs < hold.leaseMs && this.#kept.has(hold)) this.#wake()
    }
  }

  #lose(hold: ClaimHold, found?: number): void {
    if (hold.settling) return
    this.#kept.delete(hold)
    hold.lost.abort(refuse('FENCE_LOST', { table: 'work', id: hold.id, fence: hold.fence, found: found ?? 'unknown' }))
  }

  async #run(): Promise<void> {
    this.#running = true
    try {
      while (this.#kept.size > 0 && !this.#closing.aborted) {
        this.#shortest = Math.min(...[...this.#kept].map(({ leaseMs }) => leaseMs))
        await this.#nap(this.#shortest / RENEWALS / 2)
        if (!this.#closing.aborted) this.#look()
      }
    } finally {
      this.#running = false
    }
  }

  async #nap(ms: number): Promise<void> {
    const waking = new AbortController()
    this.#wake = () => waking.abort()
    await this.#environment.timer.idly(ms, waking.signal).catch(() => {})
  }

  #look(): void {
    const now = this.#environment.clock.monotonic()
    // Nobody may have taken it, but nobody can know.
    for (const hold of this.#kept) if (now >= hold.sureUntil) this.#lose(hold)
    const due = [...this.#kept].filter((hold) => !this.#asking.has(hold) && hold.sureUntil - now <= hold.leaseMs * (1 - 1 / RENEWALS))
    for (const holds of Map.groupBy(due, ({ tenant, leaseMs }) => `${tenant} ${leaseMs}`).values()) {
      for (const hold of holds) this.#asking.add(hold)
      this.renew(holds)
        .catch((error: unknown) =>
          this.#environment.logger.warn('claims could not be renewed', { claims: holds.length, error: String(error) }),
        )
        .finally(() => {
          for (const hold of holds) this.#asking.delete(hold)
        })
    }
  }
}
