// Fires a job that is due: the occurrences that start, those that are left out, and the next time are one commit. The commit is guarded
// by the job and its clock item as they were read. So an occurrence begins at most once and none is lost, with any number of nodes.

import { InkError } from '../../../model/errors.ts'
import type { JobId, JobRow, OccurrenceAt } from '../../../model/job.ts'
import type { Guard } from '../../../ports/commit.ts'
import type { Scope } from '../../wiring/scope.ts'
import { isConflict } from '../../writing/commit-outcome.ts'
import { type Part, part, plan, readRow } from '../../writing/execute.ts'
import { localNodesOf } from '../work/local-nodes.ts'
import type { ClockHandler, ClockItem } from '../work/scheduler.ts'
import { schedulerOf } from '../work/scheduler.ts'
import { work } from '../work/work-decider.ts'
import { type Due, dueTimes } from './due.ts'
import { missedId } from './ids.ts'
import { chanceOf } from './jitter.ts'
import { job as decider } from './job-decider.ts'
import { at, leaveOutPart, openPart, replaceParts, startParts } from './occur.ts'
import { isFromFinish } from './schedule.ts'

export const dueOf = (
  scope: Scope,
  { id, schedule, policy, through }: Pick<JobRow, 'id' | 'schedule' | 'policy' | 'through'>,
  now: number,
): Due => dueTimes(schedule, policy, through, now, chanceOf(scope.engine.environment.digest, id))

/** Fires a job for the scheduler. */
export const fireJob: ClockHandler = async (scope, item) => {
  try {
    await fire(scope, item, false).catch((error: unknown) => {
      // A backfill has started one of these times before.
      if (isConflict(error, 'occurrences')) return fire(scope, item, true)
      throw error
    })
  } catch (error) {
    // Another node was first, or the running occurrence ended: the scheduler looks again at once. A conflict over an occurrence would come
    // again, so it is thrown.
    if (!(error instanceof InkError && error.code === 'CONFLICT') || isConflict(error, 'occurrences')) throw error
    schedulerOf(scope.engine).look()
  }
}

/** `wary` skips the times that came up before. */
async function fire(scope: Scope, { id: item, row, revision, now }: ClockItem, wary: boolean): Promise<void> {
  const jobId = row.origin?.id as JobId
  const seen = await readRow(scope, 'jobs', jobId)
  const job = seen.body
  const guards: readonly Guard[] = [
    { kind: 'row', table: 'work', id: item, revision },
    { kind: 'row', table: 'jobs', id: jobId, revision: seen.revision },
  ]
  // The guards refuse the commit unless both rows are as they were read.
  const clock = (at: number | undefined): Part => part(work, item, { verb: 'move', at }, { seen: { body: row, revision } })
  if (job?.state !== 'active') {
    await plan(scope, [clock(undefined)], { guards })
    return
  }
  const due = dueOf(scope, job, now)
  const { through, next, at } = due
  if (through === job.through) {
    await plan(scope, [clock(at)], { guards })
    return
  }
  const start = wary ? await unknown(scope, job, due.start) : due.start
  const known =
    due.missed && wary && (await scope.engine.backend.rows.get(scope.tenant, 'occurrences', missedId(scope, job.id, due.missed.first)))
  const { missed: _, ...rest } = due
  const { parts, running, waiting } = happening(scope, job, known ? { ...rest, start } : { ...due, start }, now)
  const over = next === undefined && !isFromFinish(job.schedule)
  const times = { through, ...(next !== undefined && { next }), ...(at !== undefined && { at }) }
  const moved = part(decider, jobId, { verb: 'fire', seen: job.through, times, running, waiting, over }, { seen })
  await plan(scope, [moved, clock(at), ...parts], { guards })
  localNodesOf(scope.engine).wake()
}

/** The times that have not come up before. */
async function unknown(scope: Scope, job: JobRow, times: readonly number[]): Promise<readonly number[]> {
  const found = await Promise.all(times.map((due) => scope.engine.backend.rows.get(scope.tenant, 'occurrences', at(scope, job, due).id)))
  return times.filter((_, i) => !found[i])
}

interface Happening {
  readonly parts: readonly Part[]
  readonly running: OccurrenceAt | undefined
  readonly waiting: OccurrenceAt | undefined
}

function happening(scope: Scope, job: JobRow, { start, missed }: Due, now: number): Happening {
  const parts: Part[] = []
  let { running, waiting } = job
  if (missed) {
    const { first, last, count } = missed
    const error = { name: 'Missed', message: `no node was running when it was due (missed: ${missed.more ? 'more than ' : ''}${count})` }
    const told = { id: missedId(scope, job.id, first), due: first }
    parts.push(openPart(job, told, { cause: 'schedule', state: 'missed', last, count, error }))
  }
  for (const due of start) {
    const one = at(scope, job, due)
    const { overlap } = job.policy
    if (overlap === 'allow') {
      parts.push(...startParts(scope, job, one, now))
      // The job keeps track of an occurrence whose finish decides the next time, also when others overlap it.
      if (isFromFinish(job.schedule)) running = one
    } else if (overlap === 'replace' && due !== start.at(-1)) {
      parts.push(leaveOutPart(job, one, 'a later one takes its place'))
    } else if (!running || overlap === 'replace') {
      if (running) parts.push(...replaceParts(scope, running))
      parts.push(...startParts(scope, job, one, now))
      running = one
    } else if (overlap === 'queueOne' && !waiting) {
      parts.push(openPart(job, one, { cause: 'schedule', state: 'waiting' }))
      waiting = one
    } else parts.push(leaveOutPart(job, one, overlap === 'queueOne' ? 'one waits already' : 'the one before still runs'))
  }
  return { parts, running, waiting }
}
