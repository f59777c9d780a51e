// One scheduler a node: what is due by the clock alone (jobs, questions that run out) is done by whichever node sees it first, for all tenants.
// It sleeps until the next time, and keeps no program alive.

import type { Id, TenantId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import { type Body, decodeBody } from '../../model/rows.ts'
import type { WorkRow } from '../../model/work.ts'
import type { Engine, Scope } from '../scope.ts'
import { Loop } from './loop.ts'

export interface ClockItem {
  readonly id: Id<'work'>
  readonly row: WorkRow
  readonly revision: number
  /** Store time. */
  readonly now: number
}

/** Does what is due and moves the item to its next time, or completes it, in one commit. Whoever was second finds it moved. */
export type ClockHandler = (scope: Scope, item: ClockItem) => Promise<void>

/** By the queue the items are in. */
export type ClockHandlers = Readonly<Record<string, ClockHandler>>

export interface SchedulerStats {
  readonly running: boolean
  /** Items that were due and handled here. */
  readonly handled: number
  /** How often one could not be handled; it is tried again later, and keeps nobody else waiting. */
  readonly failed: number
}

const TENANTS_AT_A_TIME = 100
const PAGE = 50
const REST_MS = 1000
const REST_MOST_MS = 60_000

export class Scheduler {
  readonly #engine: Engine
  readonly #handlers: ClockHandlers
  readonly #wanted: boolean
  readonly #count = { handled: 0, failed: 0 }
  /** What failed here, and when it is worth another try, by our own steady clock. */
  readonly #resting = new Map<string, { readonly until: number; readonly ms: number }>()
  #loop: Loop | undefined
  #unlist: () => void = () => {}

  constructor(engine: Engine, handlers: ClockHandlers, wanted: boolean) {
    this.#engine = engine
    this.#handlers = handlers
    this.#wanted = wanted
  }

  /** From the first use of anything that needs it. */
  start(): void {
    if (this.#loop || !this.#wanted || this.#engine.closing.aborted) return
    this.#loop = new Loop(this.#engine, { of: 'the scheduler', idle: true, look: () => this.#look() })
    this.#unlist = this.#engine.openRuns.addNode(this)
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

  async #look(): Promise<number | undefined> {
    let next: number | undefined
    for (const [queue, handler] of Object.entries(this.#handlers)) {
      for (const { tenant, at } of await this.#engine.backend.queries.due(queue, TENANTS_AT_A_TIME)) {
        this.#loop?.watch(tenant)
        const scope = { engine: this.#engine, tenant, actor: '' }
        const wait = await this.#lookInto(scope, queue, at, handler)
        if (wait !== undefined) next = Math.min(next ?? Infinity, wait)
      }
    }
    return next
  }

  /** How long, at most, nothing more is due. */
  async #lookInto(scope: Scope, queue: string, at: number, handler: ClockHandler): Promise<number | undefined> {
    const { backend } = this.#engine
    const { now } = await backend.leases.read(scope.tenant, [])
    if (at <= now) {
      const due = { index: 'byDue', equals: [queue], from: 0, below: now + 1, limit: PAGE } as const
      for (let cursor: string | undefined; ; ) {
        const page = await backend.rows.list(scope.tenant, 'work', { ...due, ...(cursor !== undefined && { cursor }) })
        for (const { id, revision, body } of page.rows) {
          if (this.#loop?.closing.aborted) return undefined
          await this.#handle(scope, handler, { id: id as Id<'work'>, revision, row: decodeBody<WorkRow & Body>(body), now })
        }
        if (page.cursor === undefined) break
        cursor = page.cursor
      }
    }
    const { rows } = await backend.rows.list(scope.tenant, 'work', { index: 'byDue', equals: [queue], from: now + 1, limit: 1 })
    const [first] = rows
    return first && Math.max(0, (decodeBody<WorkRow & Body>(first.body).at ?? now) - now)
  }

  async #handle(scope: Scope, handler: ClockHandler, item: ClockItem): Promise<void> {
    const key = `${scope.tenant}/${item.id}`
    const steady = this.#engine.environment.clock.monotonic()
    const rest = this.#resting.get(key)
    if (rest && rest.until > steady) return
    try {
      await handler(scope, item)
      this.#resting.delete(key)
      this.#count.handled++
    } catch (error) {
      if (this.#engine.closing.aborted) return
      this.#count.failed++
      const ms = Math.min(rest ? rest.ms * 2 : REST_MS, REST_MOST_MS)
      if (this.#resting.size > limits.sessionsRemembered) this.#resting.clear()
      this.#resting.set(key, { until: steady + ms, ms })
      this.#engine.environment.logger.error('what was due could not be done, and is tried again later', {
        tenant: scope.tenant as TenantId,
        queue: item.row.queue,
        item: item.id,
        error: String(error),
      })
    }
  }
}
