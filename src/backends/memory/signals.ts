// Wake-ups within one process.

import type { TenantId } from '../../model/ids.ts'
import type { Signals } from '../../ports/signals.ts'

export interface LocalSignals extends Signals {
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
