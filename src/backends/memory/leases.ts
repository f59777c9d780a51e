// Until when leases are held, by the clock of the store.

import type { TenantId } from '../../model/ids.ts'
import type { Leases, LeaseTime } from '../../ports/leases.ts'
import { activeTenant, type MemoryState, type MemoryTenant, tableRows } from './state.ts'

export function leases(state: MemoryState, now: () => number): Leases {
  const times = (tenant: MemoryTenant, ids: readonly string[]): readonly LeaseTime[] =>
    ids.map((id) => {
      const fence = fenceOf(tenant, id)
      const renewal = tenant.renewals.get(id)
      return { id, fence, until: renewal?.fence === fence ? renewal.until : 0 }
    })
  return {
    renew: async (id: TenantId, held, ms) => {
      const tenant = activeTenant(state, id)
      const at = now()
      for (const lease of held) {
        if (lease.fence > 0 && fenceOf(tenant, lease.id) === lease.fence)
          tenant.renewals.set(lease.id, { fence: lease.fence, until: at + ms })
      }
      return {
        now: at,
        leases: times(
          tenant,
          held.map((lease) => lease.id),
        ),
      }
    },
    read: async (id, ids) => ({ now: now(), leases: times(activeTenant(state, id), ids) }),
  }
}

const fenceOf = (tenant: MemoryTenant, id: string): number => tableRows(tenant.rows, 'leases').get(id)?.fence ?? 0
