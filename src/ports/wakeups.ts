// "Something changed": wake-ups, never data. Whoever is woken reads; whoever is not woken in time is saved by the next signal.

import type { TenantId } from '../model/ids.ts'

export interface WatchOptions {
  /** Nobody waits for it: other nodes' commits may be noticed late, and watching does not keep a program alive. */
  readonly patient?: boolean
  /** It knows of what its own store commits: what goes through this backend need not wake it, and a backend belongs to one store. */
  readonly others?: boolean
}

export interface Wakeups {
  /** Calls back after commits to the tenant, by this node or another; several may come as one. Returns how to stop. */
  watch(tenant: TenantId, wake: () => void, options?: WatchOptions): () => void
}
