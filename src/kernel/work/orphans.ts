// Claims whose holder is provably gone: whoever finds them need not wait until they run out.

import { type Body, decodeBody, type StoredRow } from '../../model/rows.ts'
import type { WorkRow } from '../../model/work.ts'
import { everyRow } from '../every-row.ts'
import type { Scope } from '../scope.ts'

const PAGE = 50

export async function orphans(scope: Scope, queue: string): Promise<readonly StoredRow[]> {
  const { liveness } = scope.engine.environment
  if (!liveness) return []
  const found: StoredRow[] = []
  for await (const row of everyRow(scope, 'work', { index: 'byReady', equals: [queue, 'claimed'], limit: PAGE })) {
    const { mark } = decodeBody<WorkRow & Body>(row.body)
    if (mark && liveness.isGone(mark)) found.push(row)
  }
  return found
}
