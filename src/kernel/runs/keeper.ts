// Keeps the leases this process holds: renews them while they are held, and tells whoever borrowed one when it is lost.

import { refuse } from '../../model/errors.ts'
import type { Id, TenantId } from '../../model/ids.ts'
import type { LeaseRow } from '../../model/lease.ts'
import { limits } from '../../model/limits.ts'
import { checkKnown } from '../../model/options.ts'
import { type Body, decodeBody } from '../../model/rows.ts'
import { type Duration, milliseconds } from '../../model/time.ts'
import type { Backend } from '../../ports/backend.ts'
import type { Guard } from '../../ports/commit.ts'
import type { Environment } from '../../ports/environment.ts'
import { type DoneRow, type Part, part } from '../execute.ts'
import { type Holder, lease } from './lease-decider.ts'

export interface LeaseOptions {
  /** How long a lease is held without a renewal. */
  readonly ttl?: Duration
  /** How often it is renewed; at most a third of `ttl`. */
  readonly renew?: Duration
  /** Who holds it: a name for people. By default the machine and the process. */
  readonly owner?: string
}

/** A lease in this process's hands, borrowed by one run or several. */
export interface Hold {
  readonly tenant: TenantId
  readonly id: Id
  readonly fence: number
  readonly guard: Guard
  /** Aborted when it is lost. */
  readonly signal: AbortSignal
}

interface Held extends Hold {
  /** As taking it left it: nobody else changes it while it is held. */
  readonly row: DoneRow
  readonly lost: AbortController
  borrowers: number
  /** Its last borrower is about to give it back: it is lent to nobody any more. */
  leaving: boolean
  /** By our own steady clock: from then on it may be somebody else's. */
  sureUntil: number
}

export interface Standing {
  /** Nobody holds it, whoever did has let it run out, or is provably gone. */
  readonly free: boolean
  readonly row: LeaseRow | undefined
  readonly fence: number
  readonly revision: number
  /** Taking it is guarded by this: what was seen is still so. */
  readonly guard: Guard
  /** Store time. */
  readonly now: number
  readonly until: number
}

/** For a refusal: who holds it, and for how long at most. */
export const heldBy = (name: string, { row, fence, now, until }: Pick<Standing, 'row' | 'fence' | 'now' | 'until'>) => ({
  name,
  owner: row?.owner ?? '',
  fence,
  forMs: Math.max(0, until - now),
})

export class Keeper {
  readonly #backend: Backend
  readonly #environment: Environment
  readonly #closing: AbortSignal
  readonly #held = new Map<string, Held>()
  readonly holder: Holder
  readonly ttlMs: number
  readonly renewMs: number
  /** Tenants whose answer to a renewal is awaited. */
  readonly #asking = new Set<TenantId>()
  #renewing = false

  constructor(backend: Backend, environment: Environment, closing: AbortSignal, incarnation: string, options: LeaseOptions = {}) {
    this.#backend = backend
    this.#environment = environment
    this.#closing = closing
    const { ttl, renew, owner: named, ...unknown } = options
    checkKnown(unknown, 'lease')
    this.ttlMs = ttl === undefined ? limits.leaseMs : milliseconds(ttl)
    this.renewMs = renew === undefined ? Math.min(limits.leaseRenewMs, this.ttlMs / 3) : milliseconds(renew)
    // Two renewals in a row may fail before anything is lost.
    if (this.renewMs < 1 || this.ttlMs < 3 * this.renewMs)
      throw refuse('OPTION_INVALID', { option: 'lease', why: 'ttl is at least three times renew, and renew at least 1 ms' })
    const self = environment.liveness?.self
    const owner = named ?? (self ? `${self.host.split(' ')[0]}/${self.pid}` : incarnation)
    this.holder = { owner, incarnation, ...(self && { mark: self }) }
  }

  /** How a lease stands in the store, right now. */
  async look(tenant: TenantId, id: Id): Promise<Standing> {
    const [stored, { now, leases }] = await Promise.all([
      this.#backend.rows.get(tenant, 'leases', id),
      this.#backend.leases.read(tenant, [id]),
    ])
    const row = stored && decodeBody<LeaseRow & Body>(stored.body)
    const fence = stored?.fence ?? 0
    const [renewed] = leases
    const until = Math.max(row?.until ?? 0, renewed && renewed.fence === fence ? renewed.until : 0)
    const gone = row?.mark !== undefined && this.#environment.liveness?.isGone(row.mark) === true
    const free = row?.state !== 'held' || until <= now || gone || row.incarnation === this.holder.incarnation
    const revision = stored?.revision ?? 0
    const guard: Guard = { kind: 'row', table: 'leases', id, revision }
    return { free, row, fence, revision, guard, now, until }
  }

  /** The part of a commit that takes it. */
  takePart(id: Id, name: string, { free, row, fence, revision, now, until }: Standing, about: Pick<Part, 'session' | 'run'>): Part {
    const held = heldBy(name, { row, fence, now, until })
    const seen = { body: row as Body | undefined, revision }
    return part(lease, id, { verb: 'take', ...this.holder, until: now + this.ttlMs, free, held }, { ...about, seen })
  }

  releasePart(hold: Hold, about: Pick<Part, 'session' | 'run'>): Part {
    const seen = (hold as Held).row
    return part(lease, hold.id, { verb: 'release', incarnation: this.holder.incarnation }, { ...about, seen })
  }

  holds(tenant: TenantId, id: Id): boolean {
    return this.#held.has(nameOf(tenant, id))
  }

  /** What this process holds already is lent once more. */
  borrow(tenant: TenantId, id: Id): Hold | undefined {
    const held = this.#held.get(nameOf(tenant, id))
    if (!held || held.leaving || held.signal.aborted) return undefined
    held.borrowers++
    return held
  }

  /** After the commit that took it. */
  keep(tenant: TenantId, id: Id, row: DoneRow): Hold {
    const fence = row.revision
    this.#held.get(nameOf(tenant, id))?.lost.abort(lostFence(id, fence))
    const lost = new AbortController()
    const guard: Guard = { kind: 'fence', table: 'leases', id, fence }
    const held: Held = {
      row,
      tenant,
      id,
      fence,
      guard,
      signal: lost.signal,
      lost,
      borrowers: 1,
      leaving: false,
      sureUntil: this.#steady() + this.ttlMs,
    }
    this.#held.set(nameOf(tenant, id), held)
    this.#renewSoon()
    return held
  }

  /** True for the last borrower, who gives it back in the store as well. Until that is done, or failed, nobody borrows it. */
  leave(hold: Hold): boolean {
    const held = this.#held.get(nameOf(hold.tenant, hold.id))
    if (held !== hold || held.borrowers > 1 || held.signal.aborted) return false
    held.leaving = true
    return true
  }

  /** It was not given back after all. */
  stay(hold: Hold): void {
    const held = this.#held.get(nameOf(hold.tenant, hold.id))
    if (held === hold) held.leaving = false
  }

  letGo(hold: Hold): void {
    const held = this.#held.get(nameOf(hold.tenant, hold.id))
    if (held === hold && --held.borrowers === 0) this.#held.delete(nameOf(hold.tenant, hold.id))
  }

  /** Found out by a refusal: whoever borrowed it stops. */
  lose(hold: Hold, reason: unknown): void {
    const held = this.#held.get(nameOf(hold.tenant, hold.id))
    if (held !== hold) return
    this.#held.delete(nameOf(hold.tenant, hold.id))
    held.lost.abort(reason)
  }

  /** The store closes: what is held is given back by whoever can write, and whoever borrowed it stops. */
  async close(write: (tenant: TenantId, parts: readonly Part[]) => Promise<unknown>): Promise<void> {
    const tenants = Map.groupBy(this.#held.values(), (held) => held.tenant)
    for (const [tenant, held] of tenants) {
      for (const one of held) this.lose(one, refuse('STORE_CLOSED'))
      try {
        await write(
          tenant,
          held.map((one) => this.releasePart(one, {})),
        )
      } catch (error) {
        // They run out by themselves.
        this.#environment.logger.warn('leases could not be given back', { tenant, leases: held.length, error: String(error) })
      }
    }
  }

  #steady(): number {
    return this.#environment.clock.monotonic()
  }

  #renewSoon(): void {
    if (this.#renewing) return
    this.#renewing = true
    this.#keepRenewing()
      .catch((error: unknown) => this.#environment.logger.error('leases are not renewed any more', { error: String(error) }))
      .finally(() => {
        this.#renewing = false
        if (this.#held.size > 0 && !this.#closing.aborted) this.#renewSoon()
      })
  }

  async #keepRenewing(): Promise<void> {
    while (this.#held.size > 0 && !this.#closing.aborted) {
      await this.#environment.timer.idly(this.renewMs, this.#closing).catch(() => {})
      if (this.#closing.aborted) return
      // Nobody may have taken it, but nobody can know: whoever goes on now would only be refused later.
      for (const one of [...this.#held.values()]) if (this.#steady() >= one.sureUntil) this.lose(one, lostFence(one.id, one.fence))
      // One tenant that does not answer holds up no other.
      for (const [tenant, leases] of Map.groupBy(this.#held.values(), (held) => held.tenant)) void this.#renew(tenant, leases)
    }
  }

  async #renew(tenant: TenantId, held: readonly Held[]): Promise<void> {
    if (this.#asking.has(tenant)) return
    this.#asking.add(tenant)
    const asked = this.#steady()
    try {
      const asking = held.map(({ id, fence }) => ({ id, fence }))
      const { leases } = await this.#backend.leases.renew(tenant, asking, this.ttlMs)
      for (const [i, one] of held.entries()) {
        const found = leases[i]?.fence
        if (found === one.fence) one.sureUntil = asked + this.ttlMs
        else this.lose(one, lostFence(one.id, one.fence, found))
      }
    } catch (error) {
      this.#environment.logger.warn('a lease could not be renewed', { tenant, leases: held.length, error: String(error) })
    } finally {
      this.#asking.delete(tenant)
    }
  }
}

const nameOf = (tenant: TenantId, id: Id): string => `${tenant}/${id}`
const lostFence = (id: Id, fence: number, found?: number) => refuse('FENCE_LOST', { table: 'leases', id, fence, found: found ?? 'unknown' })
