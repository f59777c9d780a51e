// A node takes up runs that wait for a handler it has: pending ones, woken ones, and those whose holder died. Of all tenants, so many at a time.

import { InkError, refuse } from '../../model/errors.ts'
import type { RunId, TenantId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import { checkKnown, invalidOption, optionsOf } from '../../model/options.ts'
import type { DueTenant } from '../../model/queries.ts'
import { type Duration, milliseconds } from '../../model/time.ts'
import { runQueue } from '../../model/work.ts'
import { takeName } from '../names.ts'
import { checkOpen, type Scope } from '../scope.ts'
import { splitByTime } from '../work/due-tenants.ts'
import { Loop, patiently } from '../work/loop.ts'
import { TenantRotation } from '../work/tenant-rotation.ts'
import { type Claimed, claimRun, dueItems, type Item, orphanedItems } from './claim.ts'
import type { Run } from './run.ts'
import { runHandler } from './run-handler.ts'

// biome-ignore lint/suspicious/noExplicitAny: a handler says itself what its input is
export type Handler = (run: Run, input: any) => unknown

export interface RunNodeOptions {
  /** How many runs at a time. The default is 8. */
  readonly concurrency?: number
  /** How long `close` waits for runs that are underway before it lets go of them. The default is 10 s. */
  readonly drain?: Duration
}

export interface RunNodeStats {
  readonly running: number
  readonly taken: number
  readonly finished: number
  readonly parked: number
  readonly failed: number
}

export interface RunNode extends AsyncDisposable {
  stats(): RunNodeStats
  /** Takes nothing more; what is underway may end, and what does not is given back for others. */
  close(): Promise<void>
}

const CONCURRENCY = 8
const DRAIN_MS = 10_000
const TENANTS_AT_A_TIME = 100
// An item that somebody holds is asked about after this long.
const HELD_MS = 100
// A session that takes nothing may be opened again; that is not urgent.
const CLOSED = ['SESSION_ARCHIVED', 'SESSION_DELETED']
const CLOSED_MS = 5000

export class RunNodeHandle implements RunNode {
  readonly #scope: Scope
  readonly #handlers: ReadonlyMap<string, Handler>
  readonly #concurrency: number
  readonly #drainMs: number
  /** One tenant's view sees its own runs only. */
  readonly #only: TenantId | undefined
  readonly #leaving = new AbortController()
  readonly #running = new Map<RunId, Promise<void>>()
  /** Held elsewhere: not worth a look before then, by our own steady clock. */
  readonly #notBefore = new Map<string, { readonly until: number; readonly rest: number }>()
  /** When the first of those is worth a look again. */
  #masked = Infinity
  /** Tenants that were due and gave nothing the last time: they take the place of none. By the name of the runs. */
  readonly #passed = new Map<string, number>()
  /** When it last looked for what dead processes left. */
  readonly #searched = new Map<string, number>()
  readonly #rota = new TenantRotation()
  #turn = 0
  readonly #count = { taken: 0, finished: 0, parked: 0, failed: 0 }
  readonly #loop: Loop
  readonly #unlist: () => void
  #closed: Promise<void> | undefined

  constructor(scope: Scope, handlers: Readonly<Record<string, Handler>>, options: RunNodeOptions | undefined, only: TenantId | undefined) {
    checkOpen(scope.engine)
    const { concurrency = CONCURRENCY, drain = DRAIN_MS, ...unknown } = optionsOf(options, 'work')
    checkKnown(unknown, 'a node')
    if (!Number.isSafeInteger(concurrency) || concurrency < 1) throw invalidOption('concurrency', 'an integer ≥ 1', concurrency)
    const given = Object.entries(optionsOf(handlers, 'handlers'))
    if (given.length === 0) throw invalidOption('handlers', 'at least one handler, by the name of its runs', handlers)
    for (const [name, handler] of given) if (typeof handler !== 'function') throw invalidOption(`handlers.${name}`, 'a function', handler)
    this.#scope = scope
    this.#only = only
    this.#handlers = new Map(given.map(([name, handler]) => [takeName(scope, name, 'a run'), handler]))
    this.#concurrency = concurrency
    this.#drainMs = milliseconds(drain)
    this.#loop = new Loop(scope.engine, { of: 'a node', look: () => this.#look() })
    this.#loop.watch(scope.tenant)
    this.#unlist = scope.engine.localRuns.addNode(this)
    scope.engine.scheduler.start()
  }

  stats(): RunNodeStats {
    return { running: this.#running.size, ...this.#count }
  }

  /** Something was offered here, or room was made: no use in waiting. */
  look(): void {
    this.#loop.hurry()
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    await this.#loop.close()
    const ended = Promise.allSettled(this.#running.values())
    await patiently(this.#scope.engine, ended, this.#drainMs)
    this.#leaving.abort(refuse('STORE_CLOSED'))
    await ended
    this.#unlist()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Takes what it can; the answer is how long, at most, nothing more is due. */
  async #look(): Promise<number | undefined> {
    let next: number | undefined
    // The first in line changes: names behind one that always has something would never come.
    const names = [...this.#handlers.keys()]
    const first = this.#turn++ % names.length
    this.#masked = Infinity
    for (const name of [...names.slice(first), ...names.slice(0, first)]) {
      if (this.#isFull) return undefined
      const due = await this.#due(name)
      if (due.length === 0) continue
      for (const { tenant } of due) this.#loop.watch(tenant)
      const { ready, later, now, wait } = await splitByTime(this.#scope.engine, due)
      if (wait !== undefined) next = Math.min(next ?? Infinity, wait)
      await this.#takeInTurn(name, this.#rota.inTurn(ready), now)
      if (this.#isFull) return undefined
      for (const { tenant } of later) {
        const scope = { ...this.#scope, tenant }
        await this.#takeOne(scope, name, this.#orphans(scope, name))
        if (this.#isFull) return undefined
      }
    }
    const masked = this.#masked - this.#steady()
    return masked < Infinity ? Math.max(Math.min(next ?? Infinity, masked), 1) : next
  }

  /** One of each, and again: whoever has many keeps nobody waiting who has few. */
  async #takeInTurn(name: string, tenants: readonly DueTenant[], now: number): Promise<void> {
    const lines: { readonly scope: Scope; readonly items: AsyncGenerator<Item, void, undefined> }[] = []
    const before = this.#passed.get(name) ?? 0
    let passed = 0
    for (const { tenant } of tenants) {
      if (this.#isFull) {
        // Those behind were not asked: perhaps they would have been passed, as some were before.
        this.#passed.set(name, Math.max(passed, before))
        return
      }
      const scope = { ...this.#scope, tenant }
      const items = this.#items(scope, name, now)
      this.#rota.served(tenant)
      if (await this.#takeOne(scope, name, items)) lines.push({ scope, items })
      else passed++
    }
    this.#passed.set(name, passed)
    // Those that were passed may hide others: now more are asked for, and at once.
    if (passed > before && tenants.length >= TENANTS_AT_A_TIME + before) this.#loop.hurry()
    for (let line = lines.shift(); line && !this.#isFull; line = lines.shift())
      if (await this.#takeOne(line.scope, name, line.items)) lines.push(line)
  }

  get #isFull(): boolean {
    return this.#running.size >= this.#concurrency || this.#loop.closing.aborted
  }

  /** The next that can be taken; false where there is none. */
  async #takeOne(scope: Scope, name: string, items: AsyncGenerator<Item, void, undefined>): Promise<boolean> {
    for (;;) {
      const { value: item, done } = await items.next()
      if (done || !item) return false
      const { taken } = this.#count
      await this.#take(scope, name, item)
      if (this.#loop.closing.aborted) return false
      if (this.#count.taken > taken) return true
    }
  }

  async #due(name: string): Promise<readonly DueTenant[]> {
    const { backend } = this.#scope.engine
    if (this.#only === undefined) return backend.queries.due(runQueue(name), TENANTS_AT_A_TIME + (this.#passed.get(name) ?? 0))
    return [{ tenant: this.#only, at: 0 }]
  }

  /** What is due, and now and then what a process left that is gone. */
  async *#items(scope: Scope, name: string, now: number): AsyncGenerator<Item, void, undefined> {
    yield* dueItems(scope, name, now)
    yield* this.#orphans(scope, name)
  }

  async *#orphans(scope: Scope, name: string): AsyncGenerator<Item, void, undefined> {
    const steady = this.#steady()
    const place = `${scope.tenant}/${name}`
    if (steady - (this.#searched.get(place) ?? -Infinity) < limits.lookEveryMs) return
    this.#searched.set(place, steady)
    yield* orphanedItems(scope, name)
  }

  async #take(scope: Scope, name: string, { id, revision, claimed: isClaimed }: Item): Promise<void> {
    const key = `${scope.tenant}/${id}/${revision}`
    const { until = 0, rest = 0 } = this.#notBefore.get(key) ?? {}
    if (until > this.#steady()) {
      this.#masked = Math.min(this.#masked, until)
      return
    }
    this.#notBefore.delete(key)
    let claimed: Claimed
    try {
      claimed = await claimRun(scope, id)
    } catch (error) {
      if (!(error instanceof InkError)) throw error
      if (CLOSED.includes(error.code)) {
        this.#mask(key, CLOSED_MS, CLOSED_MS)
        return
      }
      if (error.kind !== 'conflict') throw error
      // Another node was quicker, or the session is busy. A claim changes its item when it ends, so it is left alone until its lease runs out.
      const held = error.code === 'RUN_HELD' ? Number(error.details.forMs) : 0
      const ms = Math.min(Math.max(held, 1), isClaimed ? scope.engine.keeper.ttlMs : HELD_MS)
      // Where nothing rings, it is asked about less often the longer it has been so.
      this.#mask(key, ms, Math.min(Math.max(ms, 2 * rest), limits.lookEveryMs))
      return
    }
    if ('failed' in claimed) {
      this.#count.failed++
      return
    }
    this.#count.taken++
    const { run } = claimed
    const handler = this.#handlers.get(name) as Handler
    const work = runHandler(scope, run, handler, this.#leaving.signal)
      .then((how) => {
        this.#count[how]++
      })
      .catch(async (error: unknown) => {
        this.#count.failed++
        scope.engine.environment.logger.error('a run could not be ended', { run: run.id, error: String(error) })
        // Held on to, it would keep its session from everybody.
        await run.close()
      })
      .finally(() => {
        this.#running.delete(run.id)
        this.#unmask(scope.tenant)
        this.look()
      })
    this.#running.set(run.id, work)
  }

  #mask(key: string, ms: number, rest: number): void {
    const now = this.#steady()
    if (this.#notBefore.size > limits.sessionsRemembered) this.#notBefore.clear()
    this.#notBefore.set(key, { until: now + ms, rest })
    this.#masked = Math.min(this.#masked, now + rest)
  }

  /** A session is free again perhaps: those that were refused first are asked first, and no more of them than there is room for. */
  #unmask(tenant: TenantId): void {
    let left = this.#concurrency
    for (const key of this.#notBefore.keys()) {
      if (!key.startsWith(`${tenant}/`)) continue
      this.#notBefore.delete(key)
      if (--left === 0) return
    }
  }

  #steady(): number {
    return this.#scope.engine.environment.clock.monotonic()
  }
}
