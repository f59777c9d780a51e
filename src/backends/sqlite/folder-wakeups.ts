// Wake-ups in a folder store. A watcher holds the file of its tenant. If there is no file yet, the folder is polled until there is one.

import type { TenantId } from '../../model/ids.ts'
import type { Wakeups, WatchOptions } from '../../ports/wakeups.ts'
import type { OpenFiles } from './open-files.ts'

// Poll intervals: while a caller tails, and while all watchers are patient.
const EAGER_MS = 25
const PATIENT_MS = 250

export interface FolderWakeups extends Wakeups {
  /** Tells that this process has just created the tenant's file, with a commit in it. */
  made(tenant: TenantId): void
  close(): void
}

interface Watcher {
  readonly tenant: TenantId
  readonly wake: () => void
  readonly options: WatchOptions | undefined
  stopped: boolean
  /** Releases the file. */
  leave: (() => void) | undefined
}

export function folderSignals(files: OpenFiles): FolderWakeups {
  /** Watchers of tenants without a file. */
  const waiting = new Map<TenantId, Set<Watcher>>()
  let timer: NodeJS.Timeout | undefined
  let pace = 0
  let eager = 0
  let closed = false

  const setPace = () => {
    const wanted = closed || waiting.size === 0 ? 0 : eager > 0 ? EAGER_MS : PATIENT_MS
    if (wanted === pace) return
    clearInterval(timer)
    timer = wanted > 0 ? setInterval(look, wanted) : undefined
    if (eager === 0) timer?.unref()
    pace = wanted
  }
  const add = (watcher: Watcher): void => {
    waiting.set(watcher.tenant, (waiting.get(watcher.tenant) ?? new Set()).add(watcher))
    if (!watcher.options?.patient) eager++
    setPace()
  }
  const remove = (watcher: Watcher): void => {
    const watchers = waiting.get(watcher.tenant)
    if (!watchers?.delete(watcher)) return
    if (watchers.size === 0) waiting.delete(watcher.tenant)
    if (!watcher.options?.patient) eager--
    setPace()
  }
  const look = () => {
    for (const tenant of [...waiting.keys()]) if (mayBeThere(files, tenant)) appeared(tenant)
  }
  const appeared = (tenant: TenantId) => {
    for (const watcher of [...(waiting.get(tenant) ?? [])]) {
      remove(watcher)
      void attach(watcher, true)
    }
  }
  const wait = (watcher: Watcher) => {
    if (!watcher.stopped && !closed) add(watcher)
  }

  /** From now on the file itself wakes. An earlier commit wakes only if there was no file to read it from. */
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
      // The woken watcher reads, meets the same error, and gets it translated.
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
        remove(watcher)
        watcher.leave?.()
      }
    },
    made: appeared,
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
    // The folder cannot be read; opening the file reports why.
    return true
  }
}
