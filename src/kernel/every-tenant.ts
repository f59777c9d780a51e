// Reads the ids of tenants page by page, in their order. Tenants that come in between are met if they lie ahead.

import type { TenantId } from '../model/ids.ts'
import { limits } from '../model/limits.ts'
import { checkKnown, invalidOption, optionsOf } from '../model/options.ts'
import type { JournalReads } from '../ports/journal.ts'

export interface TenantsOptions {
  /** Only tenants behind this id: pass the last one of a page to get the next. */
  readonly after?: string
  readonly limit?: number
}

type Tenants = Pick<JournalReads, 'tenants'>

export async function* everyTenant(journal: Tenants, after = ''): AsyncGenerator<TenantId, void, undefined> {
  for (let last: string | undefined = after; last !== undefined; ) {
    const page: readonly TenantId[] = await journal.tenants({ after: last, limit: limits.listRows })
    yield* page
    last = page.length < limits.listRows ? undefined : page.at(-1)
  }
}

export async function listTenants(journal: Tenants, options?: TenantsOptions): Promise<readonly TenantId[]> {
  const { after = '', limit, ...unknown } = optionsOf(options, 'tenants')
  checkKnown(unknown, 'tenants')
  if (typeof after !== 'string') throw invalidOption('after', 'the id of a tenant', after)
  if (limit === undefined) {
    const all: TenantId[] = []
    for await (const tenant of everyTenant(journal, after)) all.push(tenant)
    return all
  }
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > limits.listRows)
    throw invalidOption('limit', `an integer from 1 to ${limits.listRows}`, limit)
  return journal.tenants({ after, limit })
}
