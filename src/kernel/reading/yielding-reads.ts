// Reads that never starve the process. A backend inside this process answers in microtasks, so a polling loop of reads would keep timers and
// pending writes from running. A read that comes too long after the event loop last turned waits for its next turn.

import type { ClockTrust } from '../../model/clock-trust.ts'
import type { TenantId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import { valueRef } from '../../model/value.ts'
import type { Backend } from '../../ports/backend.ts'
import type { Environment } from '../../ports/environment.ts'
import type { AuditTrail } from '../proof/audit-trail.ts'

/**
 * The same backend. Its reads yield to the event loop at least once per `limits.sliceMs` of continuous use. The audit notes reads that a closed
 * tenant refuses.
 */
export function yieldingReads(
  backend: Backend,
  environment: Pick<Environment, 'clock' | 'timer'>,
  audit?: Pick<AuditTrail, 'note'>,
): Backend {
  const turns = new LoopTurns(environment)
  const read = <T>(call: () => Promise<T>): Promise<T> => (turns.isOverdue() ? turns.next().then(call) : call())
  /** Reads content of a tenant; `noun` and `subject` say what. */
  const readOf = <T>(tenant: TenantId, noun: string, subject: string, call: () => Promise<T>): Promise<T> =>
    read(call).catch((error: unknown) => {
      audit?.note(tenant, '', error, noun, subject)
      throw error
    })
  return {
    name: backend.name,
    traits: backend.traits,
    wakeups: backend.wakeups,
    commit: (batch) => backend.commit(batch),
    close: () => backend.close(),
    journal: {
      head: (tenant) => read(() => backend.journal.head(tenant)),
      page: (tenant, query) => readOf(tenant, 'events', query.session ?? query.subject ?? '', () => backend.journal.page(tenant, query)),
      tenants: (page) => read(() => backend.journal.tenants(page)),
    },
    rows: {
      get: (tenant, table, id) => readOf(tenant, table, id, () => backend.rows.get(tenant, table, id)),
      getMany: (tenant, keys) => readOf(tenant, keys[0]?.table ?? '', keys[0]?.id ?? '', () => backend.rows.getMany(tenant, keys)),
      list: (tenant, table, query) => readOf(tenant, table, '', () => backend.rows.list(tenant, table, query)),
    },
    queries: {
      usageByType: (tenant) => readOf(tenant as TenantId, 'events', '', () => backend.queries.usageByType(tenant)),
      due: (queue, limit) => read(() => backend.queries.due(queue, limit)),
      ready: (tenant, queue, limit) => read(() => backend.queries.ready(tenant, queue, limit)),
      backlog: (tenant) => readOf(tenant, 'work', '', () => backend.queries.backlog(tenant)),
      overdue: (tenant, ms, limit) => readOf(tenant, 'work', '', () => backend.queries.overdue(tenant, ms, limit)),
    },
    leases: {
      renew: (tenant, leases, ms, of) => backend.leases.renew(tenant, leases, ms, of),
      read: (tenant, ids, of) => read(() => backend.leases.read(tenant, ids, of)),
    },
    values: {
      ...backend.values,
      get: (tenant, refs) => readOf(tenant, 'values', firstRef(refs), () => backend.values.get(tenant, refs)),
      scan: (tenant, upTo, limit) => readOf(tenant, 'values', '', () => backend.values.scan(tenant, upTo, limit)),
      references: (tenant, after, limit) => readOf(tenant, 'values', '', () => backend.values.references(tenant, after, limit)),
    },
    texts: {
      statistics: (tenant, table, query) => readOf(tenant, table, '', () => backend.texts.statistics(tenant, table, query)),
      search: (tenant, table, query) => readOf(tenant, table, '', () => backend.texts.search(tenant, table, query)),
      around: (tenant, table, places, span) => readOf(tenant, table, '', () => backend.texts.around(tenant, table, places, span)),
    },
    blobs: {
      ...backend.blobs,
      put: (tenant, digest, bytes, storage) => readOf(tenant, 'blobs', digest, () => backend.blobs.put(tenant, digest, bytes, storage)),
      write: (tenant, storage, mark) => readOf(tenant, 'blobs', '', () => backend.blobs.write(tenant, storage, mark)),
      get: (tenant, digest, piece) => readOf(tenant, 'blobs', digest, () => backend.blobs.get(tenant, digest, piece)),
      has: (tenant, digests) => readOf(tenant, 'blobs', '', () => backend.blobs.has(tenant, digests)),
      list: (tenant, after, limit) => readOf(tenant, 'blobs', '', () => backend.blobs.list(tenant, after, limit)),
    },
    audit: {
      add: (tenant, refusals, keep) => backend.audit.add(tenant, refusals, keep),
      list: (tenant, query) => read(() => backend.audit.list(tenant, query)),
    },
    workers: {
      renew: (tenant, workers, ms, keepMs) => backend.workers.renew(tenant, workers, ms, keepMs),
      list: (tenant) => read(() => backend.workers.list(tenant)),
    },
    upkeep: {
      snapshot: (tenant) => backend.upkeep.snapshot(tenant),
      scratch: () => backend.upkeep.scratch(),
      adopt: (tenant, scratch, head) => backend.upkeep.adopt(tenant, scratch, head),
      ...(backend.upkeep.remakeDue && { remakeDue: async (tenant: TenantId) => backend.upkeep.remakeDue?.(tenant) }),
      check: () => backend.upkeep.check(),
      measure: () => read(() => backend.upkeep.measure()),
      health: () => read(() => backend.upkeep.health()),
      receipts: (tenant, after, limit) => read(() => backend.upkeep.receipts(tenant, after, limit)),
      sweepReceipts: (before) => backend.upkeep.sweepReceipts(before),
      ...(backend.upkeep.reclaim && { reclaim: (tenant: TenantId) => backend.upkeep.reclaim?.(tenant) ?? Promise.resolve(0) }),
      ...(backend.upkeep.clock && { clock: () => backend.upkeep.clock?.() as Promise<ClockTrust> }),
      scrub: () => backend.upkeep.scrub(),
      secret: (name) => backend.upkeep.secret(name),
    },
  }
}

const firstRef = ([ref]: readonly Uint8Array[]): string => (ref ? valueRef(ref) : '')

class LoopTurns {
  readonly #environment: Pick<Environment, 'clock' | 'timer'>
  /** When the first read since the last turn of the event loop came. */
  #since: number | undefined

  constructor(environment: Pick<Environment, 'clock' | 'timer'>) {
    this.#environment = environment
  }

  isOverdue(): boolean {
    const now = this.#environment.clock.monotonic()
    if (this.#since !== undefined) return now - this.#since >= limits.sliceMs
    this.#since = now
    this.#environment.timer.soon(() => {
      this.#since = undefined
    })
    return false
  }

  next(): Promise<void> {
    return new Promise((resolve) => this.#environment.timer.soon(resolve))
  }
}
