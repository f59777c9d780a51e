// A backend that lets everybody write, whoever holds the lease: the control for everything that a fence is for.

import type { Backend } from '../../src/ports/backend.ts'

export const unfenced = (backend: Backend): Backend => ({
  ...backend,
  commit: (batch) => backend.commit(batch.map((commit) => ({ ...commit, guards: commit.guards.filter(({ kind }) => kind !== 'fence') }))),
  leases: {
    ...backend.leases,
    // Says that the lease is still held by whoever asks.
    renew: async (tenant, leases, ms) => {
      const { now } = await backend.leases.renew(tenant, leases, ms)
      return { now, leases: leases.map(({ id, fence }) => ({ id, fence, until: now + ms })) }
    },
  },
})
