// The scheduler handles items that are due by the clock alone (cron jobs, approvals that expire), for all tenants. Every node has one, and the
// first to see an item handles it. It sleeps until the next due time, and does not keep the process alive.

import { assert } from '../../../model/errors.ts'
import type { Id, TenantId } from '../../../model/ids.ts'
import { limits } from '../../../model/limits.ts'
import type { DueTenant } from '../../../model/queries.ts'
import { decodeBody } from '../../../model/rows.ts'
import type { WorkRow } from '../../../model/work.ts'
import { everyRow } from '../../reading/every-row.ts'
import { enginePart } from '../../wiring/per-engine.ts'
import type { Engine, Scope } from '../../wiring/scope.ts'
import { localNodesOf } from './local-nodes.ts'
import { Loop } from './loop.ts'
import { nowOfAny } from './tenant-feed.ts'

export interface ClockItem {
  readonly id: Id<'work'>
  readonly row: WorkRow
  readonly revision: number
  /** Store time. */
  readonly now: number
}

/** Does what is due, and in the same commit moves the item to its next time or completes it. A second node then finds the item changed. */
export type ClockHandler = (scope: Scope, item: ClockItem) => Promise<void>

/** Handlers by the queue of their items. */
export type ClockHandlers = Readonly<Record<string, ClockHandler>>

export interface SchedulerStats {
  readonly running: boolean
  /** Items that this node has handled. */
  readonly handled: number
  /** Failed attempts. The item is retried with a backoff, and delays no other. */
  readonly failed: number
}

/** The result of handling everything that is due. */
export interface Ticked {
  /** Items that were due, and are handled. */
  readonly handled: number
  /** Items that could not be handled; they are retried later. */
  readonly failed: number
  /** The next due time, in store time. */
  readonly next?: number
}

const TENANTS_AT_A_TIME = 100
const PAGE = 50
const REST_MS = 1000
const REST_MOST_MS = 60_000

interface Tick {
  handled: number
  failed: number
  /** Items that were tried, with their revision. */
  readonly tried: Set<string>
}

export class Scheduler {
  readonly #engine: Engine
  readonly #handlers: ClockHandlers
  readonly #isEnabled: boolean
  readonly #count = { handled: 0, failed: 0 }
  /** Items that failed here, with their backoff and the time of the next try by our monotonic clock. */
  readonly #resting = new Map<string, { readonly until: number; readonly ms: number }>()
  #loop: Loop | undefined
  #unlist: () => void = () => {}

  constructor(engine: Engine) {
    const { schedule, readOnly } = engine.options
    this.#engine = engine
    this.#handlers = engine.features.clocks
    this.#isEnabled = schedule !== false && readOnly !== true
  }

  /** Called at the first use of anything that needs the scheduler. */
  start(): void {
    if (this.#loop || !this.#isEnabled || this.#engine.closing.aborted) return
    this.#loop = new Loop(this.#engine, { of: 'the scheduler', idle: true, look: () => this.#look() })
    this.#unlist = localNodesOf(this.#engine).add(this)
  }

  stats(): SchedulerStats {
    return { running: this.#loop !== undefined && !this.#loop.closing.aborted, ...this.#count }
  }

  look(): void {
    this.#loop?.hurry()
  }

  async close(): Promise<void> {
    await this.#loop?.close()
    this.#unlist()
  }

  /**
   * Handles everything that is due in this queue, of one tenant or of all, before it returns. It needs no running scheduler, and several nodes
   * may call it at once.
   */
  async tick(queue: string, tenant?: TenantId): Promise<Ticked> {
    const handler = this.#handlers[queue]
    assert(handler, `there is a handler for ${queue}`)
    const tick = { handled: 0, failed: 0, tried: new Set<string>() }
    for (;;) {
      const before = tick.tried.size
      const tenants = tenant === undefined ? await this.#tenants(queue) : [{ tenant, at: 0 }]
      const times: number[] = []
      for (const due of tenants) {
        const scope = { engine: this.#engine, tenant: due.tenant, actor: '' }
        const { next } = await this.#handleTenant(scope, queue, due.at, handler, tick)
        if (next !== undefined) times.push(next)
      }
      // Handling an item may make another one due, and more tenants may be due than one query returns.
      if (tick.tried.size > before) continue
      const { handled, failed } = tick
      return { handled, failed, ...(times.length > 0 && { next: Math.min(...times) }) }
    }
  }

  async #look(): Promise<number | undefined> {
    let wait: number | undefined
    for (const [queue, handler] of Object.entries(this.#handlers)) {
      const tenants = await this.#tenants(queue)
      if (tenants.length === 0) continue
      for (const { tenant } of tenants) this.#loop?.watch(tenant)
      const known = await nowOfAny(this.#engine, tenants)
      for (const { tenant, at } of tenants) {
        if (at > known) {
          // They are in the order of their times.
          wait = Math.min(wait ?? Infinity, at - known)
          break
        }
        const scope = { engine: this.#engine, tenant, actor: '' }
        try {
          const { now, next } = await this.#handleTenant(scope, queue, at, handler)
          if (next !== undefined) wait = Math.min(wait ?? Infinity, next - now)
        } catch (error) {
          // A tenant that was closed just now, or whose file is damaged, delays no other.
          if (this.#loop?.closing.aborted) throw error
          this.#engine.environment.logger.warn('the scheduler could not look for what is due', { tenant, queue, error: String(error) })
          wait = Math.min(wait ?? Infinity, REST_MS)
        }
      }
    }
    return wait
  }

  /** The tenants that are due first. Tenants with a failed item stay due, so the query asks for that many more. */
  #tenants(queue: string): Promise<readonly DueTenant[]> {
    return this.#engine.backend.queries.due(queue, TENANTS_AT_A_TIME + this.#resting.size)
  }

  /** Handles the due items of one tenant. Nothing more is due before `next`. */
  async #handleTenant(
    scope: Scope,
    queue: string,
    at: number,
    handler: ClockHandler,
    tick?: Tick,
  ): Promise<{ readonly now: number; readonly next?: number }> {
    const { backend } = this.#engine
    const { now } = await backend.leases.read(scope.tenant, [])
    let done = 0
    if (at <= now) {
      const due = { index: 'byDue', equals: [queue], from: 0, below: now + 1, limit: PAGE } as const
      for await (const { id, revision, body } of everyRow(scope, 'work', due)) {
        if (this.#engine.closing.aborted || (!tick && this.#loop?.closing.aborted)) return { now }
        const item = { id: id as Id<'work'>, revision, row: decodeBody(body, { id }), now }
        if (await this.#handle(scope, handler, item, tick)) done++
        // Other tenants come first, then the rest of this one.
        if (!tick && done >= PAGE) {
          this.look()
          return { now, next: now }
        }
      }
    }
    const { rows } = await backend.rows.list(scope.tenant, 'work', { index: 'byDue', equals: [queue], from: now + 1, limit: 1 })
    const [first] = rows
    return { now, ...(first && { next: decodeBody(first.body, first).at ?? now }) }
  }

  /** False when the item failed, or waits for its next try. */
  async #handle(scope: Scope, handler: ClockHandler, item: ClockItem, tick?: Tick): Promise<boolean> {
    const key = `${scope.tenant}/${item.id}`
    // One tick tries each revision of an item once, or a lasting conflict would make it endless.
    if (tick?.tried.has(`${key}/${item.revision}`)) return false
    const steady = this.#engine.environment.clock.monotonic()
    const rest = this.#resting.get(key)
    if (rest && rest.until > steady) return false
    tick?.tried.add(`${key}/${item.revision}`)
    try {
      await handler(scope, item)
      this.#resting.delete(key)
      this.#count.handled++
      if (tick) tick.handled++
      return true
    } catch (error) {
      if (this.#engine.closing.aborted) return false
      this.#count.failed++
      if (tick) tick.failed++
      const ms = Math.min(rest ? rest.ms * 2 : REST_MS, REST_MOST_MS)
      if (this.#resting.size > limits.sessionsRemembered) this.#resting.clear()
      this.#resting.set(key, { until: steady + ms, ms })
      this.#engine.environment.logger.error('a scheduled item failed and is retried later', {
        tenant: scope.tenant as TenantId,
        queue: item.row.queue,
        item: item.id,
        error: String(error),
      })
      return false
    }
  }
}

export const schedulerOf = enginePart((engine) => new Scheduler(engine))
