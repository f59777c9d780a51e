// Claims whose holder is provably gone: whoever finds them need not wait until they run out.

import { decodeBody, type TableRow } from '../../model/rows.ts'
import { everyRow } from '../every-row.ts'
import type { Scope } from '../scope.ts'

const PAGE = 50

export async function orphans(scope: Scope, queue: string): Promise<readonly TableRow<'work'>[]> {
  const { liveness } = scope.engine.environment
  if (!liveness) return []
  const found: TableRow<'work'>[] = []
  for await (const row of everyRow(scope, 'work', { index: 'byReady', equals: [queue, 'claimed'], limit: PAGE })) {
    const { mark } = decodeBody(row.body)
    if (mark && liveness.isGone(mark)) found.push(row)
  }
  return found
}
