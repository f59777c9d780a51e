// The state of a tenant, kept at the head of its journal. Only an active tenant can be read or written.

import { refuse } from './errors.ts'
import type { TenantId } from './ids.ts'

export type TenantState = 'active' | 'suspended' | 'deleted'

export const tenantStates: readonly TenantState[] = ['active', 'suspended', 'deleted']

export const isTenantState = (text: unknown): text is TenantState => (tenantStates as readonly unknown[]).includes(text)

export function checkActive(tenant: TenantId, state: TenantState): void {
  if (state !== 'active') throw refuse('TENANT_CLOSED', { tenant, state })
}
