// The named queries, as their definitions read.

import type { TenantId } from '../../model/ids.ts'
import { compareText } from '../../model/order.ts'
import type { DueTenant, Queries, TypeUsage } from '../../model/queries.ts'
import { tables } from '../../model/tables.ts'
import { activeTenant, type MemoryState, tableRows } from './state.ts'

export function queries(state: MemoryState): Queries {
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
      const columns = Object.keys(tables.work.columns)
      const found: DueTenant[] = []
      for (const [tenant, { state: turn, rows }] of state.tenants) {
        if (turn !== 'active') continue
        const [first] = [...tableRows(rows, 'work').values()]
          .filter((row) => row.columns[columns.indexOf('queue')] === queue)
          .map((row) => row.columns[columns.indexOf('at')])
          .filter((at) => typeof at === 'number')
          .sort((a, b) => a - b)
        if (first !== undefined) found.push({ tenant, at: first })
      }
      return found.sort((a, b) => a.at - b.at || compareText(a.tenant, b.tenant)).slice(0, limit)
    },
  }
}
