// "Something changed": wake-ups, never data. A woken watcher reads the store. A lost wake-up only delays it until the next one.

import type { TenantId } from '../model/ids.ts'

export interface WatchOptions {
  /** The watcher can wait: commits of other nodes may be noticed late, and watching does not keep the program alive. */
  readonly patient?: boolean
  /**
   * The watcher already learns of its own store's commits, so commits through this backend need not wake it. A backend belongs to one
   * store.
   */
  readonly others?: boolean
}

export interface Wakeups {
  /**
   * Calls back after commits to the tenant, by this node or another; several commits may share one call. Returns a function that stops it.
   */
  watch(tenant: TenantId, wake: () => void, options?: WatchOptions): () => void
}
