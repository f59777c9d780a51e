// Keeps the leases that this process holds on sessions, runs and processes. Several runs of one process may borrow the same lease.

import { assert, refuse } from '../../../model/errors.ts'
import type { Id, TenantId } from '../../../model/ids.ts'
import type { LeaseEnd, LeaseRow } from '../../../model/lease.ts'
import { limits } from '../../../model/limits.ts'
import { checkKnown, checkText, optionsOf } from '../../../model/options.ts'
import { decodeBody } from '../../../model/rows.ts'
import { type Duration, milliseconds } from '../../../model/time.ts'
import type { Guard } from '../../../ports/commit.ts'
import type { Environment } from '../../../ports/environment.ts'
import type { TypedBackend } from '../../reading/typed-backend.ts'
import type { Renewable, Renewals } from '../../time/renewals.ts'
import { enginePart } from '../../wiring/per-engine.ts'
import { type DoneRow, type Part, part } from '../../writing/execute.ts'
import { RowMutex } from '../../writing/row-mutex.ts'
import { type Holder, lease } from './lease-decider.ts'

export interface LeaseOptions {
  /** How long a lease lasts without a renewal. */
  readonly ttl?: Duration
  /** How often a lease is renewed; at most a third of `ttl`. */
  readonly renew?: Duration
  /** Name of the holder, for people. By default the machine and the process. */
  readonly owner?: string
}

/** A lease that this process holds, borrowed by one run or several. */
export interface OwnLease {
  readonly tenant: TenantId
  readonly id: Id
  readonly fence: number
  readonly guard: Guard & { readonly kind: 'fence' }
  /** Aborted when the lease is lost. */
  readonly signal: AbortSignal
}

interface KeptLease extends OwnLease, Renewable {
  readonly id: Id
  /** The row as the commit that took the lease left it. No other writer changes it while the lease is held. */
  readonly row: DoneRow<LeaseRow>
  borrowers: number
}

/** The state of a lease in the store. */
export interface Standing {
  /** Nobody holds the lease, it ran out, its holder is provably gone, or this process holds it. */
  readonly free: boolean
  readonly row: LeaseRow | undefined
  readonly fence: number
  readonly revision: number
  /** Guards the commit that takes the lease: it fails when the row has changed since. */
  readonly guard: Guard
  /** Store time. */
  readonly now: number
  readonly until: number
  /** How the previous holder ended, if the lease is free now. Undefined if there was none. */
  readonly previous: LeaseEnd | undefined
}

/** Details for a refusal: who holds the lease, and for how long at most. */
export const heldBy = (name: string, { row, fence, now, until }: Pick<Standing, 'row' | 'fence' | 'now' | 'until'>) => ({
  name,
  owner: row?.owner ?? '',
  fence,
  forMs: Math.max(0, until - now),
})

export class Keeper {
  readonly #backend: TypedBackend
  readonly #environment: Environment
  readonly #renewals: Renewals
  readonly #held = new Map<string, KeptLease>()
  readonly #changing = new RowMutex()
  readonly holder: Holder
  readonly ttlMs: number
  readonly renewMs: number

  constructor(backend: TypedBackend, environment: Environment, renewals: Renewals, incarnation: string, options?: LeaseOptions) {
    this.#backend = backend
    this.#environment = environment
    this.#renewals = renewals
    const { ttl, renew, owner: named, ...unknown } = optionsOf(options, 'lease')
    checkKnown(unknown, 'lease')
    checkText('lease.owner', named)
    this.ttlMs = ttl === undefined ? limits.leaseMs : milliseconds(ttl)
    this.renewMs = renew === undefined ? Math.min(limits.leaseRenewMs, this.ttlMs / 3) : milliseconds(renew)
    // Two renewals in a row may fail before a lease is lost.
    if (this.renewMs < 1 || this.ttlMs < 3 * this.renewMs)
      throw refuse('OPTION_INVALID', { option: 'lease', why: 'ttl must be at least three times renew, and renew at least 1 ms' })
    const self = environment.liveness?.self
    const owner = named ?? (self ? `${self.host.split(' ')[0]}/${self.pid}` : incarnation)
    this.holder = { owner, incarnation, ...(self && { mark: self }) }
  }

  /**
   * Runs `change` while no other caller of this process takes or releases the lease. A taker needs it from looking until `keep`: a lease that is
   * held in the store by this process, and not kept yet, looks free to every other taker here. Not for waiting until another process releases it.
   */
  async alone<T>(tenant: TenantId, id: Id, change: () => Promise<T>): Promise<T> {
    const end = await this.#changing.take([nameOf({ tenant, id })])
    try {
      return await change()
    } finally {
      end()
    }
  }

  /** Reads the state of a lease from the store. */
  async look(tenant: TenantId, id: Id): Promise<Standing> {
    const [stored, { now, leases }] = await Promise.all([
      this.#backend.rows.get(tenant, 'leases', id),
      this.#backend.leases.read(tenant, [id]),
    ])
    const row = stored && decodeBody(stored.body, stored)
    const fence = stored?.fence ?? 0
    const [renewed] = leases
    const until = Math.max(row?.until ?? 0, renewed && renewed.fence === fence ? renewed.until : 0)
    const gone = row?.mark !== undefined && this.#environment.liveness?.isGone(row.mark) === true
    const free = row?.state !== 'held' || until <= now || gone || row.incarnation === this.holder.incarnation
    const revision = stored?.revision ?? 0
    const guard: Guard = { kind: 'row', table: 'leases', id, revision }
    return { free, row, fence, revision, guard, now, until, previous: row && endOf(row, { fence, until, now, gone }) }
  }

  /** The part of a commit that takes the lease. */
  takePart(
    id: Id,
    name: string,
    { free, row, fence, revision, now, until, previous }: Standing,
    about: Pick<Part, 'session' | 'run'>,
  ): Part<LeaseRow> {
    const { holder, ttlMs } = this
    const held = heldBy(name, { row, fence, now, until })
    const seen = { body: row, revision }
    return part(lease, id, { verb: 'take', ...holder, until: now + ttlMs, ttlMs, free, previous, held }, { ...about, seen })
  }

  /** The part of a commit that gives the lease back. `replayed` is of the attempt that ends with it. */
  releasePart(hold: OwnLease, about: Pick<Part, 'session' | 'run'>, replayed?: number): Part<LeaseRow> {
    const { row: seen, id, fence } = hold as KeptLease
    return part(lease, id, { verb: 'release', incarnation: this.holder.incarnation, fence, replayed }, { ...about, seen })
  }

  holds(tenant: TenantId, id: Id): boolean {
    return this.#held.has(nameOf({ tenant, id }))
  }

  /** Shares a lease that this process holds already. Within `alone`, like `leave`. */
  borrow(tenant: TenantId, id: Id): OwnLease | undefined {
    const held = this.#held.get(nameOf({ tenant, id }))
    if (held) held.borrowers++
    return held
  }

  /** Holds and renews a lease, after the commit that took it. */
  keep(tenant: TenantId, id: Id, row: DoneRow<LeaseRow>): OwnLease {
    const fence = row.revision
    assert(!this.holds(tenant, id), 'a lease that this process holds is borrowed, and not taken again')
    const lost = new AbortController()
    const held: KeptLease = {
      row,
      tenant,
      table: 'leases',
      id,
      fence,
      guard: { kind: 'fence', table: 'leases', id, fence },
      signal: lost.signal,
      lost,
      borrowers: 1,
      releasing: false,
      leaseMs: this.ttlMs,
      renewMs: this.renewMs,
      sureUntil: this.#environment.clock.monotonic() + this.ttlMs,
    }
    lost.signal.addEventListener('abort', () => this.#forget(held), { once: true })
    this.#held.set(nameOf(held), held)
    this.#renewals.keep(held)
    return held
  }

  /** True for the last borrower, which then releases the lease in the store. `letGo` follows, or `stay` when that has failed. */
  leave(hold: OwnLease): boolean {
    const held = this.#ours(hold)
    if (!held || held.borrowers > 1) return false
    held.releasing = true
    return true
  }

  /** The commit that was to release the lease has failed. */
  stay(hold: OwnLease): void {
    const held = this.#ours(hold)
    if (held) held.releasing = false
  }

  letGo(hold: OwnLease): void {
    const held = this.#ours(hold)
    if (held && --held.borrowers === 0) this.#forget(held)
  }

  /** Stops every borrower of a lease, after a refusal has shown that it is lost. */
  lose(hold: OwnLease, reason: unknown): void {
    this.#ours(hold)?.lost.abort(reason)
  }

  /** Releases every lease when the store closes, and stops the borrowers. */
  async close(write: (tenant: TenantId, parts: readonly Part[]) => Promise<unknown>): Promise<void> {
    const tenants = Map.groupBy(this.#held.values(), ({ tenant }) => tenant)
    for (const [tenant, held] of tenants) {
      for (const one of held) this.lose(one, refuse('STORE_CLOSED'))
      const parts = held.map((one) => this.releasePart(one, {}))
      try {
        await write(tenant, parts)
      } catch (error) {
        // Leases that are not released expire.
        this.#environment.logger.warn('leases could not be given back', { tenant, leases: held.length, error: String(error) })
      }
    }
  }

  /** Undefined when the lease was lost, or given back and taken again. */
  #ours(hold: OwnLease): KeptLease | undefined {
    const held = this.#held.get(nameOf(hold))
    return held === hold ? held : undefined
  }

  #forget(held: KeptLease): void {
    this.#renewals.letGo(held)
    if (this.#ours(held)) this.#held.delete(nameOf(held))
  }
}

/** A holder in this very store that kept the lease has let it go without a commit, so it counts as released. */
function endOf(
  { state, lastFence, ttlMs }: LeaseRow,
  { fence, until, now, gone }: Pick<Standing, 'fence' | 'until' | 'now'> & { readonly gone: boolean },
): LeaseEnd {
  if (state !== 'held') return { why: 'released', ...(lastFence !== undefined && { fence: lastFence }) }
  if (!gone && until > now) return { why: 'released', fence }
  return { why: gone ? 'gone' : 'lapsed', fence, until, ...(ttlMs !== undefined && { renewedAt: until - ttlMs }) }
}

const nameOf = ({ tenant, id }: Pick<OwnLease, 'tenant' | 'id'>): string => `${tenant}/${id}`

export const keeperOf = enginePart(
  ({ backend, environment, renewals, newId, options }) => new Keeper(backend, environment, renewals, newId(), options.lease),
)
