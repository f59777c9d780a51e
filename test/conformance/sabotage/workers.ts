// Damage to what working processes handle, and to telling which queues wait.

import { MAIN } from '../../../src/conformance/material.ts'
import type { TenantId } from '../../../src/model/ids.ts'
import type { Queries } from '../../../src/model/queries.ts'
import type { Backend } from '../../../src/ports/backend.ts'
import type { Workers } from '../../../src/ports/workers.ts'
import { type Sabotage, spoiled } from './spoil.ts'

const live = 'a worker is live from its renewal on for as long as it asked'
const every = 'a worker that serves every tenant is seen from each'
const walled = 'a worker of one tenant is seen from that tenant only'
const dropped = 'a worker that ended is dropped when it was long ago'
const open = 'workers answer in any state of their tenant'
const overdue = 'a queue is overdue while an item in it was due some time ago'

const working =
  (alter: (workers: Workers, backend: Backend) => Partial<Workers>) =>
  (backend: Backend): Backend => ({ ...backend, workers: { ...backend.workers, ...alter(backend.workers, backend) } })

const waiting =
  (spoil: (of: Queries) => Queries['overdue']) =>
  (backend: Backend): Backend => ({ ...backend, queries: { ...backend.queries, overdue: spoil(backend.queries) } })

const isActive = async (backend: Backend, tenant: TenantId): Promise<boolean> => (await backend.journal.head(tenant)).state === 'active'

export const workerSabotages: readonly Sabotage[] = [
  spoiled(
    'forgets what a worker handles',
    [live],
    working((workers) => ({
      renew: (tenant, renewed, ms, keepMs) =>
        workers.renew(
          tenant,
          renewed.map((one) => ({ ...one, queues: [] })),
          ms,
          keepMs,
        ),
    })),
  ),
  spoiled(
    'lets no worker end',
    [live],
    working((workers) => ({ renew: (tenant, renewed, ms, keepMs) => workers.renew(tenant, renewed, Math.max(ms, 20_000), keepMs) })),
  ),
  spoiled(
    'shows workers of every tenant to none',
    [every],
    working((workers) => ({
      renew: async (tenant, renewed, ms, keepMs) => void (tenant !== undefined && (await workers.renew(tenant, renewed, ms, keepMs))),
    })),
  ),
  spoiled(
    'keeps the workers of all tenants together',
    [walled],
    working((workers) => ({
      renew: (tenant, renewed, ms, keepMs) => workers.renew(tenant && MAIN, renewed, ms, keepMs),
      list: () => workers.list(MAIN),
    })),
  ),
  spoiled(
    'takes the workers of one tenant for those of every tenant',
    [walled],
    working((workers) => ({ renew: (_, renewed, ms, keepMs) => workers.renew(undefined, renewed, ms, keepMs) })),
  ),
  spoiled(
    'drops no worker',
    [dropped],
    working((workers) => ({ renew: (tenant, renewed, ms) => workers.renew(tenant, renewed, ms, 3_600_000) })),
  ),
  spoiled(
    'renews no worker of a closed tenant',
    [open],
    working((workers, backend) => ({
      renew: async (tenant, renewed, ms, keepMs) =>
        void ((tenant === undefined || (await isActive(backend, tenant))) && (await workers.renew(tenant, renewed, ms, keepMs))),
    })),
  ),
  spoiled(
    'lists no worker of a tenant without events',
    [open],
    working((workers, backend) => ({
      list: async (tenant) => {
        const { now, workers: found } = await workers.list(tenant)
        return { now, workers: (await backend.journal.head(tenant)).seq === 0 ? [] : found }
      },
    })),
  ),
  spoiled(
    'tells queues whose items are due only now',
    [overdue],
    waiting((queries) => (tenant, _, limit) => queries.overdue(tenant, 0, limit)),
  ),
  spoiled(
    'tells more queues than were asked for',
    [overdue],
    waiting((queries) => (tenant, ms) => queries.overdue(tenant, ms, 1000)),
  ),
]
