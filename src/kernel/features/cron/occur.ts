// The parts of a commit by which occurrences begin, wait, or are left out.

import type { JobRow, OccurrenceAt, OccurrenceRow } from '../../../model/job.ts'
import type { WorkRow } from '../../../model/work.ts'
import type { Scope } from '../../wiring/scope.ts'
import { NOT_THERE, type Part, part } from '../../writing/execute.ts'
import { offerPart } from '../work/offer.ts'
import { work } from '../work/work-decider.ts'
import { occurrenceId, occurrenceItem } from './ids.ts'
import { occurrence } from './occurrence-decider.ts'

export const at = (scope: Scope, { id }: JobRow, due: number): OccurrenceAt => ({ id: occurrenceId(scope, id, due), due })

export const openPart = (
  job: JobRow,
  { id, due }: OccurrenceAt,
  how: Pick<OccurrenceRow, 'cause' | 'state'> & Partial<Pick<OccurrenceRow, 'last' | 'count' | 'error'>>,
): Part<OccurrenceRow> => part(occurrence, id, { verb: 'open', id, job: job.id, due, ...how }, { seen: NOT_THERE })

/** Offers the occurrence to the workers of the job's queue. */
export function itemPart(scope: Scope, job: JobRow, { id, due }: OccurrenceAt, now: number): Part<WorkRow> {
  const { queue, payload, offer } = job
  const origin = { kind: 'occurrence', id, of: job.id, at: due } as const
  return offerPart(occurrenceItem(scope, id), { ...offer, queue, at: now, ...(payload && { payload }), origin })
}

export const startParts = (
  scope: Scope,
  job: JobRow,
  one: OccurrenceAt,
  now: number,
  cause: OccurrenceRow['cause'] = 'schedule',
): readonly [Part<OccurrenceRow>, Part<WorkRow>] => [openPart(job, one, { cause, state: 'waiting' }), itemPart(scope, job, one, now)]

export const leaveOutPart = (job: JobRow, one: OccurrenceAt, message: string): Part<OccurrenceRow> =>
  openPart(job, one, { cause: 'schedule', state: 'skipped', error: { name: 'Overlap', message } })

/** Cancels a running occurrence. The worker that holds its item loses the claim. */
export const replaceParts = (scope: Scope, { id }: OccurrenceAt): readonly Part[] => {
  const error = { name: 'Replaced', message: 'the next occurrence took its place' }
  return [
    part(occurrence, id, { verb: 'finish', state: 'cancelled', error }),
    part(work, occurrenceItem(scope, id), { verb: 'cancel', reason: 'replaced by the next occurrence' }),
  ]
}
