// Renews the leases and claims that this process holds, and tells a holder when it has lost one (a heartbeat, seen from the holder).

import { refuse } from '../../model/errors.ts'
import type { TenantId } from '../../model/ids.ts'
import type { Backend } from '../../ports/backend.ts'
import type { Environment } from '../../ports/environment.ts'
import type { HeldTable, Lease } from '../../ports/leases.ts'

/** One lease or claim that this process holds. */
export interface Renewable extends Lease {
  readonly tenant: TenantId
  readonly table: HeldTable
  /** How long one renewal lasts. */
  readonly leaseMs: number
  /** How often it is renewed. At most a third of `leaseMs`, so that two renewals in a row may fail. */
  readonly renewMs: number
  /** Aborted with FENCE_LOST when the lease is lost. */
  readonly lost: AbortController
  /** Another process may take the lease from this time on, by our monotonic clock. */
  sureUntil: number
  /** Set while the holder gives the lease back: a newer fence is no loss then. */
  releasing: boolean
}

export class Renewals {
  readonly #backend: Backend
  readonly #environment: Environment
  readonly #closing: AbortSignal
  readonly #kept = new Set<Renewable>()
  /** A renewal of these is on its way to the backend. */
  readonly #asked = new Set<Renewable>()
  #isRunning = false
  /** The shortest `renewMs` among the kept ones when the current nap began. */
  #shortest = Infinity
  #wake: () => void = () => {}

  constructor(backend: Backend, environment: Environment, closing: AbortSignal) {
    this.#backend = backend
    this.#environment = environment
    this.#closing = closing
    closing.addEventListener('abort', () => this.#wake(), { once: true })
  }

  /** Renews it from now on, until `letGo`. */
  keep(held: Renewable): void {
    this.#kept.add(held)
    const stopped = (error: unknown) => this.#environment.logger.error('leases are not renewed any more', { error: String(error) })
    if (!this.#isRunning) this.#run().catch(stopped)
    else if (held.renewMs < this.#shortest) this.#wake()
  }

  letGo(held: Renewable): void {
    this.#kept.delete(held)
  }

  /** Renews once, now, all of one tenant and table. A lease that is lost stays lost. */
  async renew(group: readonly Renewable[], ms?: number): Promise<void> {
    const asked = this.#environment.clock.monotonic()
    const [first] = group
    if (!first) return
    const leaseMs = ms ?? first.leaseMs
    const { leases } = await this.#backend.leases.renew(first.tenant, group, leaseMs, first.table)
    for (const [i, held] of group.entries()) {
      if (leases[i]?.fence === held.fence) held.sureUntil = asked + leaseMs
      else this.#lose(held, leases[i]?.fence)
      // The caller asked for less than the usual lease, so the next renewal comes sooner.
      if (leaseMs < held.leaseMs && this.#kept.has(held)) this.#wake()
    }
  }

  #lose(held: Renewable, found?: number): void {
    if (held.releasing) return
    this.#kept.delete(held)
    const { table, id, fence } = held
    held.lost.abort(refuse('FENCE_LOST', { table, id, fence, found: found ?? 'unknown' }))
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    try {
      while (this.#kept.size > 0 && !this.#closing.aborted) {
        this.#shortest = Math.min(...[...this.#kept].map(({ renewMs }) => renewMs))
        await this.#nap(this.#shortest / 2)
        if (!this.#closing.aborted) this.#renewDue()
      }
    } finally {
      this.#isRunning = false
    }
  }

  async #nap(ms: number): Promise<void> {
    const waking = new AbortController()
    this.#wake = () => waking.abort()
    await this.#environment.timer.idly(ms, waking.signal).catch(() => {})
  }

  #renewDue(): void {
    const now = this.#environment.clock.monotonic()
    // Perhaps no other process has taken it, but this one cannot know: the backend would refuse what the holder writes later.
    for (const held of this.#kept) if (now >= held.sureUntil) this.#lose(held)
    const free = [...this.#kept].filter((held) => !this.#asked.has(held) && held.sureUntil - now <= held.leaseMs)
    // One write renews a whole group. A tenant that does not answer delays no other.
    for (const group of Map.groupBy(free, ({ table, tenant, leaseMs }) => `${table} ${tenant} ${leaseMs}`).values())
      if (group.some(({ sureUntil, leaseMs, renewMs }) => sureUntil - now <= leaseMs - renewMs)) void this.#renewGroup(group)
  }

  async #renewGroup(group: readonly Renewable[]): Promise<void> {
    for (const held of group) this.#asked.add(held)
    try {
      await this.renew(group)
    } catch (error) {
      const { table, tenant } = group[0] as Renewable
      this.#environment.logger.warn('leases could not be renewed', { table, tenant, leases: group.length, error: String(error) })
    }
    for (const held of group) this.#asked.delete(held)
  }
}
