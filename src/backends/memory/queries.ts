// The named queries, as their definitions read.

import type { TenantId } from '../../model/ids.ts'
import { compareText } from '../../model/order.ts'
import type { Queries, TypeUsage } from '../../model/queries.ts'
import { activeTenant, type MemoryState } from './state.ts'

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
  }
}
