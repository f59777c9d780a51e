// Wake-ups within one process.

import type { TenantId } from '../../model/ids.ts'
import type { Wakeups } from '../../ports/wakeups.ts'

export interface LocalSignals extends Wakeups {
  wake(tenant: TenantId): void
}

export function localSignals(): LocalSignals {
  const watchers = new Map<TenantId, Set<() => void>>()
  return {
    watch: (tenant, wake) => {
      const set = watchers.get(tenant) ?? new Set()
      watchers.set(tenant, set.add(wake))
      return () => {
        set.delete(wake)
        if (set.size === 0 && watchers.get(tenant) === set) watchers.delete(tenant)
      }
    },
    wake: (tenant) => {
      for (const wake of watchers.get(tenant) ?? []) wake()
    },
  }
}
