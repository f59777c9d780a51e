// Damage to the audit.

import { MAIN } from '../../../src/conformance/material.ts'
import type { Audit } from '../../../src/ports/audit.ts'
import type { Backend } from '../../../src/ports/backend.ts'
import { type Sabotage, spoiled } from './spoil.ts'

const kept = 'refusals are kept as they were noted, newest first, once each'
const bounded = 'the newest refusals of a tenant stay, and the oldest go'
const walled = 'an audit is its own tenant’s'
const open = 'an audit answers in any state of its tenant'

const noting =
  (alter: (audit: Audit, backend: Backend) => Partial<Audit>) =>
  (backend: Backend): Backend => ({ ...backend, audit: { ...backend.audit, ...alter(backend.audit, backend) } })

const isActive = async (backend: Backend, tenant: Parameters<Audit['list']>[0]): Promise<boolean> =>
  (await backend.journal.head(tenant)).state === 'active'

export const auditSabotages: readonly Sabotage[] = [
  spoiled(
    'lists refusals oldest first',
    [kept],
    noting((audit) => ({ list: async (tenant, query) => (await audit.list(tenant, query)).toReversed() })),
  ),
  spoiled(
    'forgets who was refused',
    [kept],
    noting((audit) => ({
      add: (tenant, refusals, keep) =>
        audit.add(
          tenant,
          refusals.map((one) => ({ ...one, actor: '' })),
          keep,
        ),
    })),
  ),
  spoiled(
    'lists the whole audit on every page',
    [kept],
    noting((audit) => ({ list: (tenant, { limit }) => audit.list(tenant, { limit }) })),
  ),
  spoiled(
    'drops no refusal',
    [bounded],
    noting((audit) => ({ add: (tenant, refusals) => audit.add(tenant, refusals, 1000) })),
  ),
  spoiled(
    'keeps the refusals of all tenants together',
    [walled],
    noting((audit) => ({
      add: (_, refusals, keep) => audit.add(MAIN, refusals, keep),
      list: (_, query) => audit.list(MAIN, query),
    })),
  ),
  spoiled(
    'notes nothing for a closed tenant',
    [open],
    noting((audit, backend) => ({
      add: async (tenant, refusals, keep) => void ((await isActive(backend, tenant)) && (await audit.add(tenant, refusals, keep))),
    })),
  ),
]
