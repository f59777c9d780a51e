// What this node last saw of the sessions it writes to, so that an append can be guarded without reading first. Wrong guesses are
// refused by the guard and corrected; right ones cost nothing.

import type { SessionId, TenantId } from '../model/ids.ts'
import { limits } from '../model/limits.ts'
import type { SessionState } from '../model/session.ts'

export interface SeenSession {
  readonly revision: number
  readonly state: SessionState
}

export class SessionMemory {
  readonly #seen = new Map<string, SeenSession>()

  get(tenant: TenantId, session: SessionId): SeenSession | undefined {
    return this.#seen.get(`${tenant}/${session}`)
  }

  set(tenant: TenantId, session: SessionId, seen: SeenSession): void {
    const key = `${tenant}/${session}`
    this.#seen.delete(key)
    this.#seen.set(key, seen)
    if (this.#seen.size > limits.sessionsRemembered) this.#seen.delete(this.#seen.keys().next().value as string)
  }
}
