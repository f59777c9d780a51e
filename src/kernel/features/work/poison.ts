// An item that kills every worker which claims it becomes a dead letter once its attempts are used up.

import type { Id } from '../../../model/ids.ts'
import { decodeBody, type TableRow } from '../../../model/rows.ts'
import type { WorkRow } from '../../../model/work.ts'
import type { Scope } from '../../wiring/scope.ts'
import { part } from '../../writing/part.ts'
import { following } from './item-origin.ts'
import { logDeadItem } from './log-dead-item.ts'
import { isSpent, work } from './work-decider.ts'

/** The last holder died with the item, and no attempts are left. */
export const isPoisoned = (row: WorkRow): boolean => row.state === 'claimed' && isSpent(row)

export async function bury(scope: Scope, { id, revision, body }: TableRow<'work'>): Promise<void> {
  const row = decodeBody(body, { id })
  const error = { name: 'Poisoned', message: `no worker that claimed it reported an outcome (attempts: ${row.attempt})` }
  const buried = part(work, id as Id, { verb: 'bury', error }, { seen: { body: row, revision } })
  const guards = [{ kind: 'row', table: 'work', id, revision }] as const
  // An item that has moved since it was read is not buried.
  await following(scope, { item: id as Id<'work'>, row, move: 'died', error }, { parts: [buried], guards }, { once: true })
  logDeadItem(scope, id, row, error)
}
