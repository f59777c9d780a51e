// One scheduler a node: what is due by the clock alone (jobs, questions that run out) is done by whichever node sees it first, for all tenants.
// It sleeps until the next time, and keeps no program alive.

import { assert } from '../../model/errors.ts'
import type { Id, TenantId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import type { DueTenant } from '../../model/queries.ts'
import { decodeBody } from '../../model/rows.ts'
import type { WorkRow } from '../../model/work.ts'
import { everyRow } from '../every-row.ts'
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

/** What came of doing at once what is due. */
export interface Ticked {
  /** Items that were due, and are done. */
  readonly handled: number
  /** Items that could not be done; they are tried again later. */
  readonly failed: number
  /** When something is due next, in store time. */
  readonly next?: number
}

const TENANTS_AT_A_TIME = 100
const PAGE = 50
const REST_MS = 1000
const REST_MOST_MS = 60_000

interface Tick {
  handled: number
  failed: number
  /** What was tried, as it was then. */
  readonly met: Set<string>
}

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
    this.#unlist = this.#engine.localRuns.addNode(this)
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
   * Does what is due in this queue by the clock, of one tenant or of all, and has done it when it returns. It needs no loop, here or
   * elsewhere, and any number of nodes may do it at once.
   */
  async tick(queue: string, tenant?: TenantId): Promise<Ticked> {
    const handler = this.#handlers[queue]
    assert(handler, `something is done about ${queue}`)
    const tick = { handled: 0, failed: 0, met: new Set<string>() }
    for (;;) {
      const before = tick.met.size
      const tenants = tenant === undefined ? await this.#tenants(queue) : [{ tenant, at: 0 }]
      const times: number[] = []
      for (const due of tenants) {
        const scope = { engine: this.#engine, tenant: due.tenant, actor: '' }
        const { next } = await this.#lookInto(scope, queue, due.at, handler, tick)
        if (next !== undefined) times.push(next)
      }
      // What was done may have left more to do, and more tenants may be due than are asked for at a time.
      if (tick.met.size > before) continue
      const { handled, failed } = tick
      return { handled, failed, ...(times.length > 0 && { next: Math.min(...times) }) }
    }
  }

  async #look(): Promise<number | undefined> {
    let wait: number | undefined
    for (const [queue, handler] of Object.entries(this.#handlers)) {
      for (const { tenant, at } of await this.#tenants(queue)) {
        this.#loop?.watch(tenant)
        const scope = { engine: this.#engine, tenant, actor: '' }
        try {
          const { now, next } = await this.#lookInto(scope, queue, at, handler)
          if (next !== undefined) wait = Math.min(wait ?? Infinity, next - now)
        } catch (error) {
          // A tenant that was closed just now, or whose file is damaged, keeps no other waiting.
          if (this.#loop?.closing.aborted) throw error
          this.#engine.environment.logger.warn('the scheduler could not look for what is due', { tenant, queue, error: String(error) })
          wait = Math.min(wait ?? Infinity, REST_MS)
        }
      }
    }
    return wait
  }

  /** Those that are due first. Where something failed, its tenant stays among them, and takes the place of none. */
  #tenants(queue: string): Promise<readonly DueTenant[]> {
    return this.#engine.backend.queries.due(queue, TENANTS_AT_A_TIME + this.#resting.size)
  }

  /** `next`: until then nothing more is due. */
  async #lookInto(
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
        const item = { id: id as Id<'work'>, revision, row: decodeBody(body), now }
        if (await this.#handle(scope, handler, item, tick)) done++
        // The rest when others have had their turn.
        if (!tick && done >= PAGE) {
          this.look()
          return { now, next: now }
        }
      }
    }
    const { rows } = await backend.rows.list(scope.tenant, 'work', { index: 'byDue', equals: [queue], from: now + 1, limit: 1 })
    const [first] = rows
    return { now, ...(first && { next: decodeBody(first.body).at ?? now }) }
  }

  /** False where it could not be done, or not yet. */
  async #handle(scope: Scope, handler: ClockHandler, item: ClockItem, tick?: Tick): Promise<boolean> {
    const key = `${scope.tenant}/${item.id}`
    // Once as it is: somebody who is in the way for good must not be run against without end.
    if (tick?.met.has(`${key}/${item.revision}`)) return false
    const steady = this.#engine.environment.clock.monotonic()
    const rest = this.#resting.get(key)
    if (rest && rest.until > steady) return false
    tick?.met.add(`${key}/${item.revision}`)
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
      this.#engine.environment.logger.error('what was due could not be done, and is tried again later', {
        tenant: scope.tenant as TenantId,
        queue: item.row.queue,
        item: item.id,
        error: String(error),
      })
      return false
    }
  }
}
