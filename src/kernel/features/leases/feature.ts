// Leases: exclusive rights for a time, renewed while their holder lives, with a fence that grows with each holder.

import type { Feature } from '../../feature.ts'
import { plan } from '../../writing/execute.ts'
import { keeperOf } from './keeper.ts'
import { lease } from './lease-decider.ts'
import { releaseSessionLeases, type SessionLease, type SessionLeaseOptions, takeSessionLease } from './session-lease.ts'

export interface LeaseSession {
  /** Takes the lease of the session without a run. SESSION_HELD while it is held, by a run of the session too. */
  lease(options?: SessionLeaseOptions): Promise<SessionLease>
}

export const leases: Feature<object, LeaseSession> = {
  name: 'leases',
  deciders: [lease],
  refs: 'a lease refers to its holder only',
  onForked: 'nobody holds a session that is new',
  onOpen: (engine) => void keeperOf(engine),
  onClose: async (engine) => {
    await releaseSessionLeases(engine)
    await keeperOf(engine).close((tenant, parts) => plan({ engine, tenant, actor: '' }, parts))
  },
  session: ({ scope, id }) => ({ lease: (options) => takeSessionLease(scope, id, options) }),
}
