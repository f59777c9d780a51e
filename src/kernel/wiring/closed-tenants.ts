// The tenants that this node knows to be closed. The store decides every read and write; this covers what would otherwise come from memory.
// Remembered sessions are dropped, and a reader in the middle of a page asks the store again.

import type { TenantId } from '../../model/ids.ts'
import type { SessionMemory } from '../session/session-memory.ts'

export class ClosedTenants {
  readonly #sessions: SessionMemory
  #count = 0

  constructor(sessions: SessionMemory) {
    this.#sessions = sessions
  }

  /** Grows with every closing of any tenant. */
  get count(): number {
    return this.#count
  }

  heard(tenant: TenantId): void {
    this.#count++
    this.#sessions.forget(tenant)
  }
}
