// Claims whose holder is provably gone: whoever finds them need not wait until they run out.

import { type Body, decodeBody, type StoredRow } from '../../model/rows.ts'
import type { WorkRow } from '../../model/work.ts'
import type { Scope } from '../scope.ts'

const PAGE = 50

export async function orphans({ engine, tenant }: Scope, queue: string): Promise<readonly StoredRow[]> {
  const { processes } = engine.environment
  if (!processes) return []
  const found: StoredRow[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await engine.backend.rows.list(tenant, 'work', {
      index: 'byReady',
      equals: [queue, 'claimed'],
      limit: PAGE,
      ...(cursor !== undefined && { cursor }),
    })
    for (const row of page.rows) {
      const { mark } = decodeBody<WorkRow & Body>(row.body)
      if (mark && processes.isGone(mark)) found.push(row)
    }
    if (page.cursor === undefined) return found
    cursor = page.cursor
  }
}
