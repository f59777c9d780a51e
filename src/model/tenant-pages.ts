// All tenants of a store, page by page in the order of their ids. Tenants that come in between are met if they lie ahead.

import type { TenantId } from './ids.ts'
import { limits } from './limits.ts'

type ReadTenants = (page: { readonly after: string; readonly limit: number }) => Promise<readonly TenantId[]>

export async function* tenantPages(
  read: ReadTenants,
  { after = '', limit = limits.listRows }: { readonly after?: string; readonly limit?: number } = {},
): AsyncGenerator<readonly TenantId[], void, undefined> {
  for (let last: string | undefined = after; last !== undefined; ) {
    const page: readonly TenantId[] = await read({ after: last, limit })
    if (page.length > 0) yield page
    last = page.length < limit ? undefined : page.at(-1)
  }
}

export async function* everyTenant(read: ReadTenants, after = ''): AsyncGenerator<TenantId, void, undefined> {
  for await (const page of tenantPages(read, { after })) yield* page
}
