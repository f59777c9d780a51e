// Maintenance of memory: expired items, items older than the retention, and items beyond the capacity of their scope or tenant are purged.
// The order is fixed: expired first, then forgotten, then least important, then oldest.

import type { TenantId } from '../../../model/ids.ts'
import type { MemoryId, MemoryRow } from '../../../model/memory.ts'
import { decodeBody } from '../../../model/rows.ts'
import { everyTenant } from '../../../model/tenant-pages.ts'
import { milliseconds } from '../../../model/time.ts'
import { stopIfAsked } from '../../reading/abortable.ts'
import { everyRow } from '../../reading/every-row.ts'
import { purgeTime } from '../../time/purge-time.ts'
import type { Engine, Scope } from '../../wiring/scope.ts'
import { retireModels } from './backfill.ts'
import { embedUnseen } from './backfill-clock.ts'
import { countPurges, finishPurges, purgeSeen } from './forget.ts'
import { isExpired } from './item-filter.ts'
import { IMPORTANCE } from './memory-item.ts'
import { type Capacity, EVERY_MS, type MemoryOptions } from './options.ts'
import { vacuumMemory } from './vacuum-memory.ts'

export interface MemoryMaintenance {
  readonly expired: number
  /** Items beyond the retention. */
  readonly aged: number
  /** Items beyond a capacity. */
  readonly evicted: number
  /** Purges that a crash had interrupted. */
  readonly finished: number
  /** Models whose vectors are no longer used, because every item has a vector of the present one. */
  readonly retired: number
  /** Bytes given back to the file system. Absent when no time of `memory.vacuum` has come. */
  readonly vacuumed?: number
}

export interface MaintainOptions {
  /** Counts, and removes nothing. */
  readonly dryRun?: boolean
  readonly signal?: AbortSignal | undefined
}

const DAY_MS = 86_400_000
const PAGE = 200

interface Counted {
  readonly row: MemoryRow
  readonly born: number
}

export async function maintainMemory(
  scope: Scope,
  now: number,
  { dryRun = false, signal }: MaintainOptions = {},
): Promise<MemoryMaintenance> {
  stopIfAsked(scope, signal)
  const options = scope.engine.options.memory ?? {}
  const finished = dryRun ? await countPurges(scope) : await finishPurges(scope)
  const expired = await expiredRows(scope, now)
  const gone = new Set<MemoryId>(expired.map(({ id }) => id))
  const needsAll = options.scope || options.tenant || options.retentionDays !== undefined
  const rows = needsAll ? await everyItem(scope, gone, now) : []
  const aged = agedRows(rows, options, now)
  for (const { id } of aged) gone.add(id)
  const evicted = evictedRows(
    rows.filter(({ row }) => !gone.has(row.id)),
    options,
  )
  if (dryRun) {
    const retired = await retireModels(scope, { dryRun })
    return { expired: expired.length, aged: aged.length, evicted: evicted.length, finished, retired }
  }
  const purged = {
    expired: await purgeSeen(scope, expired, 'expired', signal),
    aged: await purgeSeen(scope, aged, 'older than the retention', signal),
    evicted: await purgeSeen(scope, evicted, 'beyond the capacity', signal),
    finished,
    retired: await retireModels(scope, { dryRun }),
  }
  const vacuumed = await vacuumMemory(scope, now, signal)
  return { ...purged, ...(vacuumed !== undefined && { vacuumed }) }
}

async function expiredRows(scope: Scope, now: number): Promise<readonly MemoryRow[]> {
  const rows: MemoryRow[] = []
  for await (const { body } of everyRow(scope, 'memory', { index: 'byExpiry', equals: [], from: 0, below: now + 1, limit: PAGE })) {
    const row = decodeBody(body)
    if (row.state !== 'purging') rows.push(row)
  }
  return rows
}

async function everyItem(scope: Scope, gone: ReadonlySet<MemoryId>, now: number): Promise<readonly Counted[]> {
  const rows: Counted[] = []
  for (const state of ['active', 'forgotten'])
    for await (const { body, born } of everyRow(scope, 'memory', { index: 'byState', equals: [state], limit: PAGE })) {
      const row = decodeBody(body)
      if (!gone.has(row.id) && !isExpired(row, now)) rows.push({ row, born })
    }
  return rows
}

const agedRows = (rows: readonly Counted[], { retentionDays }: MemoryOptions, now: number): readonly MemoryRow[] =>
  retentionDays === undefined ? [] : rows.map(({ row }) => row).filter(({ refreshedAt }) => refreshedAt < now - retentionDays * DAY_MS)

function evictedRows(rows: readonly Counted[], { scope, tenant }: MemoryOptions): readonly MemoryRow[] {
  const ordered = [...rows].sort(
    (a, b) =>
      Number(b.row.state === 'forgotten') - Number(a.row.state === 'forgotten') ||
      (a.row.importance ?? IMPORTANCE) - (b.row.importance ?? IMPORTANCE) ||
      a.row.refreshedAt - b.row.refreshedAt ||
      a.born - b.born,
  )
  const evicted = new Set<MemoryRow>()
  if (scope)
    for (const some of Map.groupBy(ordered, ({ row }) => row.about).values()) for (const row of beyond(some, scope)) evicted.add(row)
  const left = ordered.filter(({ row }) => !evicted.has(row))
  if (tenant) for (const row of beyond(left, tenant)) evicted.add(row)
  return [...evicted]
}

/** The first ones, until the rest fits. */
function beyond(rows: readonly Counted[], { entries = Infinity, bytes = Infinity }: Capacity): readonly MemoryRow[] {
  let [count, size] = [rows.length, rows.reduce((sum, { row }) => sum + row.bytes, 0)]
  const out: MemoryRow[] = []
  for (const { row } of rows) {
    if (count <= entries && size <= bytes) break
    out.push(row)
    count--
    size -= row.bytes
  }
  return out
}

/** Maintains the memory of every tenant again and again, while the store is open and has the scheduler. Two nodes may do it at once. */
export function keepMaintaining(engine: Engine): void {
  const { options, environment, closing } = engine
  if (options.schedule === false || options.readOnly) return
  const every = options.memory?.every === undefined ? EVERY_MS : milliseconds(options.memory.every)
  const loop = async () => {
    while (!closing.aborted) {
      await environment.timer.idly(every, closing)
      try {
        await maintainTenants(engine, every)
      } catch (error) {
        warn(engine, error)
      }
    }
  }
  // The timer rejects when the store closes.
  loop().catch(() => {})
}

async function maintainTenants(engine: Engine, everyMs: number): Promise<void> {
  const { journal } = engine.backend
  for await (const tenant of everyTenant(journal.tenants)) {
    if (engine.closing.aborted) return
    // A tenant in trouble holds up no other.
    try {
      if ((await journal.head(tenant)).state !== 'active') continue
      const scope = { engine, tenant, actor: 'inkfast' }
      await maintainMemory(scope, await purgeTime(scope))
      await embedUnseen(scope, everyMs)
    } catch (error) {
      warn(engine, error, tenant)
    }
  }
}

function warn({ closing, environment }: Engine, error: unknown, tenant?: TenantId): void {
  if (closing.aborted) return
  environment.logger.warn('Memory could not be maintained; it is tried again.', { ...(tenant && { tenant }), why: String(error) })
}
