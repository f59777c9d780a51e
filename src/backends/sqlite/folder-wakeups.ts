// Wake-ups in a folder that keeps a file for each tenant. Whoever watches a tenant holds its file; where there is none yet, the folder is
// looked at now and then until there is.

import type { TenantId } from '../../model/ids.ts'
import type { Wakeups, WatchOptions } from '../../ports/wakeups.ts'
import type { OpenFiles } from './open-files.ts'

// While someone tails, and while nobody waits.
const EAGER_MS = 25
const PATIENT_MS = 250

export interface FolderWakeups extends Wakeups {
  /** This process has just made the tenant's file, with a commit in it. */
  made(tenant: TenantId): void
  close(): void
}

interface Watcher {
  readonly tenant: TenantId
  readonly wake: () => void
  readonly options: WatchOptions | undefined
  stopped: boolean
  /** Lets go of the file. */
  leave: (() => void) | undefined
}

export function folderSignals(files: OpenFiles): FolderWakeups {
  const waiting = new Set<Watcher>()
  let timer: NodeJS.Timeout | undefined
  let pace = 0
  let closed = false

  const setPace = () => {
    const eager = [...waiting].some((watcher) => !watcher.options?.patient)
    const wanted = closed || waiting.size === 0 ? 0 : eager ? EAGER_MS : PATIENT_MS
    if (wanted === pace) return
    clearInterval(timer)
    timer = wanted > 0 ? setInterval(look, wanted) : undefined
    if (!eager) timer?.unref()
    pace = wanted
  }
  const look = () => {
    for (const watcher of [...waiting]) if (mayBeThere(files, watcher.tenant)) appeared(watcher)
  }
  const appeared = (watcher: Watcher) => {
    waiting.delete(watcher)
    setPace()
    void attach(watcher, true)
  }
  const wait = (watcher: Watcher) => {
    if (!watcher.stopped && !closed) waiting.add(watcher)
    setPace()
  }

  /** From here on the file itself wakes; what happened before is told only where there was no file to be read. */
  const attach = async (watcher: Watcher, late: boolean): Promise<void> => {
    try {
      const file = await files.hold(watcher.tenant)
      if (!file) return wait(watcher)
      if (watcher.stopped) return file.release()
      const stop = file.backend.wakeups.watch(watcher.tenant, watcher.wake, watcher.options)
      watcher.leave = () => {
        stop()
        file.release()
      }
      if (late) watcher.wake()
    } catch {
      // Whoever is woken reads, meets the same, and is told in our words.
      if (!late && !watcher.stopped && !closed) watcher.wake()
      wait(watcher)
    }
  }

  return {
    watch: (tenant, wake, options) => {
      const watcher: Watcher = { tenant, wake, options, stopped: false, leave: undefined }
      void attach(watcher, false)
      return () => {
        if (watcher.stopped) return
        watcher.stopped = true
        waiting.delete(watcher)
        watcher.leave?.()
        setPace()
      }
    },
    made: (tenant) => {
      for (const watcher of [...waiting]) if (watcher.tenant === tenant) appeared(watcher)
    },
    close: () => {
      closed = true
      waiting.clear()
      setPace()
    },
  }
}

function mayBeThere(files: OpenFiles, tenant: TenantId): boolean {
  try {
    return files.isThere(tenant)
  } catch {
    // The folder cannot be looked at; opening the file says why.
    return true
  }
}
