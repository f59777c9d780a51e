// Wake-ups: at once for commits of this process, by polling `data_version` for those of others (2.5 µs a poll).

import type { TenantId } from '../../model/ids.ts'
import type { Signals } from '../../ports/signals.ts'
import type { Database } from './database.ts'

// While someone tails, and while nobody waits.
const EAGER_MS = 5
const PATIENT_MS = 250

export interface FileSignals extends Signals {
  wake(tenants: Iterable<TenantId>): void
  close(): void
}

interface Watcher {
  readonly tenant: TenantId
  readonly wake: () => void
  readonly patient: boolean
}

export function fileSignals(db: Database): FileSignals {
  const watchers = new Set<Watcher>()
  let version = dataVersion(db)
  let timer: NodeJS.Timeout | undefined
  let pace = 0

  const poll = () => {
    const now = dataVersion(db)
    if (now === version) return
    version = now
    // Another process committed; which tenant it was for is known only by looking.
    for (const { wake } of [...watchers]) wake()
  }
  const setPace = () => {
    const eager = [...watchers].some((w) => !w.patient)
    const wanted = watchers.size === 0 ? 0 : eager ? EAGER_MS : PATIENT_MS
    if (wanted === pace) return
    clearInterval(timer)
    timer = wanted > 0 ? setInterval(poll, wanted) : undefined
    if (!eager) timer?.unref()
    pace = wanted
  }

  return {
    watch: (tenant, wake, options) => {
      const watcher = { tenant, wake, patient: options?.patient ?? false }
      watchers.add(watcher)
      setPace()
      return () => {
        watchers.delete(watcher)
        setPace()
      }
    },
    wake: (tenants) => {
      const touched = new Set(tenants)
      for (const { tenant, wake } of [...watchers]) if (touched.has(tenant)) wake()
    },
    close: () => {
      watchers.clear()
      setPace()
    },
  }
}

const dataVersion = (db: Database): number => db.get('pragma data_version')?.data_version as number
