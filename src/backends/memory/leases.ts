// End times of leases, by the store's clock.

import type { TenantId } from '../../model/ids.ts'
import type { HeldTable, Leases, LeaseTime } from '../../ports/leases.ts'
import { activeTenant, type MemoryState, type MemoryTenant, tableRows } from './state.ts'

export function leases(state: MemoryState, now: () => number): Leases {
  const times = (tenant: MemoryTenant, ids: readonly string[], of: HeldTable): readonly LeaseTime[] =>
    ids.map((id) => {
      const fence = fenceOf(tenant, of, id)
      const renewal = tenant.renewals.get(id)
      return { id, fence, until: renewal?.fence === fence ? renewal.until : 0 }
    })
  return {
    renew: async (id: TenantId, held, ms, of = 'leases') => {
      const tenant = activeTenant(state, id)
      const at = now()
      for (const lease of held) {
        const newest = Math.max(fenceOf(tenant, of, lease.id), tenant.renewals.get(lease.id)?.fence ?? 0)
        if (lease.fence > 0 && newest === lease.fence) tenant.renewals.set(lease.id, { fence: lease.fence, until: at + ms })
      }
      return {
        now: at,
        leases: times(
          tenant,
          held.map((lease) => lease.id),
          of,
        ),
      }
    },
    read: async (id, ids, of = 'leases') => ({ now: now(), leases: times(activeTenant(state, id), ids, of) }),
  }
}

const fenceOf = (tenant: MemoryTenant, of: HeldTable, id: string): number => tableRows(tenant.rows, of).get(id)?.fence ?? 0
