// Moves an occurrence together with its work item, and tells the job when it ends, in the same commit.

import type { JobId, JobRow, OccurrenceId } from '../../../model/job.ts'
import { storeNow } from '../../time/store-time.ts'
import type { Scope } from '../../wiring/scope.ts'
import { type Part, part, readRow } from '../../writing/execute.ts'
import type { FollowItem, Moved } from '../work/item-origin.ts'
import { work } from '../work/work-decider.ts'
import { dueOf } from './fire.ts'
import { clockItem } from './ids.ts'
import { job as decider, pausesOn } from './job-decider.ts'
import { itemPart } from './occur.ts'
import { occurrence } from './occurrence-decider.ts'
import { isFromFinish } from './schedule.ts'

export const followOccurrence: FollowItem = async (scope, moved) => {
  const { row, move, error } = moved
  const id = row.origin?.id as OccurrenceId
  switch (move) {
    case 'claimed':
      return [part(occurrence, id, { verb: 'start', attempt: row.attempt + 1 })]
    case 'failed':
    case 'released':
    case 'redriven':
      return [part(occurrence, id, { verb: 'await', ...(error && { error }) })]
    default: {
      const state = ENDS[move]
      const finish = part(occurrence, id, { verb: 'finish', state, ...(error && { error }) })
      return [finish, ...(await settleParts(scope, id, row.origin?.of as JobId, moved))]
    }
  }
}

const ENDS = { completed: 'done', died: 'failed', cancelled: 'cancelled' } as const

async function settleParts(scope: Scope, id: OccurrenceId, jobId: JobId, { move }: Moved): Promise<readonly Part[]> {
  const seen = await readRow(scope, 'jobs', jobId)
  const job = seen.body
  if (!job) return []
  const failed = move === 'died'
  const runs = job.running?.id === id
  if (!runs && !(await isCounted(scope, id, job, failed))) return []
  const pauses = pausesOn(job, failed)
  const finish = runs && isFromFinish(job.schedule) && job.state === 'active' && !pauses
  // The store's clock decides: by another clock, the next time could be wrong.
  const now = finish || job.waiting ? await storeNow(scope) : 0
  const { through, next, at } = finish ? dueOf(scope, { ...job, through: Math.max(job.through, now) }, now) : job
  const times = { through, ...(next !== undefined && { next }), ...(at !== undefined && { at }) }
  const settle = part(
    decider,
    jobId,
    { verb: 'settle', occurrence: id, failed, waiting: job.waiting?.id, ...(finish && { times }) },
    { seen },
  )
  const parts: Part[] = [settle]
  if (finish) parts.push(part(work, clockItem(scope, jobId), { verb: 'move', at }))
  if (pauses) parts.push(part(work, clockItem(scope, jobId), { verb: 'move', at: undefined }))
  if (runs && job.waiting) {
    const error = { name: 'Paused', message: 'the job was paused before it began' }
    parts.push(
      pauses || job.state === 'paused'
        ? part(occurrence, job.waiting.id, { verb: 'finish', state: 'skipped', error })
        : itemPart(scope, job, job.waiting, now),
    )
  }
  return parts
}

/** A job whose occurrences may overlap waits for none of them, but it still counts failures in a row. */
async function isCounted(scope: Scope, id: OccurrenceId, job: JobRow, failed: boolean): Promise<boolean> {
  if (job.policy.overlap !== 'allow' || job.pauseAfter === undefined || !(failed || job.failures > 0)) return false
  const { body } = await readRow(scope, 'occurrences', id)
  return body?.cause === 'schedule'
}
