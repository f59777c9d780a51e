// Occurrences that a caller asks for: one more now, or all of a period (backfill).

import { refuse } from '../../../model/errors.ts'
import type { JobRow, OccurrenceAt, OccurrenceRow } from '../../../model/job.ts'
import { limits } from '../../../model/limits.ts'
import { checkKnown, optionsOf } from '../../../model/options.ts'
import { storeNow } from '../../time/store-time.ts'
import type { Scope } from '../../wiring/scope.ts'
import { plan } from '../../writing/execute.ts'
import { retryConflicts } from '../../writing/retry-conflicts.ts'
import { localNodesOf } from '../work/local-nodes.ts'
import { theJob } from './find-job.ts'
import { occurrenceId } from './ids.ts'
import { takeInstant } from './instant.ts'
import { at as occurrenceAt, startParts } from './occur.ts'
import { isFromFinish, timesBetween } from './schedule.ts'

// The number of occurrences in one commit.
const AT_ONCE = 100

export async function runNow(scope: Scope, name: string): Promise<OccurrenceRow> {
  const job = await theJob(scope, name)
  const now = await storeNow(scope)
  const one: OccurrenceAt = { id: occurrenceId(scope, job.id, scope.engine.newId()), due: now }
  const { rows } = await plan(scope, startParts(scope, job, one, now, 'hand'))
  localNodesOf(scope.engine).wake()
  return rows[0].body as OccurrenceRow
}

export async function backfill(
  scope: Scope,
  name: string,
  period: { readonly from: Date | number | string; readonly to: Date | number | string },
): Promise<{ readonly offered: number; readonly known: number }> {
  const { from, to, ...unknown } = optionsOf(period, 'backfill')
  checkKnown(unknown, 'a period')
  const [first, last] = [takeInstant(from, 'from'), takeInstant(to, 'to')]
  if (last < first) throw refuse('RANGE_INVALID', { why: '`to` must not be before `from`' })
  const job = await theJob(scope, name)
  if (isFromFinish(job.schedule))
    throw refuse('RANGE_INVALID', { why: "a job with from: 'finish' has no occurrences in the past to backfill" })
  // The scheduler starts the times that are still to come.
  const times = timesBetween(job.schedule, first - 1, Math.min(last, await storeNow(scope)), limits.backfillOccurrences + 1)
  if (times.length > limits.backfillOccurrences) throw refuse('BACKFILL_TOO_LARGE', { name, limit: limits.backfillOccurrences })
  let known = 0
  for (let i = 0; i < times.length; i += AT_ONCE) known += await offerTimes(scope, job, times.slice(i, i + AT_ONCE))
  localNodesOf(scope.engine).wake()
  return { offered: times.length - known, known }
}

/** Returns how many of these times had come up before. */
const offerTimes = (scope: Scope, job: JobRow, times: readonly number[]): Promise<number> =>
  retryConflicts(scope, ['occurrences'], async () => {
    const found = await Promise.all(
      times.map((due) => scope.engine.backend.rows.get(scope.tenant, 'occurrences', occurrenceId(scope, job.id, due))),
    )
    const fresh = times.filter((_, i) => !found[i])
    if (fresh.length === 0) return times.length
    const now = await storeNow(scope)
    await plan(
      scope,
      fresh.flatMap((due) => startParts(scope, job, occurrenceAt(scope, job, due), now, 'backfill')),
    )
    return times.length - fresh.length
  })
