// Pauses, resumes and deletes a job, in one commit with the work item by which the scheduler finds it.

import { refuse } from '../../../model/errors.ts'
import type { JobRow } from '../../../model/job.ts'
import { limits } from '../../../model/limits.ts'
import { checkKnown, invalidOption, optionsOf, quoted } from '../../../model/options.ts'
import { storeNow } from '../../time/store-time.ts'
import type { Scope } from '../../wiring/scope.ts'
import { type Part, part, plan } from '../../writing/execute.ts'
import { retryConflicts } from '../../writing/retry-conflicts.ts'
import { schedulerOf } from '../work/scheduler.ts'
import { work } from '../work/work-decider.ts'
import { beginsAfter } from './due.ts'
import { findJob } from './find-job.ts'
import { clockItem } from './ids.ts'
import { job as decider, type JobCommand } from './job-decider.ts'
import { occurrence } from './occurrence-decider.ts'
import { timesOf } from './set-job.ts'

export async function pauseJob(scope: Scope, name: string, options?: { readonly reason?: string }): Promise<JobRow> {
  const { reason = '', ...unknown } = optionsOf(options, 'pause')
  checkKnown(unknown, 'pause')
  if (typeof reason !== 'string' || reason.length > limits.reasonChars)
    throw invalidOption('reason', `a text of at most ${limits.reasonChars} characters`)
  return changeJob(scope, name, async (job) =>
    job.state === 'active'
      ? { command: { verb: 'pause', name, reason }, parts: [part(work, clockItem(scope, job.id), { verb: 'move', at: undefined })] }
      : undefined,
  )
}

export async function resumeJob(scope: Scope, name: string): Promise<JobRow> {
  const resumed = await changeJob(scope, name, async (job) => {
    if (job.state !== 'paused') return undefined
    const now = await storeNow(scope)
    // Times that came up while the job was paused are not made up for, also when there is only one.
    const begin = job.schedule.kind === 'at' ? now : beginsAfter(job.schedule, now)
    const times = timesOf(scope, { ...job, through: Math.max(job.through, begin) }, now)
    const over = job.schedule.kind === 'at' && times.next === undefined
    return { command: { verb: 'resume', name, times, over }, parts: [part(work, clockItem(scope, job.id), { verb: 'move', at: times.at })] }
  })
  schedulerOf(scope.engine).look()
  return resumed
}

export async function deleteJob(scope: Scope, name: string): Promise<void> {
  const error = { name: 'Deleted', message: 'the job was deleted before it began' }
  await changeJob(scope, name, async ({ id, waiting }) => ({
    command: { verb: 'remove', name },
    parts: [
      part(work, clockItem(scope, id), { verb: 'complete' }),
      ...(waiting ? [part(occurrence, waiting.id, { verb: 'finish', state: 'skipped', error })] : []),
    ],
  }))
}

interface Changing {
  readonly command: JobCommand
  readonly parts: readonly Part[]
}

/** Changes the job as it was read, or reads it again: its clock is never moved for another version of the job. */
const changeJob = (scope: Scope, name: string, change: (job: JobRow) => Promise<Changing | undefined>): Promise<JobRow> =>
  retryConflicts(scope, ['jobs', 'work', 'occurrences'], async () => {
    const seen = await findJob(scope, name)
    if (!seen) throw refuse('JOB_UNKNOWN', { name: quoted(name).slice(0, 80) })
    const job = seen.body
    const changing = await change(job)
    if (!changing) return job
    const guards = [{ kind: 'row', table: 'jobs', id: job.id, revision: seen.revision }] as const
    const { rows } = await plan(scope, [part(decider, job.id, changing.command, { seen }), ...changing.parts], { guards })
    return rows[0].body ?? job
  })
