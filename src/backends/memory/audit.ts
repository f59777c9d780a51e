// Refusals in a list per tenant, oldest first.

import { compareText } from '../../model/order.ts'
import type { Audit } from '../../ports/audit.ts'
import { emptyTenant, type MemoryState } from './state.ts'

export function audit(state: MemoryState, checkOpen: () => void): Audit {
  return {
    add: async (id, refusals, keep) => {
      checkOpen()
      const tenant = state.tenants.get(id) ?? emptyTenant()
      state.tenants.set(id, tenant)
      for (const refusal of refusals) if (!tenant.audit.some((one) => one.id === refusal.id)) tenant.audit.push({ ...refusal })
      tenant.audit.sort((a, b) => compareText(a.id, b.id))
      tenant.audit.splice(0, tenant.audit.length - keep)
    },
    list: async (id, { limit, before }) => {
      const kept = (state.tenants.get(id) ?? emptyTenant()).audit
      return kept
        .filter((one) => before === undefined || compareText(one.id, before) < 0)
        .toReversed()
        .slice(0, limit)
    },
  }
}
