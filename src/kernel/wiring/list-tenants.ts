// Lists the tenants of a store: a page, or all of them.

import type { TenantId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import { checkKnown, invalidOption, optionsOf } from '../../model/options.ts'
import { everyTenant } from '../../model/tenant-pages.ts'
import type { JournalReads } from '../../ports/journal.ts'

export interface TenantsOptions {
  /** Only tenants behind this id: pass the last one of a page to get the next. */
  readonly after?: string
  /** At most so many, up to 1,000. */
  readonly limit?: number
}

export async function listTenants(journal: JournalReads, options?: TenantsOptions): Promise<readonly TenantId[]> {
  const { after = '', limit, ...unknown } = optionsOf(options, 'tenants')
  checkKnown(unknown, 'tenants')
  if (typeof after !== 'string') throw invalidOption('after', 'the id of a tenant', after)
  if (limit !== undefined && (!Number.isSafeInteger(limit) || limit < 1 || limit > limits.listRows))
    throw invalidOption('limit', `an integer from 1 to ${limits.listRows}`, limit)
  if (limit !== undefined) return journal.tenants({ after, limit })
  const all: TenantId[] = []
  for await (const tenant of everyTenant(journal.tenants, after)) all.push(tenant)
  return all
}
