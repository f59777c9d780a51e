// The sessions that this node writes to, as it last saw them, so that an append can be guarded without a read. A stale entry is refused by the
// guard and corrected.

import type { SessionId, TenantId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import type { SessionState } from '../../model/session.ts'

export interface SeenSession {
  readonly revision: number
  readonly state: SessionState
}

interface Remembered extends SeenSession {
  readonly tenant: TenantId
}

export class SessionMemory {
  // The map is keyed by id alone, which an append has at hand. An id that two tenants share belongs to the one that used it last.
  readonly #seen = new Map<SessionId, Remembered>()

  get(tenant: TenantId, session: SessionId): SeenSession | undefined {
    const seen = this.#seen.get(session)
    return seen?.tenant === tenant ? seen : undefined
  }

  set(tenant: TenantId, session: SessionId, { revision, state }: SeenSession): void {
    this.#seen.delete(session)
    this.#seen.set(session, { tenant, revision, state })
    if (this.#seen.size > limits.sessionsRemembered) this.#seen.delete(this.#seen.keys().next().value as SessionId)
  }

  forget(tenant: TenantId): void {
    for (const [session, seen] of this.#seen) if (seen.tenant === tenant) this.#seen.delete(session)
  }
}
