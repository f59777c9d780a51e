// The named queries over a folder of files: those of one tenant are asked of its file, those across tenants of one file after the other.

import { InkError } from '../../model/errors.ts'
import type { TenantId } from '../../model/ids.ts'
import { compareText } from '../../model/order.ts'
import type { DueTenant, Queries } from '../../model/queries.ts'
import type { OpenFiles } from './open-files.ts'

export interface FolderQueries extends Queries {
  /** How many files the last look across all of them found damaged. */
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
        // One damaged file must not keep everybody else's work waiting. Health says that there is one, and the check says which.
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
    due: async (queue, limit) => {
      // What is open stays open while the rest is passed through; otherwise every look would close all that is in use. One that cannot
      // be held is met again below.
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
