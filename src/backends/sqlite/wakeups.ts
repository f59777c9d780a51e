// Wake-ups: at once for commits of this process, and by polling `data_version` for those of others (2.5 µs per poll).

import type { TenantId } from '../../model/ids.ts'
import type { Wakeups } from '../../ports/wakeups.ts'
import type { Database } from './database.ts'

// Poll intervals: while a caller tails, and while all watchers are patient.
const EAGER_MS = 5
const PATIENT_MS = 250

export interface FileSignals extends Wakeups {
  wake(tenants: Iterable<TenantId>): void
  close(): void
}

interface Watcher {
  readonly wake: () => void
  readonly patient: boolean
}

export function fileSignals(db: Database): FileSignals {
  const tenants = new Map<TenantId, Set<Watcher>>()
  let version = look(db)
  let timer: NodeJS.Timeout | undefined
  let pace = 0
  let eager = 0
  let closed = false

  const poll = () => {
    const now = look(db)
    if (now !== undefined && now === version) return
    version = now
    // Another process committed, for an unknown tenant: wake every watcher.
    for (const watchers of [...tenants.values()]) for (const { wake } of [...watchers]) wake()
  }
  const setPace = () => {
    const wanted = closed || tenants.size === 0 ? 0 : eager > 0 ? EAGER_MS : PATIENT_MS
    if (wanted === pace) return
    clearInterval(timer)
    timer = wanted > 0 ? setInterval(poll, wanted) : undefined
    if (eager === 0) timer?.unref()
    pace = wanted
  }

  return {
    watch: (tenant, wake, options) => {
      const watcher = { wake, patient: options?.patient ?? false }
      const watchers = tenants.get(tenant) ?? new Set()
      tenants.set(tenant, watchers.add(watcher))
      if (!watcher.patient) eager++
      setPace()
      return () => {
        if (!watchers.delete(watcher)) return
        if (!watcher.patient) eager--
        if (watchers.size === 0) tenants.delete(tenant)
        setPace()
      }
    },
    wake: (touched) => {
      for (const tenant of new Set(touched)) for (const { wake } of [...(tenants.get(tenant) ?? [])]) wake()
    },
    close: () => {
      closed = true
      setPace()
    },
  }
}

/** Returns `undefined` if the file cannot be read now. The woken watcher meets the same error and gets it translated. */
function look(db: Database): number | undefined {
  try {
    return db.get('pragma data_version')?.data_version as number
  } catch {
    return undefined
  }
}
