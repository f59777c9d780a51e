// Prunes occurrences that ended long ago. The rows go, the journal stays.

import type { OccurrenceId } from '../../../model/job.ts'
import { decodeBody } from '../../../model/rows.ts'
import { everyPage } from '../../reading/every-row.ts'
import type { Scope } from '../../wiring/scope.ts'
import { part, plan } from '../../writing/execute.ts'
import { occurrenceItem } from './ids.ts'
import { occurrence } from './occurrence-decider.ts'

const PAGE = 100

export async function pruneOccurrences(scope: Scope, before: number): Promise<{ readonly forgotten: number }> {
  let forgotten = 0
  for await (const rows of everyPage(scope, 'occurrences', { index: 'byJob', equals: [], limit: PAGE })) {
    const ended = rows.filter(({ body }) => {
      const { state, finishedAt } = decodeBody(body)
      return state !== 'waiting' && state !== 'running' && finishedAt !== undefined && finishedAt < before
    })
    // An occurrence whose item is dead stays: a caller may redrive the item.
    const items = await Promise.all(
      ended.map(({ id }) => scope.engine.backend.rows.get(scope.tenant, 'work', occurrenceItem(scope, id as OccurrenceId))),
    )
    const old = ended.filter((_, i) => !items[i])
    if (old.length > 0)
      await plan(
        scope,
        old.map(({ id }) => part(occurrence, id as OccurrenceId, { verb: 'forget' })),
      )
    forgotten += old.length
  }
  return { forgotten }
}
