// The audit of a folder store: each tenant's refusals are in its own file. Refusing creates no file, so a tenant without one keeps none.

import type { TenantId } from '../../model/ids.ts'
import type { Audit } from '../../ports/audit.ts'
import type { OpenFiles } from './open-files.ts'

export function folderAudit(files: Pick<OpenFiles, 'hold'>): Audit {
  const within = async <T>(tenant: TenantId, without: T, work: (audit: Audit) => Promise<T>): Promise<T> => {
    const file = await files.hold(tenant)
    if (!file) return without
    try {
      return await work(file.backend.audit)
    } finally {
      file.release()
    }
  }
  return {
    add: (tenant, refusals, keep) => within(tenant, undefined, (audit) => audit.add(tenant, refusals, keep)),
    list: (tenant, query) => within(tenant, [], (audit) => audit.list(tenant, query)),
  }
}
