// The named queries over a folder of files: a query of one tenant reads its file, a query across tenants reads one file after the other.

import { InkError } from '../../model/errors.ts'
import type { TenantId } from '../../model/ids.ts'
import { compareText } from '../../model/order.ts'
import type { DueTenant, Queries } from '../../model/queries.ts'
import type { OpenFiles } from './open-files.ts'

export interface FolderQueries extends Queries {
  /** Number of damaged files that the last query across tenants found. */
  readonly damaged: number
}

interface Folder {
  readonly files: Pick<OpenFiles, 'tenants' | 'hold'>
  tenants(): Promise<readonly TenantId[]>
  read<T>(tenant: TenantId, work: (reads: { readonly queries: Queries }) => Promise<T>): Promise<T>
}

export function folderQueries({ files, tenants, read }: Folder): FolderQueries {
  let damaged = 0

  const lookIntoEach = async (queue: string): Promise<DueTenant[]> => {
    const found: DueTenant[] = []
    let unread = 0
    for (const tenant of await tenants()) {
      try {
        found.push(...(await read(tenant, ({ queries }) => queries.due(queue, 1))))
      } catch (error) {
        // One damaged file must not delay the work of other tenants. Health reports that there is one, and the check names it.
        if (!(error instanceof InkError) || error.kind !== 'corrupt') throw error
        unread++
      }
    }
    damaged = unread
    return found
  }

  return {
    get damaged() {
      return damaged
    },
    usageByType: (tenant) => read(tenant as TenantId, ({ queries }) => queries.usageByType(tenant)),
    ready: (tenant, queue, limit) => read(tenant, ({ queries }) => queries.ready(tenant, queue, limit)),
    backlog: (tenant) => read(tenant, ({ queries }) => queries.backlog(tenant)),
    overdue: (tenant, ms, limit) => read(tenant, ({ queries }) => queries.overdue(tenant, ms, limit)),
    due: async (queue, limit) => {
      // Files that are open stay open during the walk; otherwise every query would close all files in use. A file that cannot be held is
      // met again below.
      const held = await Promise.allSettled(files.tenants().map((tenant) => files.hold(tenant)))
      try {
        const found = await lookIntoEach(queue)
        return found.sort((a, b) => a.at - b.at || compareText(a.tenant, b.tenant)).slice(0, limit)
      } finally {
        for (const file of held) if (file.status === 'fulfilled') file.value?.release()
      }
    },
  }
}
