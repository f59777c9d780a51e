// The named queries, written as they are defined.

import type { TenantId } from '../../model/ids.ts'
import { compareText } from '../../model/order.ts'
import type { Backlog, DueTenant, Queries, TypeUsage } from '../../model/queries.ts'
import { type ColumnValue, tables } from '../../model/tables.ts'
import { toStored } from './rows.ts'
import { activeTenant, type MemoryRow, type MemoryState, type MemoryTenant, tableRows } from './state.ts'

interface Item {
  readonly row: MemoryRow
  readonly queue: ColumnValue
  readonly state: ColumnValue
  readonly priority: ColumnValue
  readonly at: ColumnValue
  readonly series: ColumnValue
}

const columns = Object.keys(tables.work.columns)
const column = (row: MemoryRow, name: keyof typeof tables.work.columns): ColumnValue => row.columns[columns.indexOf(name)] ?? null

const itemsOf = (tenant: MemoryTenant): readonly Item[] =>
  [...tableRows(tenant.rows, 'work').values()].map((row) => ({
    row,
    queue: column(row, 'queue'),
    state: column(row, 'state'),
    priority: column(row, 'priority'),
    at: column(row, 'at'),
    series: column(row, 'series'),
  }))

const byAge = ({ row: a }: Item, { row: b }: Item): number => a.born - b.born || compareText(a.id, b.id)

const isHeld = ({ renewals }: MemoryTenant, { row }: Item, now: number): boolean => {
  const renewal = renewals.get(row.id)
  return renewal !== undefined && renewal.fence === row.fence && renewal.until > now
}

export function queries(state: MemoryState, clock: () => number): Queries {
  return {
    usageByType: async (tenant) => {
      const byType = new Map<string, TypeUsage>()
      for (const e of activeTenant(state, tenant as TenantId).events) {
        const sum = byType.get(e.type) ?? { type: e.type, events: 0, bytes: 0, erased: 0 }
        byType.set(e.type, {
          type: e.type,
          events: sum.events + 1,
          bytes: sum.bytes + (e.payload?.length ?? 0),
          erased: sum.erased + (e.payload ? 0 : 1),
        })
      }
      return [...byType.values()].sort((a, b) => b.bytes - a.bytes || compareText(a.type, b.type))
    },
    due: async (queue, limit) => {
      const found: DueTenant[] = []
      for (const [id, tenant] of state.tenants) {
        if (tenant.state !== 'active') continue
        const [first] = itemsOf(tenant)
          .filter((item) => item.queue === queue)
          .map((item) => item.at)
          .filter((at) => typeof at === 'number')
          .sort((a, b) => a - b)
        if (first !== undefined) found.push({ tenant: id, at: first })
      }
      return found.sort((a, b) => a.at - b.at || compareText(a.tenant, b.tenant)).slice(0, limit)
    },
    ready: async (id, queue, limit) => {
      const tenant = activeTenant(state, id)
      const now = clock()
      const items = itemsOf(tenant)
      const here = items.filter((item) => item.queue === queue)
      const isBehind = (item: Item): boolean =>
        item.series !== null && items.some((other) => other.series === item.series && other.state !== 'dead' && byAge(other, item) < 0)
      const isReady = (item: Item): boolean =>
        item.priority !== null &&
        typeof item.at === 'number' &&
        item.at <= now &&
        (item.state === 'ready' || (item.state === 'claimed' && !isHeld(tenant, item, now))) &&
        !isBehind(item)
      const rows = here
        .filter(isReady)
        .sort((a, b) => Number(b.priority) - Number(a.priority) || Number(a.at) - Number(b.at) || byAge(a, b))
        .slice(0, limit)
        .map(({ row }) => toStored(row))
      const [next] = here
        .map(({ at }) => at)
        .filter((at) => typeof at === 'number' && at > now)
        .sort((a, b) => Number(a) - Number(b))
      return { now, rows, ...(typeof next === 'number' && { next }) }
    },
    overdue: async (id, ms, limit) => {
      const before = clock() - ms
      const due = itemsOf(activeTenant(state, id)).filter(({ queue, at }) => queue !== null && typeof at === 'number' && at <= before)
      return [...Map.groupBy(due, ({ queue }) => String(queue))]
        .map(([queue, items]) => ({ queue, at: Math.min(...items.map(({ at }) => Number(at))) }))
        .sort((a, b) => compareText(a.queue, b.queue))
        .slice(0, limit)
    },
    backlog: async (id) => {
      const now = clock()
      const inQueues = itemsOf(activeTenant(state, id)).filter(({ queue }) => queue !== null)
      const queues = Map.groupBy(inQueues, ({ queue }) => String(queue))
      return [...queues]
        .map(([queue, items]): Backlog => {
          const count = (is: (item: Item) => boolean) => items.filter(is).length
          const later = (item: Item) => Number(item.at) > now
          return {
            queue,
            ready: count((item) => item.state === 'ready' && !later(item)),
            delayed: count((item) => item.state === 'ready' && later(item)),
            claimed: count((item) => item.state === 'claimed'),
            asleep: count((item) => item.state === 'asleep'),
            dead: count((item) => item.state === 'dead'),
          }
        })
        .sort((a, b) => compareText(a.queue, b.queue))
    },
  }
}
