// Tells a node which tenants to ask for work in one queue: due tenants in fair rotation, then tenants that may hold orphaned claims.

import { InkError } from '../../../model/errors.ts'
import type { TenantId } from '../../../model/ids.ts'
import { limits } from '../../../model/limits.ts'
import type { DueTenant } from '../../../model/queries.ts'
import { decodeBody, type TableRow } from '../../../model/rows.ts'
import { everyRow } from '../../reading/every-row.ts'
import type { Engine, Scope } from '../../wiring/scope.ts'

export interface TenantFeedOptions {
  readonly queue: string
  /** Asks every tenant of the store, or only the tenant of the scope. */
  readonly tenants: 'own' | 'all'
  /** Several feeds of one node share their rotation. */
  readonly rotation?: TenantRotation
  /** Subscribes the node to wakeups of a tenant. */
  readonly watch: (tenant: TenantId) => void
}

export interface Visit {
  readonly scope: Scope
  /** False for a tenant that is asked for orphans only. */
  readonly isDue: boolean
  /** Store time, unless the feed had no reason to read it. */
  readonly now: number | undefined
}

const TENANTS_AT_A_TIME = 100
const PAGE = 50
// Delay before a tenant that could not be asked is asked again.
const FAILED_MS = 1000

export class TenantFeed {
  readonly #scope: Scope
  readonly #options: TenantFeedOptions
  readonly #rotation: TenantRotation
  /** Due tenants that had nothing to take in the last round. The next round asks for that many more, so that they hide no other tenant. */
  #passed = 0
  /** When orphans were last searched for in a tenant, by our monotonic clock. */
  readonly #searchedAt = new Map<TenantId, number>()

  constructor(scope: Scope, options: TenantFeedOptions) {
    this.#scope = scope
    this.#options = options
    this.#rotation = options.rotation ?? new TenantRotation()
  }

  /** Puts the tenant last in the rotation. */
  served(tenant: TenantId): void {
    this.#rotation.served(tenant)
  }

  /** Asks tenants in turn until the node is full; `ask` returns false when it took nothing. Returns for how many milliseconds nothing more is due. */
  async visit(isFull: () => boolean, ask: (visit: Visit) => Promise<boolean>): Promise<number | undefined> {
    const { ready, later, now, wait } = await this.#due()
    let next = wait
    let passed = 0
    const askOne = async (tenant: TenantId, isDue: boolean) => {
      try {
        return await ask({ scope: { ...this.#scope, tenant }, isDue, now })
      } catch (error) {
        // A tenant that was closed just now, or whose file is damaged, delays no other.
        if (this.#options.tenants === 'own' || this.#scope.engine.closing.aborted) throw error
        const { logger } = this.#scope.engine.environment
        logger.warn('a tenant could not be asked for work', { tenant, queue: this.#options.queue, error: String(error) })
        next = Math.min(next ?? Infinity, FAILED_MS)
        return false
      }
    }
    for (const { tenant } of ready) {
      if (isFull()) {
        // The tenants behind were not asked: some of them might have been passed, as in the round before.
        this.#passed = Math.max(passed, this.#passed)
        return next
      }
      if (await askOne(tenant, true)) continue
      passed++
      this.served(tenant)
    }
    // Tenants that were passed may hide others, so the node asks again at once, and for more.
    if (passed > this.#passed && ready.length >= TENANTS_AT_A_TIME + this.#passed) next = 0
    this.#passed = passed
    for (const { tenant } of later) if (!isFull() && this.#isSearchDue(tenant)) await askOne(tenant, false)
    return next
  }

  /** Claims whose holder is provably gone. Searched for at most every `lookEveryMs` in one tenant. */
  async orphans(scope: Scope): Promise<readonly TableRow<'work'>[]> {
    if (!this.#isSearchDue(scope.tenant)) return []
    if (this.#searchedAt.size >= limits.sessionsRemembered) this.#searchedAt.clear()
    this.#searchedAt.set(scope.tenant, this.#steady())
    return orphanedClaims(scope, this.#options.queue)
  }

  #isSearchDue(tenant: TenantId): boolean {
    return this.#steady() - (this.#searchedAt.get(tenant) ?? -Infinity) >= limits.lookEveryMs
  }

  /** Splits tenants into due now and due later, so that only due tenants are queried. */
  async #due(): Promise<{
    readonly ready: readonly Pick<DueTenant, 'tenant'>[]
    readonly later: readonly DueTenant[]
    readonly now?: number
    readonly wait?: number
  }> {
    const { queue, tenants, watch } = this.#options
    const { engine, tenant } = this.#scope
    if (tenants === 'own') return { ready: [{ tenant }], later: [] }
    const due = await engine.backend.queries.due(queue, TENANTS_AT_A_TIME + this.#passed)
    if (due.length === 0) return { ready: [], later: [] }
    for (const one of due) watch(one.tenant)
    const now = await nowOfAny(engine, due)
    const { ready = [], later = [] } = Object.groupBy(due, ({ at }) => (at <= now ? 'ready' : 'later'))
    return { ready: this.#rotation.inTurn(ready), later, now, ...(later[0] && { wait: later[0].at - now }) }
  }

  #steady(): number {
    return this.#scope.engine.environment.clock.monotonic()
  }
}

/** Store time, from the first tenant that answers. */
export async function nowOfAny({ backend, lane }: Engine, due: readonly DueTenant[]): Promise<number> {
  for (const { tenant } of due) {
    try {
      return (await backend.leases.read(tenant, [])).now
    } catch (error) {
      if (!(error instanceof InkError) || !(error.code === 'TENANT_CLOSED' || error.kind === 'corrupt')) throw error
    }
  }
  return lane.storeTime()
}

/** Claims whose holder is provably gone, however long their lease still lasts. */
export async function orphanedClaims(scope: Scope, queue: string): Promise<readonly TableRow<'work'>[]> {
  const { liveness } = scope.engine.environment
  const found: TableRow<'work'>[] = []
  if (!liveness) return found
  for await (const row of everyRow(scope, 'work', { index: 'byReady', equals: [queue, 'claimed'], limit: PAGE })) {
    const { mark } = decodeBody(row.body, row)
    if (mark && liveness.isGone(mark)) found.push(row)
  }
  return found
}

/** Orders tenants fairly: the one that has waited longest comes first, however much work the others have. */
export class TenantRotation {
  /** The round in which a tenant was served last, or seen first. A new tenant waits for those that wait already, and not for later ones. */
  readonly #since = new Map<TenantId, number>()
  #count = 0

  served(tenant: TenantId): void {
    // Clearing the map bounds the memory; it delays a tenant by at most one round.
    if (this.#since.size >= limits.sessionsRemembered) this.#since.clear()
    this.#since.set(tenant, ++this.#count)
  }

  inTurn<T extends { readonly tenant: TenantId }>(due: readonly T[]): readonly T[] {
    for (const { tenant } of due) if (!this.#since.has(tenant)) this.served(tenant)
    return due.toSorted((a, b) => (this.#since.get(a.tenant) ?? 0) - (this.#since.get(b.tenant) ?? 0))
  }
}
