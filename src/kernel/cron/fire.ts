// A job whose time has come: what starts, what is left out and the next time are one commit. With any number of nodes and any clock, an
// occurrence begins at most once, and none is lost: the job and its place in time move together, and only from where they were seen.

import { InkError } from '../../model/errors.ts'
import type { JobId, JobRow, OccurrenceAt } from '../../model/job.ts'
import type { Guard } from '../../ports/commit.ts'
import { type Part, part, plan, readRow } from '../execute.ts'
import type { Scope } from '../scope.ts'
import type { ClockHandler } from '../work/scheduler.ts'
import { work } from '../work/work-decider.ts'
import { type Due, dueTimes } from './due.ts'
import { chanceOf } from './jitter.ts'
import { job as decider } from './job-decider.ts'
import { at, leaveOutPart, openPart, replaceParts, startParts } from './occur.ts'

export const dueOf = (scope: Scope, { id, schedule, policy, through }: JobRow, now: number): Due =>
  dueTimes(schedule, policy, through, now, chanceOf(scope.engine.environment.digest, id))

/** For the scheduler. */
export const fireJob: ClockHandler = async (scope, { id: item, row, revision, now }) => {
  const jobId = row.origin?.id as JobId
  const seen = await readRow(scope, 'jobs', jobId)
  const job = seen.body as unknown as JobRow | undefined
  const guards: readonly Guard[] = [
    { kind: 'row', table: 'work', id: item, revision },
    { kind: 'row', table: 'jobs', id: jobId, revision: seen.revision },
  ]
  // What is seen here is what is written about, or nothing is: both rows are as they were.
  const clock = (at: number | undefined): Part => part(work, item, { verb: 'move', at }, { seen: { body: { ...row }, revision } })
  try {
    if (job?.state !== 'active') {
      await plan(scope, [clock(undefined)], { guards })
      return
    }
    const due = dueOf(scope, job, now)
    const { parts, running, waiting } = happening(scope, job, due, now)
    const over = due.next === undefined && !(job.schedule.kind === 'every' && job.schedule.from === 'finish')
    const { through, next, at } = due
    const times = { through, ...(next !== undefined && { next }), ...(at !== undefined && { at }) }
    if (parts.length === 0) {
      await plan(scope, [clock(at)], { guards })
      return
    }
    const fire = part(decider, jobId, { verb: 'fire', seen: job.through, times, running, waiting, over }, { seen })
    await plan(scope, [fire, clock(at), ...parts], { guards })
    scope.engine.openRuns.offered()
  } catch (error) {
    // Another node was first, or what runs ended just now: whatever is left is looked at again.
    if (!(error instanceof InkError && error.code === 'CONFLICT')) throw error
    scope.engine.scheduler.look()
  }
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
    const error = { name: 'Missed', message: `nobody was there to start ${missed.more ? 'more than ' : ''}${count}` }
    parts.push(openPart(job, at(scope, job, first), { cause: 'schedule', state: 'missed', last, count, error }))
  }
  for (const due of start) {
    const one = at(scope, job, due)
    const { overlap } = job.policy
    if (overlap === 'allow') parts.push(...startParts(scope, job, one, now))
    else if (!running) {
      parts.push(...startParts(scope, job, one, now))
      running = one
    } else if (overlap === 'replace') {
      // One that begins in this very commit has nothing to be cancelled yet.
      if (running.id === job.running?.id) {
        parts.push(...replaceParts(scope, running), ...startParts(scope, job, one, now))
        running = one
      } else parts.push(leaveOutPart(job, one, 'another of the same moment begins'))
    } else if (overlap === 'queueOne' && !waiting) {
      parts.push(openPart(job, one, { cause: 'schedule', state: 'waiting' }))
      waiting = one
    } else parts.push(leaveOutPart(job, one, overlap === 'queueOne' ? 'one waits already' : 'the one before still runs'))
  }
  return { parts, running, waiting }
}
