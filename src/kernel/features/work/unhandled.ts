// Names that nobody handles: runs, items and processes that have been due for a while, and no live worker takes them. Usually a name is
// misspelt, or the process that works was never started.

import { limits } from '../../../model/limits.ts'
import { decodeBody, type TableRow } from '../../../model/rows.ts'
import { type Unhandled, unhandledText } from '../../../model/unhandled.ts'
import { runQueue } from '../../../model/work.ts'
import { enginePart } from '../../wiring/per-engine.ts'
import type { Engine, Scope } from '../../wiring/scope.ts'
import { isClosed } from '../../writing/commit-outcome.ts'
import { servedQueuesOf } from './served-queues.ts'

// Enough rows to find one that waits, among those that were woken just now.
const WINDOW = 16
const NAMES = 100

/** Names that have waited for `limits.unhandledMs` while no live worker handled them, ordered by their queue; at most 100. */
export async function unhandled(scope: Scope, only?: string): Promise<readonly Unhandled[]> {
  const { engine, tenant } = scope
  const { workers, queries } = engine.backend
  const [live, overdue] = await Promise.all([workers.list(tenant), queries.overdue(tenant, limits.unhandledMs, limits.listRows)])
  const handled = new Set(live.workers.filter(({ until }) => until > live.now - limits.unhandledMs).flatMap(({ queues }) => queues))
  const found: Unhandled[] = []
  for (const { queue } of overdue) {
    const named = nameOf(queue)
    if (!named || (only !== undefined && queue !== only)) continue
    // The rows of this process may be late: it knows what it handles.
    if (handled.has(queue) || servedQueuesOf(engine).handles(tenant, queue)) continue
    const since = await waitingSince(scope, queue, live.now)
    if (since !== undefined && found.push({ ...named, since }) === NAMES) break
  }
  return found
}

/** The scheduler handles queues of the clock; every process has one. */
function nameOf(queue: string): Pick<Unhandled, 'kind' | 'name'> | undefined {
  const rest = (prefix: string) => (queue.startsWith(prefix) ? queue.slice(prefix.length) : undefined)
  if (rest('clock/') !== undefined) return undefined
  const [ofRuns, ofProcesses] = [rest('runs/'), rest('processes/')]
  if (ofRuns !== undefined) return { kind: 'run', name: ofRuns }
  return ofProcesses === undefined ? { kind: 'item', name: queue } : { kind: 'process', name: ofProcesses }
}

/** Undefined if nothing has waited long enough, or a program claims items of the queue by hand. */
async function waitingSince(scope: Scope, queue: string, now: number): Promise<number | undefined> {
  const { engine, tenant } = scope
  const { rows } = engine.backend
  const claimed = await rows.list(tenant, 'work', { index: 'byReady', equals: [queue, 'claimed'], limit: WINDOW })
  if (await isOneHeld(scope, claimed.rows, now)) return undefined
  const before = now - limits.unhandledMs
  const due = await rows.list(tenant, 'work', { index: 'byDue', equals: [queue], from: 0, below: before + 1, limit: WINDOW })
  const ahead = now - engine.environment.clock.now()
  const times = await Promise.all(due.rows.map((row) => dueAt(scope, row, ahead)))
  const first = Math.min(...times)
  return first <= before ? first : undefined
}

async function isOneHeld({ engine, tenant }: Scope, claimed: readonly TableRow<'work'>[], now: number): Promise<boolean> {
  if (claimed.length === 0) return false
  if (claimed.some(({ id, body }) => (decodeBody(body, { id }).at ?? 0) > now)) return true
  const { leases } = await engine.backend.leases.read(
    tenant,
    claimed.map(({ id }) => id),
    'work',
  )
  return leases.some(({ until }) => until > now)
}

/** A woken item has no time of its own. Its last event has one, by the clock of a node, and the store's clock is `ahead` of those. */
async function dueAt({ engine, tenant }: Scope, { id, revision, body }: TableRow<'work'>, ahead: number): Promise<number> {
  const { at = 0 } = decodeBody(body, { id })
  if (at > 0) return at
  const { events } = await engine.backend.journal.page(tenant, { from: revision - 1, limit: 1 })
  return events[0] ? events[0].at + ahead : 0
}

/** Says once in this process that nobody handles a name. */
export class UnhandledWatch {
  readonly #engine: Engine
  readonly #told = new Set<string>()
  readonly #expected = new Set<string>()

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** Something in this queue is due, or waited for: looks once whether it was handled in time. */
  expect(scope: Scope, queue: string): void {
    const key = `${scope.tenant}\n${queue}`
    if (this.#expected.has(key) || this.#told.has(key) || this.#expected.size >= NAMES) return
    if (servedQueuesOf(this.#engine).handles(scope.tenant, queue)) return
    this.#expected.add(key)
    void this.#checkLater(scope, queue).finally(() => this.#expected.delete(key))
  }

  async check(scope: Scope, only?: string): Promise<void> {
    const { environment, closing, lane } = this.#engine
    try {
      for (const one of await unhandled(scope, only)) {
        const key = `${scope.tenant}\n${queueOf(one)}`
        if (closing.aborted || this.#told.has(key)) continue
        if (this.#told.size > limits.sessionsRemembered) this.#told.clear()
        this.#told.add(key)
        const { found, todo } = unhandledText(one)
        const seconds = Math.round((lane.storeTime() - one.since) / 1000)
        environment.logger.warn(found, { tenant: scope.tenant, waiting: `${seconds} s`, todo, look: 'inkfast doctor' })
      }
    } catch (error) {
      if (closing.aborted || isClosed(error)) return
      environment.logger.warn('it could not be found out whether every name is handled', { tenant: scope.tenant, error: String(error) })
    }
  }

  async #checkLater(scope: Scope, queue: string): Promise<void> {
    const { environment, closing } = this.#engine
    try {
      await environment.timer.idly(limits.unhandledMs + SLACK_MS, closing)
    } catch {
      // The store closes.
      return
    }
    await this.check(scope, queue)
  }
}

// The clocks of this process and of the store differ by some milliseconds.
const SLACK_MS = 250

const queueOf = ({ kind, name }: Unhandled): string => (kind === 'run' ? runQueue(name) : kind === 'process' ? `processes/${name}` : name)

export const unhandledWatchOf = enginePart((engine) => new UnhandledWatch(engine))

/** Says in the store that a worker of this process takes items from these queues. Returns how to end it. */
export const serve = (scope: Scope, tenants: 'own' | 'all', queues: readonly string[]): (() => Promise<void>) =>
  servedQueuesOf(scope.engine).add(scope, tenants, queues, (served) => unhandledWatchOf(scope.engine).check(served))
