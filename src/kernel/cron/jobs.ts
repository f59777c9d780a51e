// Jobs as people hold them: set by name, paused, resumed, run by hand, backfilled, and looked at.

import { refuse } from '../../model/errors.ts'
import type { JobRow, JobState, OccurrenceRow, OccurrenceState } from '../../model/job.ts'
import { limits } from '../../model/limits.ts'
import { optionsOf } from '../../model/options.ts'
import { part, plan } from '../execute.ts'
import { checkState, listRows, type Page, type PageOptions } from '../list.ts'
import { checkOpen, type Scope } from '../scope.ts'
import { storeNow } from '../work/now.ts'
import { work } from '../work/work-decider.ts'
import { backfill, runNow } from './by-hand.ts'
import { beginsAfter } from './due.ts'
import { findJob, theJob } from './find-job.ts'
import { clockItem } from './ids.ts'
import { takeInstant } from './instant.ts'
import { job as decider } from './job-decider.ts'
import { pruneOccurrences } from './prune.ts'
import { timesBetween } from './schedule.ts'
import { type JobOptions, setJob, timesOf } from './set-job.ts'

export interface JobListOptions extends PageOptions {
  readonly state?: JobState
}

export interface OccurrenceListOptions extends PageOptions {
  readonly state?: OccurrenceState
}

export interface Cron {
  /** Makes a job, or changes it: the next time is counted from now. The same again changes nothing. */
  set(name: string, options: JobOptions): Promise<JobRow>
  get(name: string): Promise<JobRow | undefined>
  list(options?: JobListOptions): Promise<Page<JobRow>>
  /** Its times from now on, as they would come. */
  preview(name: string, count?: number): Promise<readonly number[]>
  pause(name: string, options?: { readonly reason?: string }): Promise<JobRow>
  /** Goes on with the next time from now; what it would have done meanwhile is not made up for. */
  resume(name: string): Promise<JobRow>
  /** What runs goes on; its history stays. */
  delete(name: string): Promise<void>
  /** One more, now, whatever runs. */
  run(name: string): Promise<OccurrenceRow>
  /** Every time of the period that has not come up before. */
  backfill(
    name: string,
    period: { readonly from: Date | number | string; readonly to: Date | number | string },
  ): Promise<{ readonly offered: number; readonly known: number }>
  /** What came of its times, the latest first. */
  occurrences(name: string, options?: OccurrenceListOptions): Promise<Page<OccurrenceRow>>
  /** Forgets what ended before then, of all jobs. The journal keeps it. */
  prune(options: { readonly before: Date | number }): Promise<{ readonly forgotten: number }>
}

const JOB_STATES: readonly JobState[] = ['active', 'paused', 'over']
const OCCURRENCE_STATES: readonly OccurrenceState[] = ['waiting', 'running', 'done', 'failed', 'cancelled', 'skipped', 'missed']

export function cronOf(scope: Scope): Cron {
  const ready = () => {
    checkOpen(scope.engine)
    scope.engine.scheduler.start()
  }
  return {
    set: async (name, options) => {
      ready()
      return setJob(scope, name, options)
    },
    get: async (name) => (await findJob(scope, name))?.body as unknown as JobRow | undefined,
    list: async (options) => {
      const { state, ...page } = optionsOf(options, 'list')
      checkState(state, JOB_STATES, 'job')
      return listRows<JobRow>(scope, 'jobs', state ? { index: 'byState', equals: [state] } : { index: 'byBorn', equals: [] }, page)
    },
    preview: async (name, count = 10) => {
      if (!Number.isInteger(count) || count < 1 || count > limits.listRows)
        throw refuse('RANGE_INVALID', { why: `ask for 1 to ${limits.listRows} times` })
      const job = await theJob(scope, name)
      const after = Math.max(await storeNow(scope), job.through)
      return timesBetween(job.schedule, after, Number.MAX_SAFE_INTEGER, count)
    },
    pause: (name, options) => pauseJob(scope, name, options),
    resume: async (name) => {
      ready()
      return resumeJob(scope, name)
    },
    delete: async (name) => {
      const { id } = await theJob(scope, name)
      await plan(scope, [part(decider, id, { verb: 'remove', name }), part(work, clockItem(scope, id), { verb: 'complete' })])
    },
    run: async (name) => {
      ready()
      return runNow(scope, name)
    },
    backfill: (name, period) => backfill(scope, name, period),
    occurrences: async (name, options) => {
      const { state, ...page } = optionsOf(options, 'occurrences')
      checkState(state, OCCURRENCE_STATES, 'occurrence')
      const { id } = await theJob(scope, name)
      const query = state ? { index: 'byJobAndState', equals: [id, state] } : { index: 'byJob', equals: [id] }
      return listRows<OccurrenceRow>(scope, 'occurrences', query, page)
    },
    prune: async (options) => {
      checkOpen(scope.engine)
      return pruneOccurrences(scope, takeInstant(optionsOf(options, 'prune').before, 'before'))
    },
  }
}

async function pauseJob(scope: Scope, name: string, options?: { readonly reason?: string }): Promise<JobRow> {
  const { reason = '' } = optionsOf(options, 'pause')
  if (typeof reason !== 'string' || reason.length > limits.reasonChars)
    throw refuse('OPTION_INVALID', { option: 'reason', why: `it is a text of at most ${limits.reasonChars} characters` })
  const { id } = await theJob(scope, name)
  const { rows } = await plan(scope, [
    part(decider, id, { verb: 'pause', name, reason }),
    part(work, clockItem(scope, id), { verb: 'move', at: undefined }),
  ])
  return rows[0]?.body as unknown as JobRow
}

async function resumeJob(scope: Scope, name: string): Promise<JobRow> {
  const job = await theJob(scope, name)
  if (job.state !== 'paused') return job
  const now = await storeNow(scope)
  const times = timesOf(scope, { ...job, through: Math.max(job.through, beginsAfter(job.schedule, now)) }, now)
  const { rows } = await plan(scope, [
    part(decider, job.id, { verb: 'resume', name, times }),
    part(work, clockItem(scope, job.id), { verb: 'move', at: times.at }),
  ])
  scope.engine.scheduler.look()
  return rows[0]?.body as unknown as JobRow
}
