// A node: claims runs that wait for one of its handlers, and executes them. Runs may be new, woken, or left by a dead process.

import { InkError, refuse } from '../../../../model/errors.ts'
import type { RunId, TenantId } from '../../../../model/ids.ts'
import { limits } from '../../../../model/limits.ts'
import { checkKnown, invalidOption, optionsOf } from '../../../../model/options.ts'
import { decodeBody, type TableRow } from '../../../../model/rows.ts'
import { type Duration, milliseconds } from '../../../../model/time.ts'
import { runQueue } from '../../../../model/work.ts'
import { takeName } from '../../../naming/names.ts'
import { everyRow } from '../../../reading/every-row.ts'
import { storeNow } from '../../../time/store-time.ts'
import { checkOpen, type Scope } from '../../../wiring/scope.ts'
import { keeperOf } from '../../leases/keeper.ts'
import { localNodesOf } from '../../work/local-nodes.ts'
import { Loop, waitAtMost } from '../../work/loop.ts'
import { schedulerOf } from '../../work/scheduler.ts'
import { TenantFeed, TenantRotation, type Visit } from '../../work/tenant-feed.ts'
import { serve } from '../../work/unhandled.ts'
import { type Handler, type Handlers, type Program, takeHandlers } from '../program.ts'
import type { RunInHand } from '../run.ts'
import { type Claimed, claimRun } from './claim.ts'
import { runHandler } from './run-handler.ts'

export interface RunNodeOptions {
  /** How many runs the node executes at a time. The default is 8. */
  readonly concurrency?: number
  /** How long `close` waits for running handlers before it gives their runs back. The default is 10 s. */
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
  /** Claims nothing more, waits for running handlers (`drain`), and gives the other runs back. */
  close(): Promise<void>
}

const CONCURRENCY = 8
const DRAIN_MS = 10_000
const PAGE = 50
// Delay before the node tries an item again that another holder has.
const HELD_MS = 100
// An archived session may be reopened, but that is not urgent.
const CLOSED = ['SESSION_ARCHIVED', 'SESSION_DELETED']
const CLOSED_MS = 5000

type Rows = AsyncGenerator<TableRow<'work'>, void, undefined>

/** The runs of one name that this node can execute. */
interface Source {
  readonly queue: string
  readonly handler: Handler
  readonly feed: TenantFeed
}

export class RunNodeHandle implements RunNode {
  readonly #scope: Scope
  readonly #sources: readonly Source[]
  readonly #concurrency: number
  readonly #drainMs: number
  readonly #leaving = new AbortController()
  readonly #running = new Map<RunId, Promise<void>>()
  /** Items that were refused, with the time of the next try by our monotonic clock. */
  readonly #deferred = new Map<string, { readonly until: number; readonly restMs: number }>()
  /** The first time at which a deferred item that this look has met is tried again. */
  #nextTry = Infinity
  #looks = 0
  readonly #count = { taken: 0, finished: 0, parked: 0, failed: 0 }
  readonly #loop: Loop
  readonly #unlist: () => void
  readonly #unserve: () => Promise<void>
  #closed: Promise<void> | undefined

  /** With `only`, the node sees the runs of one tenant. */
  constructor(scope: Scope, handlers: Handlers | readonly Program[], options: RunNodeOptions | undefined, only: TenantId | undefined) {
    checkOpen(scope.engine)
    const { concurrency = CONCURRENCY, drain = DRAIN_MS, ...unknown } = optionsOf(options, 'work')
    checkKnown(unknown, 'a node')
    if (!Number.isSafeInteger(concurrency) || concurrency < 1) throw invalidOption('concurrency', 'an integer ≥ 1', concurrency)
    const given = takeHandlers(handlers)
    this.#scope = scope
    this.#concurrency = concurrency
    this.#drainMs = milliseconds(drain)
    const shared = {
      tenants: only === undefined ? 'all' : 'own',
      rotation: new TenantRotation(),
      watch: (tenant: TenantId) => this.#loop.watch(tenant),
    } as const
    this.#sources = [...given].map(([name, handler]) => {
      const queue = runQueue(takeName(scope, name, 'a run'))
      return { queue, handler, feed: new TenantFeed(scope, { queue, ...shared }) }
    })
    this.#loop = new Loop(scope.engine, { of: 'a node', look: () => this.#look() })
    this.#loop.watch(scope.tenant, true)
    this.#unlist = localNodesOf(scope.engine).add(this)
    const queues = this.#sources.map(({ queue }) => queue)
    this.#unserve = serve(scope, shared.tenants, queues)
    schedulerOf(scope.engine).start()
  }

  stats(): RunNodeStats {
    return { running: this.#running.size, ...this.#count }
  }

  /** Looks for work at once, because a run was offered or a slot became free. */
  look(): void {
    this.#loop.hurry()
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    await this.#loop.close()
    const unserved = this.#unserve()
    const ended = Promise.allSettled(this.#running.values())
    await waitAtMost(this.#scope.engine, ended, this.#drainMs)
    this.#leaving.abort(refuse('STORE_CLOSED'))
    await ended
    await unserved
    this.#unlist()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  get #isFull(): boolean {
    return this.#running.size >= this.#concurrency || this.#loop.closing.aborted
  }

  /** Claims as many runs as there are free slots. Returns for how many milliseconds nothing more is due. */
  async #look(): Promise<number | undefined> {
    let next = Infinity
    this.#nextTry = Infinity
    // Each look begins with another name, so that a busy name cannot starve the others.
    const first = this.#looks++ % this.#sources.length
    for (const source of [...this.#sources.slice(first), ...this.#sources.slice(0, first)]) {
      if (this.#isFull) return undefined
      next = Math.min(next, (await this.#claimInTurn(source)) ?? Infinity)
    }
    if (this.#isFull) return undefined
    next = Math.min(next, Math.max(this.#nextTry - this.#steady(), 1))
    return next < Infinity ? next : undefined
  }

  /** Claims one run of each tenant, then one more of each, and so on: a tenant with many runs does not delay one with few. */
  async #claimInTurn(source: Source): Promise<number | undefined> {
    const lines: { readonly scope: Scope; readonly rows: Rows }[] = []
    const claimFirst = async (visit: Visit) => {
      const { scope } = visit
      const rows = this.#rows(source, visit)
      if (!(await this.#claimOne(source, scope, rows))) return false
      source.feed.served(scope.tenant)
      lines.push({ scope, rows })
      return true
    }
    const next = await source.feed.visit(() => this.#isFull, claimFirst)
    for (let line = lines.shift(); line && !this.#isFull; line = lines.shift())
      if (await this.#claimOne(source, line.scope, line.rows)) lines.push(line)
    return next
  }

  /** Due items of one tenant, the earliest first: ready ones and claims that ran out, as far as the row knows. Then claims of dead processes. */
  async *#rows({ queue, feed }: Source, { scope, isDue, now }: Visit): Rows {
    if (isDue) {
      const below = (now ?? (await storeNow(scope))) + 1
      yield* everyRow(scope, 'work', { index: 'byDue', equals: [queue], from: 0, below, limit: PAGE })
    }
    yield* await feed.orphans(scope)
  }

  /** Claims the next run that can be claimed; false when there is none. */
  async #claimOne(source: Source, scope: Scope, rows: Rows): Promise<boolean> {
    for (let row = await rows.next(); !row.done && !this.#loop.closing.aborted; row = await rows.next())
      if (await this.#claim(source, scope, row.value)) return true
    return false
  }

  async #claim({ handler }: Source, scope: Scope, stored: TableRow<'work'>): Promise<boolean> {
    const key = `${scope.tenant}/${stored.id}/${stored.revision}`
    const { until = 0, restMs = 0 } = this.#deferred.get(key) ?? {}
    if (until > this.#steady()) {
      this.#nextTry = Math.min(this.#nextTry, until)
      return false
    }
    this.#deferred.delete(key)
    const item = decodeBody(stored.body, stored)
    let claimed: Claimed
    try {
      claimed = await claimRun(scope, stored, item)
    } catch (error) {
      if (!(error instanceof InkError)) throw error
      if (CLOSED.includes(error.code)) {
        this.#defer(key, CLOSED_MS, CLOSED_MS)
        return false
      }
      if (error.kind !== 'conflict') throw error
      // Another node was quicker, or the session is busy. The end of a claim changes its item, so a claimed item rests until its lease runs out.
      const heldMs = error.code === 'RUN_HELD' ? Number(error.details.forMs) : 0
      const ms = Math.min(Math.max(heldMs, 1), item.state === 'claimed' ? keeperOf(scope.engine).ttlMs : HELD_MS)
      // Backoff: without a wakeup, the node tries less often the longer the item has been held.
      this.#defer(key, ms, Math.min(Math.max(ms, 2 * restMs), limits.lookEveryMs))
      return false
    }
    if ('failed' in claimed) {
      this.#count.failed++
      return false
    }
    this.#count.taken++
    this.#running.set(claimed.run.id, this.#execute(scope, claimed.run, handler))
    return true
  }

  async #execute(scope: Scope, run: RunInHand, handler: Handler): Promise<void> {
    try {
      this.#count[await runHandler(scope, run, handler, this.#leaving.signal)]++
    } catch (error) {
      this.#count.failed++
      scope.engine.environment.logger.error('a run could not be ended', { run: run.id, error: String(error) })
      // A run that stays open would block its session for every node.
      await run.close()
    } finally {
      this.#running.delete(run.id)
      this.#retryDeferred(scope.tenant)
      this.look()
    }
  }

  #defer(key: string, ms: number, restMs: number): void {
    const now = this.#steady()
    if (this.#deferred.size > limits.sessionsRemembered) this.#deferred.clear()
    this.#deferred.set(key, { until: now + ms, restMs })
    this.#nextTry = Math.min(this.#nextTry, now + restMs)
  }

  /** The end of a run may have freed its session: the items that were refused first may be tried again, as many as there are slots. */
  #retryDeferred(tenant: TenantId): void {
    let left = this.#concurrency
    for (const key of this.#deferred.keys()) {
      if (!key.startsWith(`${tenant}/`)) continue
      this.#deferred.delete(key)
      if (--left === 0) return
    }
  }

  #steady(): number {
    return this.#scope.engine.environment.clock.monotonic()
  }
}
