// What this node has heard of tenants being closed. The store decides every read and every write; this is for what would otherwise come
// out of memory: remembered sessions go, and whoever is in the middle of a page asks the store again.

import type { TenantId } from '../model/ids.ts'
import type { SessionMemory } from './session-memory.ts'

export class ClosedTenants {
  readonly #sessions: SessionMemory
  #count = 0

  constructor(sessions: SessionMemory) {
    this.#sessions = sessions
  }

  /** Grows with every closing, of whichever tenant. */
  get count(): number {
    return this.#count
  }

  heard(tenant: TenantId): void {
    this.#count++
    this.#sessions.forget(tenant)
  }
}
