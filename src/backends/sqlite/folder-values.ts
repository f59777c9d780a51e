// Nodes of values in a folder store: in the file of their tenant.

import type { TenantId } from '../../model/ids.ts'
import type { Values } from '../../ports/values.ts'

type Read = <T>(tenant: TenantId, work: (file: { readonly values: Values }) => Promise<T>) => Promise<T>

/** `read` works in the tenant's file, or in an empty store where there is none. */
export const folderValues = (read: Read): Values => ({
  get: (tenant, refs) => read(tenant, ({ values }) => values.get(tenant, refs)),
  scan: (tenant, upTo, limit) => read(tenant, ({ values }) => values.scan(tenant, upTo, limit)),
  references: (tenant, after, limit) => read(tenant, ({ values }) => values.references(tenant, after, limit)),
  begin: (tenant) => read(tenant, ({ values }) => values.begin(tenant)),
  named: (tenant, number) => read(tenant, ({ values }) => values.named(tenant, number)),
  remove: (tenant, number, ids, seen) => read(tenant, ({ values }) => values.remove(tenant, number, ids, seen)),
  end: (tenant, number) => read(tenant, ({ values }) => values.end(tenant, number)),
})
