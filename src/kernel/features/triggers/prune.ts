// Prunes firings that are old and fully delivered. The rows go, the journal stays.

import { decodeBody } from '../../../model/rows.ts'
import type { FiringId } from '../../../model/trigger.ts'
import { everyRow } from '../../reading/every-row.ts'
import { type PruneBefore, takeBefore } from '../../time/prune-options.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { part, plan } from '../../writing/execute.ts'
import { delivery, isOver } from './delivery-decider.ts'
import { deliveriesOf } from './fire.ts'
import { firing } from './firing-decider.ts'

export interface PrunedFirings {
  readonly firings: number
  readonly deliveries: number
}

const PAGE = 100

/** Removes a firing and its deliveries in one commit, once all deliveries are over. */
export async function pruneFirings(scope: Scope, options: PruneBefore): Promise<PrunedFirings> {
  checkOpen(scope.engine)
  const before = takeBefore(options)
  let [firings, deliveries] = [0, 0]
  for await (const { id, body } of everyRow(scope, 'firings', { index: 'byBorn', equals: [], limit: PAGE })) {
    if (decodeBody(body, { id }).firedAt >= before) continue
    const told = await deliveriesOf(scope, id as FiringId)
    if (!told.every((one) => isOver(one) && one.changedAt < before)) continue
    const { receipts } = await plan(scope, [
      part(firing, id as FiringId, { verb: 'forget' }),
      ...told.map((one) => part(delivery, one.id, { verb: 'forget' })),
    ])
    // Another caller may have pruned it first.
    if (receipts.length === 0) continue
    firings++
    deliveries += told.length
  }
  return { firings, deliveries }
}
