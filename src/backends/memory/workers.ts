// Workers in a map per tenant; those that serve every tenant are in a map of the store.

import type { TenantId } from '../../model/ids.ts'
import { compareText } from '../../model/order.ts'
import type { WorkerRow } from '../../model/worker.ts'
import type { Workers } from '../../ports/workers.ts'
import { emptyTenant, type MemoryState } from './state.ts'

export function workers(state: MemoryState, now: () => number, checkOpen: () => void): Workers {
  const rowsOf = (id: TenantId | undefined): Map<string, WorkerRow> => {
    if (id === undefined) return state.workers
    const tenant = state.tenants.get(id) ?? emptyTenant()
    state.tenants.set(id, tenant)
    return tenant.workers
  }
  return {
    renew: async (tenant, renewed, ms, keepMs) => {
      checkOpen()
      const at = now()
      const rows = rowsOf(tenant)
      for (const worker of renewed) rows.set(worker.id, { ...(rows.get(worker.id) ?? worker), at, until: at + ms })
      for (const [id, { until }] of rows) if (until < at - keepMs) rows.delete(id)
    },
    list: async (tenant) => {
      const own = state.tenants.get(tenant)?.workers.values() ?? []
      return { now: now(), workers: [...own, ...state.workers.values()].sort((a, b) => compareText(a.id, b.id)) }
    },
  }
}
